"""Lists of what is left out for good: addresses in any spelling, hosts with their subdomains, clear errors."""

from pathlib import Path

import pytest

from pagekin.hypertext import NO_OPT_OUTS, OptOutError, OptOuts
from pagekin.store import RaggedBytes, pack_strings


def test_addresses_have_one_form_and_hosts_no_port() -> None:
    opt_outs = OptOuts.of(["HTTP://A.example:80/x/../y#top", "B.Example.", "b.example:8080", "[::1]"])
    assert opt_outs.as_list() == ["http://a.example/y", "[::1]", "b.example"]
    assert OptOuts.of(opt_outs.as_list()) == opt_outs
    assert not NO_OPT_OUTS


@pytest.mark.parametrize(
    ("address", "left_out"),
    [
        ("http://a.example/y", True),
        ("https://a.example/y", False),
        ("http://a.example/", False),
        ("https://b.example/any?x=1", True),
        ("http://www.b.example:8080/", True),
        ("http://me:pass@b.example/", True),
        ("http://notb.example/", False),
        ("http://b.example.org/", False),
    ],
)
def test_an_address_is_left_out_by_itself_or_with_its_host(address: str, left_out: bool) -> None:
    opt_outs = OptOuts.of(["http://a.example/y", "b.example"])
    assert (address in opt_outs) == left_out
    table = RaggedBytes(*pack_strings(sorted([address.encode(), b"http://z.example/"])))
    marked = opt_outs.mark(table)
    assert [table.text(place) for place in range(2) if marked[place]] == [address] * left_out


def test_a_file_has_an_entry_a_line_and_remarks(tmp_path: Path) -> None:
    file = tmp_path / "list.txt"
    file.write_text("# asked by mail\n\nhttp://a.example/#frag  # a page\n  b.example\n", encoding="utf-8")
    assert OptOuts.load(file).as_list() == ["http://a.example/", "b.example"]


@pytest.mark.parametrize("entry", ["ftp://a.example/", "a.example/page", "two words", "http://", "@", "user@host"])
def test_what_is_neither_an_address_nor_a_host_is_refused_with_its_line(entry: str, tmp_path: Path) -> None:
    file = tmp_path / "list.txt"
    file.write_text(f"good.example\n{entry}\n", encoding="utf-8")
    with pytest.raises(OptOutError, match=r"list\.txt, line 2: '.*' is n"):
        OptOuts.load(file)
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(OptOutError, match="not UTF-8"):
        OptOuts.load(file)
    with pytest.raises(OptOutError, match="cannot be read"):
        OptOuts.load(tmp_path / "missing.txt")
