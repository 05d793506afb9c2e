"""Arithmetic on eight bytes at a time gives what a look at each byte gives."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as some
from numba import njit

from pagekin.hypertext._kernels import attributes, markup, wide
from pagekin.hypertext._kernels.borrow import borrow, load

LETTERS_AND_DIGITS = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
B_EIGHT_TIMES, R_EIGHT_TIMES = wide.eight_times(ord("b")), wide.eight_times(ord("r"))
NAME_ENDS = b"\t\n\f\r />="
# Bytes on both sides of every border that the arithmetic draws, more often than others.
borders = some.sampled_from(
    b"\0\x08\t\n\x0b\x0c\r\x0e\x1f !\"#%&'./09:;<=>?@AZ[`az{\x7f\x80\xa0\xaf\xbd\xbe\xc1\xe1\xff"
)
sixteen = some.lists(borders | some.integers(0, 255), min_size=17, max_size=17).map(bytes)


@njit
def word_run(data):
    return wide.word_run(borrow(data), 0)


@njit
def lowered(data):
    return wide.to_lower(load(borrow(data), 0))


@njit
def flag_br(data):
    return wide.flag_pairs(borrow(data), 0, B_EIGHT_TIMES, R_EIGHT_TIMES)


@njit
def in_address(data):
    return wide.find_in_address(borrow(data), 0)


@njit
def copied(data, out):
    wide.copy(borrow(data), 0, borrow(out), 0)


@njit
def name_end(data):
    return attributes.name_end(borrow(data), 0, 17)


@njit
def find_byte(data, byte):
    return markup.find_byte(borrow(data), 0, 17, byte)


def array(data: bytes) -> np.ndarray:
    return np.frombuffer(data + bytes(32), dtype=np.uint8).copy()


@given(sixteen)
def test_a_run_of_letters_and_digits_ends_where_the_first_other_byte_stands(data: bytes) -> None:
    run = next((i for i, byte in enumerate(data[:16]) if byte not in LETTERS_AND_DIGITS), 16)
    count, low, high = word_run(array(data))
    assert count == run
    assert (int(low).to_bytes(8, "little") + int(high).to_bytes(8, "little"))[:run] == data[:run].lower()


@given(sixteen)
def test_eight_bytes_are_lowered_as_python_does(data: bytes) -> None:
    assert int(lowered(array(data))).to_bytes(8, "little") == data[:8].lower()


@given(sixteen)
def test_a_name_ends_at_the_first_byte_that_ends_names_but_never_at_its_first(data: bytes) -> None:
    end = next((i for i in range(1, 17) if data[i] in NAME_ENDS), 17)
    assert name_end(array(data)) == end


@given(sixteen)
def test_the_first_special_byte_of_an_address_is_found(data: bytes) -> None:
    assert in_address(array(data)) == next((i for i in range(8) if data[i] in b"&#"), 8)


@given(sixteen, borders)
def test_a_byte_is_found_where_it_stands_first(data: bytes, byte: int) -> None:
    place = data.find(byte)
    assert find_byte(array(data), np.uint8(byte)) == (place if place >= 0 else 17)


@given(some.lists(some.sampled_from(b"bBrR\x82\x92ca"), min_size=17, max_size=17).map(bytes))
def test_no_pair_of_b_and_r_is_missed(data: bytes) -> None:
    flags = int(flag_br(array(data)))
    for i in range(8):
        if data[i : i + 2].lower() == b"br":
            assert flags >> (8 * i + 7) & 1


@given(sixteen)
def test_sixteen_bytes_are_copied(data: bytes) -> None:
    out = np.zeros(24, dtype=np.uint8)
    copied(array(data), out)
    assert out.tobytes() == data[:16] + bytes(8)
