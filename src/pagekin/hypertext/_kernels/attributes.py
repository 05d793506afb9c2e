"""Read the attributes of a tag (WHATWG tokenisation)."""

from pagekin.hypertext._kernels import markup as m
from pagekin.hypertext._kernels import slots as s
from pagekin.hypertext._kernels import wide
from pagekin.hypertext._kernels.borrow import load
from pagekin.hypertext._kernels.intern import find_name
from pagekin.store import kernel


@kernel
def read_attributes(html, pos, end, wanted, names, st):
    """Return the position after the tag's `>`, or -1 if the input ends first; values of interest go to `st`."""
    st[s.CRUMBS] = 0
    if wanted:
        for i in range(s.FOUND, s.CRUMBS):
            st[i] = -1
    while True:
        while pos < end and (m.is_space(html[pos]) or html[pos] == 47):
            pos += 1
        if pos >= end:
            return -1
        if html[pos] == 62:
            return pos + 1
        name = pos
        pos = name_end(html, pos, end)
        length = pos - name
        pos = m.after_spaces(html, pos, end)
        if pos >= end:
            return -1
        value, value_end = pos, pos
        if html[pos] == 61:
            value, value_end, pos = read_value(html, pos + 1, end)
            if pos < 0:
                return -1
        note_attribute(html, name, length, value, value_end, wanted, names, st)


@kernel
def name_end(html, pos, end):
    """Return where the attribute's name that begins at html[pos] ends: its first byte belongs to it, whatever it is."""
    flags = wide.flag_name_ends(load(html, pos))
    after = pos + wide.first_flag(flags)
    if flags == 0:
        after += wide.first_flag(wide.flag_name_ends(load(html, pos + 8)))
    if after == pos or not (html[after] == 61 or m.ends_name(html[after])):
        after = max(after, pos + 1)
        while after < end and html[after] != 61 and not m.ends_name(html[after]):
            after += 1
    return after


@kernel
def read_value(html, pos, end):
    """Return (start, end, position after) of the value that stands after the `=` before html[pos]; after is -1 without end."""
    pos = m.after_spaces(html, pos, end)
    if pos >= end:
        return pos, pos, -1
    quote = html[pos]
    if quote == 34 or quote == 39:
        value = pos + 1
        value_end = m.find_byte(html, value, end, quote)
        return value, value_end, value_end + 1 if value_end < end else -1
    value = pos
    while pos < end and (html[pos] > 62 or (html[pos] != 62 and not m.is_space(html[pos]))):
        pos += 1
    return value, pos, pos


@kernel
def note_attribute(html, name, length, value, value_end, wanted, names, st):
    """Keep the place html[value:value_end] of an attribute's value in `st`, if it is of interest and the first one."""
    if length > 10:
        return
    slot = find_name(length, wide.to_lower(load(html, name)), wide.to_lower(load(html, name + 8)), names)
    if slot == s.IN_CLASS or slot == s.IN_ITEMTYPE:
        if m.holds(html, value, value_end, b"breadcrumb" if slot == s.IN_CLASS else b"breadcrumblist"):
            st[s.CRUMBS] = 1
    elif wanted and slot > 0 and (st[slot] < 0 or (slot == s.LANG and st[slot] == st[slot + 1])):
        st[slot], st[slot + 1] = value, value_end


@kernel
def refresh_target(html, pos, end):
    """Return (start, end) of the address in a refresh declaration's content; start -1 if there is none."""
    pos = m.after_spaces(html, pos, end)
    while pos < end and (48 <= html[pos] <= 57 or html[pos] == 46):
        pos += 1
    pos = m.after_spaces(html, pos, end)
    if pos == end:
        return -1, -1
    if html[pos] == 59 or html[pos] == 44:
        pos = m.after_spaces(html, pos + 1, end)
    if pos + 3 <= end and m.same_word(html, pos, pos + 3, b"url"):
        equals = m.after_spaces(html, pos + 3, end)
        if equals < end and html[equals] == 61:
            pos = m.after_spaces(html, equals + 1, end)
    if pos < end and (html[pos] == 34 or html[pos] == 39):
        end = m.find_byte(html, pos + 1, end, html[pos])
        pos += 1
    pos, end = m.strip(html, pos, end)
    return (pos, end) if pos < end else (-1, -1)
