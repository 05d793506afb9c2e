"""The Sphinx extension: `extensions = ["pagekin.sphinx"]` in conf.py adds related pages and search to HTML builds.

It runs `pagekin site` on the output when a build has finished. Settings come from `pagekin-site.toml` beside conf.py, if there
is one, and from `pagekin_…` values in conf.py; `html_baseurl` is the address.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagekin import __version__
from pagekin.errors import PagekinError
from pagekin.site import SETTINGS_FILE, SitePlan, publish_site, read_settings, settings_from

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_BUILDERS = ("html", "dirhtml")


def publish(app: "Sphinx", exception: Exception | None) -> None:
    """Write related pages and search into a finished HTML build."""
    from sphinx.util import logging

    if exception is not None or app.builder.name not in _BUILDERS or not app.config.pagekin_enabled:
        return
    logger = logging.getLogger(__name__)
    try:
        file = Path(app.confdir or ".") / SETTINGS_FILE
        known: dict[str, Any] = {"base_url": app.config.html_baseurl or None, "count": app.config.pagekin_count}
        settings = settings_from(read_settings(file) if file.is_file() else None, **known)
        kin = app.config.pagekin_collection
        place = Path(app.confdir or ".") / kin if kin else None
        report = publish_site(SitePlan(Path(app.outdir), settings, place, app.config.pagekin_workers), note=logger.info)
    except PagekinError as error:
        logger.warning("pagekin: %s", error)
        return
    logger.info("pagekin: %d related pages on %d pages", report.links, report.marked)


def setup(app: "Sphinx") -> dict[str, Any]:
    """Register the extension, as Sphinx asks for."""
    app.add_config_value("pagekin_enabled", True, "", bool)
    app.add_config_value("pagekin_count", None, "")
    app.add_config_value("pagekin_collection", "", "", str)
    app.add_config_value("pagekin_workers", 0, "", int)
    app.connect("build-finished", publish)
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}
