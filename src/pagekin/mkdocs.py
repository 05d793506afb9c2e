"""The MkDocs plugin: `plugins: [search, pagekin]` in mkdocs.yml adds related pages and search to builds.

It runs `pagekin site` on the output. Settings come from `pagekin-site.toml` beside mkdocs.yml, if there is one, and from the
plugin's options; `site_url` is the address.
"""

import logging
from pathlib import Path
from typing import Any

from mkdocs.config import config_options
from mkdocs.config.base import Config
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin

from pagekin.cli.app import log_progress
from pagekin.errors import PagekinError
from pagekin.site import SETTINGS_FILE, SitePlan, publish_site, read_settings, settings_from

_LOG = logging.getLogger("mkdocs.plugins.pagekin")


class PagekinOptions(Config):
    """The options of the plugin in mkdocs.yml."""

    enabled = config_options.Type(bool, default=True)
    count = config_options.Optional(config_options.Type(int))
    collection = config_options.Type(str, default="")
    workers = config_options.Type(int, default=0)


class PagekinPlugin(BasePlugin[PagekinOptions]):
    """Adds related pages and search to a finished build, but not to the preview of `mkdocs serve`."""

    _previews = False

    def on_startup(self, *, command: str, dirty: bool) -> None:
        """Note whether the site is only previewed."""
        self._previews = command == "serve"

    def on_post_build(self, *, config: Any) -> None:
        """Write related pages and search into the site."""
        if self._previews or not self.config.enabled:
            return
        try:
            home = Path(config.config_file_path or "mkdocs.yml").parent
            file, place = home / SETTINGS_FILE, home / self.config.collection if self.config.collection else None
            known = {"base_url": config.site_url or None, "count": self.config.count}
            settings = settings_from(read_settings(file) if file.is_file() else None, **known)
            plan = SitePlan(Path(config.site_dir), settings, place, self.config.workers)
            with log_progress(_LOG.info) as progress:
                report = publish_site(plan, progress, _LOG.info)
        except PagekinError as error:
            raise PluginError(f"pagekin: {error}") from None
        _LOG.info("%d related pages on %d pages", report.links, report.linked)
