"""Tell whether the full-text index of a collection can be used."""

from pagekin.hypertext import WORD_ARRAYS, page_count
from pagekin.store import Kin
from pagekin.text.analysis import ANALYSER


def unfit_reason(kin: Kin) -> str:
    """Return why the collection's text index cannot be used, or an empty string; O(1)."""
    facts = kin.facts.get("text")
    if not facts or "posting.offsets" not in kin:
        return "has no full-text index"
    if facts.get("analyser") != ANALYSER:
        return f"has a full-text index of the analyser '{facts.get('analyser')}', and this Pagekin asks by '{ANALYSER}'"
    files = kin.manifest["files"]
    if facts.get("pages") != page_count(kin) or any(
        facts.get("corpus", {}).get(name) != files[name]["checksum"] for name in WORD_ARRAYS if name in files
    ):
        return "has a full-text index that was made of other pages"
    return ""


def is_outdated(kin: Kin) -> bool:
    """Return whether the text index is of an earlier version, without positions, bounds or openings."""
    return any(f"posting.{name}" not in kin for name in ("where", "bound_form", "opening_page"))
