"""A manual that was published once, for tests that only look at it."""

from pathlib import Path

import pytest

from pagekin.site import SitePlan, SiteReport, publish_site
from tests.site.manuals import write_manual


@pytest.fixture(scope="package")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, SiteReport]:
    """(the folder of a published manual, its collection, the report); not to be changed."""
    where = tmp_path_factory.mktemp("published")
    folder = write_manual(where / "public")
    plan = SitePlan(folder, collection=where / "manual.kin", workers=1)
    return folder, plan.kin, publish_site(plan)
