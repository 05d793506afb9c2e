"""Numbers and hints as people write them."""

from pathlib import Path

import pytest

from pagekin.wording import did_you_mean, format_measure, missing_file, plural


@pytest.mark.parametrize(
    ("value", "sign", "written"),
    [
        (0.7481, "", "0.748"),
        (0.7481, "+", "+0.748"),
        (-0.0004, "+", "-0.0004"),  # an interval that ends here leaves out 0
        (0.00004, "", "0.00004"),
        (1e-12, "+", "+0.000"),
        (-1e-12, "", "0.000"),
        (0.0, "+", "+0.000"),
        (float("nan"), "", "nan"),
    ],
)
def test_what_is_not_0_does_not_read_as_0(value: float, sign: str, written: str) -> None:
    assert format_measure(value, sign) == written


def test_one_is_not_several() -> None:
    assert [plural(count, "page") for count in (0, 1, 1_000)] == ["0 pages", "1 page", "1,000 pages"]
    assert plural(2, "class", "classes") == "2 classes"


def test_a_misspelt_name_gets_a_hint_if_one_is_like_it(tmp_path: Path) -> None:
    assert did_you_mean("url-pth", ("url-path", "breadcrumbs")) == "; did you mean url-path?"
    assert did_you_mean("directory.tsv", ("url-path", "breadcrumbs")) == ""
    (tmp_path / "crawl-example.warc.gz").touch()
    said = missing_file(str(tmp_path / "crawl-exmple.warc.gz"))
    assert said == f"{tmp_path}/crawl-exmple.warc.gz does not exist. Did you mean {tmp_path}/crawl-example.warc.gz?"
    for missing in (tmp_path / "other.txt", tmp_path / "nowhere" / "crawl-example.warc.gz"):
        assert missing_file(str(missing)) == f"{missing} does not exist."
