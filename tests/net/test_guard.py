"""The address guard: public addresses only, however an address is spelled."""

import ipaddress
import pickle
import random

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.net import Guard, parse_allowed
from pagekin.net.guard import NAMED_RANGES, NEVER, SPECIAL

PUBLIC = ["8.8.8.8", "1.1.1.1", "93.184.216.34", "2001:4860:4860::8888", "2606:2800:220:1::1", "64:ff9b::808:808",
          "::ffff:8.8.8.8", "2002:808:808::1"]  # fmt: skip
LOOPBACK = ["127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "2002:7f00:1::", "::7f00:1",
            "64:ff9b::127.0.0.1", "2001:4860::5efe:7f00:1", "2001:4860::200:5efe:7f00:1"]  # fmt: skip
PRIVATE = ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fd12:3456::1", "fc00::1", "::ffff:10.0.0.1",
           "2002:a00:1::", "64:ff9b::10.0.0.1"]  # fmt: skip
FORBIDDEN = ["169.254.169.254", "169.254.0.1", "fe80::1", "fe80::1%eth0", "fd00:ec2::254", "100.100.100.200",
             "168.63.129.16", "192.0.0.192", "fd20:ce::254", "0.0.0.0", "0.1.2.3", "::", "255.255.255.255", "224.0.0.1",
             "ff02::1", "::ffff:169.254.169.254", "2002:a9fe:a9fe::", "64:ff9b::a9fe:a9fe", "::a9fe:a9fe",
             "2001:4860::5efe:a9fe:a9fe"]  # fmt: skip
OTHERS = ["100.64.0.1", "192.0.2.1", "198.51.100.1", "203.0.113.9", "198.18.0.1", "240.0.0.1", "192.0.0.8", "2001:db8::1",
          "2001::1", "100::1", "4000::1", "64:ff9b:1::808:808", "5f00::1", "3fff::1"]  # fmt: skip
EVERYTHING = Guard(parse_allowed(["0.0.0.0/0", "::/0"]))


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_pass(address: str) -> None:
    assert Guard().check(address) == ""


@pytest.mark.parametrize("address", LOOPBACK + PRIVATE + FORBIDDEN + OTHERS)
def test_other_addresses_do_not_and_the_reason_names_them(address: str) -> None:
    reason = Guard().check(address)
    assert reason.startswith(address)
    assert " is a" in reason


@pytest.mark.parametrize(
    ("word", "addresses", "others"), [("loopback", LOOPBACK, PRIVATE), ("private", PRIVATE, LOOPBACK)]
)
def test_a_word_allows_its_addresses_and_no_others(word: str, addresses: list[str], others: list[str]) -> None:
    guard = Guard(parse_allowed([word]))
    assert [address for address in addresses if guard.check(address)] == []
    assert [address for address in [*others, *OTHERS] if not guard.check(address)] == []


@pytest.mark.parametrize("address", FORBIDDEN)
def test_forbidden_addresses_stay_forbidden_whatever_is_allowed(address: str) -> None:
    assert "never allowed" in EVERYTHING.check(address)


def test_a_range_allows_itself_alone() -> None:
    guard = Guard(parse_allowed(["10.1.0.0/16", "192.168.7.7", "fd12::/16"]))
    for address in ("10.1.2.3", "192.168.7.7", "fd12::5", "::ffff:10.1.0.1"):
        assert guard.check(address) == ""
    for address in ("10.2.0.1", "192.168.7.8", "fd13::5", "127.0.0.1", "::ffff:10.2.0.1"):
        assert guard.check(address)


@pytest.mark.parametrize(
    "text", ["", "localhost", "0x7f.1", "2130706433", "127.1", "127.0.0.1 ", "1.2.3.4.5", "[::1]", "::1::"]
)
def test_what_is_no_plain_address_does_not_pass(text: str) -> None:
    assert "not an IP address" in EVERYTHING.check(text)


