"""What other rooms may import of this one; each name is loaded when it is first used."""

from .from_archive import ArchivePlan, ArchiveReport, check_out, publish_archive
from .publishing import SiteReport, UndoReport, publish_site, undo_site
from .settings import SETTINGS_FILE, SiteError, SitePlan, SiteSettings, read_settings, settings_from
from .survey import GENERATORS, Survey, survey_folder

__all__ = [
    "GENERATORS",
    "SETTINGS_FILE",
    "ArchivePlan",
    "ArchiveReport",
    "SiteError",
    "SitePlan",
    "SiteReport",
    "SiteSettings",
    "Survey",
    "UndoReport",
    "check_out",
    "publish_archive",
    "publish_site",
    "read_settings",
    "settings_from",
    "survey_folder",
    "undo_site",
]
