"""The limits and how they are set."""

from dataclasses import fields

import pytest

from pagekin.sources import Limits, parse_limits


def test_every_limit_is_explained() -> None:
    assert all(field.metadata["meaning"] for field in fields(Limits))


def test_without_settings_the_defaults_hold() -> None:
    assert parse_limits(Limits, []) == Limits()


def test_settings_change_what_they_name_and_nothing_else() -> None:
    assert parse_limits(Limits, ["tokens=1_000", "page_bytes=2,000,000"]) == Limits(tokens=1_000, page_bytes=2_000_000)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("words=5", "'words=5' is not a limit"),
        ("tokens", "'tokens' is not a limit"),
        ("", "'' is not a limit"),
        ("tokens=many", "takes a whole number, not 'many'"),
        ("tokens=", "takes a whole number, not ''"),
        ("tokens=1e6", "takes a whole number"),
        ("ratio=1", "must be from 2 to"),
        ("page_bytes=-1", "must be from 1,000 to 1,073,741,824, not -1"),
        ("nesting=99999999", "must be from 16 to 4,000"),
    ],
)
def test_what_is_no_limit_is_refused_with_what_is_allowed(setting: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_limits(Limits, [setting])


def test_the_message_about_an_unknown_limit_lists_all_of_them() -> None:
    with pytest.raises(ValueError, match="is not a limit") as refused:
        parse_limits(Limits, ["speed=9"])
    assert all(field.name in str(refused.value) for field in fields(Limits))