@pytest.mark.parametrize("host", [
    "127.0.0.1", "0x7f.1", "2130706433", "0177.0.0.1", "127.1", "127.0.0.1.", "0x7f000001", "%31%32%37.0.0.1", "[::1]",
    "[::ffff:127.0.0.1]", "[0:0:0:0:0:ffff:7f00:0001]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "１２７.0.0.1", "localhost",
    "LOCALHOST.", "a.localhost", "user@127.0.0.1", "user:pass@0x7f.1:8080",
])  # fmt: skip
def test_every_spelling_of_a_loopback_url_is_seen_through(host: str) -> None:
    for scheme in ("http", "HTTPS"):
        assert "loopback" in Guard().check_url(f"{scheme}://{host}/a")
        assert Guard(parse_allowed(["loopback"])).check_url(f"{scheme}://{host}/a") == ""


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/latest/", "http://0xa9fea9fe/", "http://[fd00:ec2::254]/", "http://2852039166/"]
)
def test_metadata_urls_are_never_allowed(url: str) -> None:
    assert "never allowed" in EVERYTHING.check_url(url)


@pytest.mark.parametrize(
    "url", ["ftp://a.example/", "file:///etc/passwd", "gopher://a/", "", "a.example", "http://", "http://1.2.3.4.5/"]
)
def test_what_is_no_http_url_is_refused(url: str) -> None:
    assert EVERYTHING.check_url(url)


@pytest.mark.parametrize(
    "url", ["http://docs.example/", "https://8.8.8.8/", "http://[2606:4700::1111]:8080/x", "http://localhost.example/"]
)
def test_names_and_public_addresses_in_urls_pass(url: str) -> None:
    assert Guard().check_url(url) == ""


def edges(network: ipaddress.IPv4Network) -> list[ipaddress.IPv4Address]:
    """Return the first and last address of a network and their neighbours outside."""
    first, last = int(network[0]), int(network[-1])
    return [ipaddress.IPv4Address(n) for n in (first - 1, first, last, last + 1) if 0 <= n < 2**32]


def test_the_tables_agree_with_the_registry_that_python_carries() -> None:
    """Whatever Python calls not global is refused; more than that only for a reason of our own."""
    ours = [ipaddress.ip_network(n) for n in ("224.0.0.0/4", "168.63.129.16/32", "192.0.0.0/24", "192.88.99.0/24")]
    numbers = random.Random(9)
    chosen = [ipaddress.IPv4Address(numbers.getrandbits(32)) for _ in range(20_000)]
    for network, _kind in (*SPECIAL, *NEVER):
        chosen += edges(network) if isinstance(network, ipaddress.IPv4Network) else []
    for address in chosen:
        refused = bool(Guard().check(str(address)))
        assert refused == (not address.is_global or any(address in network for network in ours)), address


@given(st.ip_addresses(v=4), st.sampled_from(["::ffff:{}", "64:ff9b::{}", "2002:{hex}::", "2001:4860::5efe:{}"]))
def test_an_address_inside_another_is_judged_as_itself(inner: ipaddress.IPv4Address, wrapped: str) -> None:
    number = int(inner)
    outer = wrapped.format(inner, hex=f"{number >> 16:x}:{number & 0xFFFF:x}")
    for guard in (Guard(), Guard(parse_allowed(["private"]))):
        assert bool(guard.check(outer)) == bool(guard.check(str(inner)))


@given(st.ip_addresses(v=4), st.integers(0, 3))
def test_numbers_as_hosts_are_judged_as_the_address_that_browsers_make_of_them(
    address: ipaddress.IPv4Address, form: int
) -> None:
    number = int(address)
    host = (str(number), hex(number), f"0x{number >> 24:x}.{number & 0xFFFFFF}", "0" + oct(number)[2:])[form]
    assert ada_url.URL(f"http://{host}/").hostname == str(address)
    assert Guard().check_url(f"http://{host}/") == Guard().check(str(address))


@pytest.mark.parametrize(("setting", "said"), [
    ("10.0.0.1/8", "bits are set"), ("loop", "loopback, private"), ("", "not a range"), ("10.0.0.0/33", "not a range"),
    ("169.254.169.254", "never allowed"), ("169.254.0.0/16", "never allowed"), ("fe80::/64", "never allowed"),
    ("100.100.100.200/32", "never allowed"),
])  # fmt: skip
def test_a_wrong_allowance_says_what_to_write(setting: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_allowed([setting])


def test_allowances_are_words_in_any_case_addresses_and_ranges() -> None:
    assert parse_allowed(["LOOPBACK", "10.0.0.0/8", "[::1]"]) == (
        *NAMED_RANGES["loopback"], ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("::1/128"),
    )  # fmt: skip


def test_a_guard_is_a_value() -> None:
    guard = Guard(parse_allowed(["private"]))
    assert pickle.loads(pickle.dumps(guard)) == guard
    assert hash(guard) == hash(Guard(parse_allowed(["private"])))
