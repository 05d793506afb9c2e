"""Numbers as people write them."""

import pytest

from pagekin.wording import format_measure, plural


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
