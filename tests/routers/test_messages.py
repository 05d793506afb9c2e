"""What travels between routers: numbers that would do harm further up are refused where they come in."""

import msgspec
import pytest

from pagekin.collection import Answer, AskedNode, Hit, Refinements


@pytest.mark.parametrize("seconds", ["1e308", "1e7", "-1", '"1"'])
@pytest.mark.parametrize("kind", [Answer, AskedNode, Refinements])
def test_times_are_times(kind: type, seconds: str) -> None:
    path = '"path":["a"],' if kind is AskedNode else ""
    assert msgspec.json.decode(f'{{{path}"seconds":1.5}}', type=kind).seconds == 1.5
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(f'{{{path}"seconds":{seconds}}}', type=kind)


@pytest.mark.parametrize("date", ["253402300800", "9007199254740992", "-1", "0.5"])
def test_dates_are_dates(date: str) -> None:
    page = '{"kind":"document","url":"http://a.example/","date":%s}'
    assert msgspec.json.decode(page % "253402300799", type=Hit).date == 253_402_300_799
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(page % date, type=Hit)
