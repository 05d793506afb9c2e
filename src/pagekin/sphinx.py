"""The Sphinx extension: `extensions = ["pagekin.sphinx"]` in conf.py adds related pages and search to HTML builds.

It runs `pagekin site` on the output when a build has finished. Settings come from `pagekin-site.toml` beside conf.py, if there
is one, and from `pagekin_…` values in conf.py; `html_baseurl` is the address.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagekin import __version__
from pagekin.cli.app import log_progress
from pagekin.errors import PagekinError
from pagekin.site import SETTINGS_FILE, SiteError, SitePlan, publish_site, read_settings, settings_from, undo_site

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_BUILDERS = ("html", "dirhtml")


def publish(app: "Sphinx", exception: Exception | None) -> None:
    """Write related pages and search into a finished HTML build; if switched off, remove those of earlier builds."""
    from sphinx.util import logging

    if exception is not None or app.builder.name not in _BUILDERS:
        return
    logger = logging.getLogger(__name__)
    home, kin = Path(app.confdir or "."), app.config.pagekin_collection
    plan = SitePlan(Path(app.outdir), collection=home / kin if kin else None, workers=app.config.pagekin_workers)
    try:
        if not app.config.pagekin_enabled:
            if any(undone := undo_site(plan)):
                logger.info("pagekin: switched off, %d pages are as before", undone.pages)
            return
        file = home / SETTINGS_FILE
        known: dict[str, Any] = {"base_url": app.config.html_baseurl or None, "count": _read_count(app)}
        settings = settings_from(read_settings(file) if file.is_file() else None, **known)
        with log_progress(logger.info) as progress:
            report = publish_site(replace(plan, settings=settings), progress, logger.info)
    except PagekinError as error:
        logger.warning("pagekin: %s", error)
        return
    logger.info("pagekin: %d related pages on %d pages", report.links, report.linked)


def _read_count(app: "Sphinx") -> int | None:
    """Return `pagekin_count` as a number: `-D pagekin_count=2` gives it as text."""
    count = app.config.pagekin_count
    try:
        return None if count is None else int(count)
    except (TypeError, ValueError):
        raise SiteError(f"pagekin_count is a number of related pages, not {count!r}.") from None


def setup(app: "Sphinx") -> dict[str, Any]:
    """Register the extension, as Sphinx asks for."""
    app.add_config_value("pagekin_enabled", True, "", bool)
    app.add_config_value("pagekin_count", None, "")
    app.add_config_value("pagekin_collection", "", "", str)
    app.add_config_value("pagekin_workers", 0, "", int)
    app.connect("build-finished", publish)
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}
