"""Fragments of one URL, its own words and the windows of the links to it, merged into one bag."""

from numba import njit, uint64

from pagekin.bags._kernels.keep import IN_CRUMBS

FROM_CONTENT, FROM_ANCHORS, FROM_TITLE, FROM_LINKS, FROM_OUTLINKS = 1, 2, 4, 8, 16


@njit(cache=True, nogil=True, inline="always")
def _add(term, weight, origin, weights, origins, touched, count):
    if origins[term] == 0:
        touched[count] = term
        count += 1
    origins[term] |= origin
    weights[term] += weight
    return count


@njit(cache=True, nogil=True)
def merge_bags(
    first, last, inlinks, anchors, page_of_url, url_site, page_url, page_host, page_site, citing, anchor_page,
    first_anchor, targets, targets_from, spans, kept, kept_from, titles, stems, links_end, content, lead, title, link,
    outlink, near, once, within_site, weights, origins, touched, seen, used, out_terms, out_weights, out_origins, out_ends,
    out_inlinks,
):  # fmt: skip
    """Write the bags of URLs `first` to `last`; give the first URL that did not fit, and how many terms were written.

    `inlinks` are offsets (from URL `first`) in `anchors`, the anchors that lead to each URL, in page order. Page p's own
    anchors begin at `first_anchor[p]`, and anchor a leads to `targets[a - targets_from]`. `near[d]` is the weight of a
    window word at distance d from its link, `lead[n]` the weight of what stands after n words of a page. Terms are words,
    from `stems` on citing pages, from `links_end` on linked addresses. `weights`, `origins` (zero before and after) and
    `touched` have room for every term; `seen` (zero) is a hash table of 2^k places and `used` a list as long. Terms come
    in the order of their first touch: content, title, outlinks, links. Cost: one random access per word of page and
    windows.
    """
    n = 0
    mask = uint64(len(seen) - 1)
    for url in range(first, last):
        count = 0
        page = page_of_url[url - first]
        if page >= 0:
            begin, end = kept_from[page], kept_from[page + 1] - titles[page]
            if content > 0:
                for i in range(begin, end):
                    count = _add(kept[i], content * lead[i - begin], FROM_CONTENT, weights, origins, touched, count)
            if title > 0:
                for i in range(end, end + titles[page]):
                    count = _add(kept[i], title, FROM_TITLE, weights, origins, touched, count)
            if outlink > 0 and citing[page]:
                for anchor in range(first_anchor[page], first_anchor[page + 1]):
                    target = targets[anchor - targets_from]
                    if target == url or spans[anchor, 1] < 0 or (not within_site and url_site[target] == url_site[url]):
                        continue
                    weight = outlink * lead[spans[anchor, 1]]
                    count = _add(links_end + target, weight, FROM_OUTLINKS, weights, origins, touched, count)
        citations = 0
        before = -1
        in_use = 0
        for k in range(inlinks[url - first], inlinks[url - first + 1]):
            anchor = anchors[k]
            source = anchor_page[anchor]
            if not citing[source] or page_url[source] == url or spans[anchor, 1] == IN_CRUMBS:
                continue
            is_new = source != before
            if is_new:
                citations += 1
                before = source
            if spans[anchor, 1] < 0 or (not within_site and page_site[source] == url_site[url]):
                continue
            if link > 0 and is_new:
                count = _add(stems + source, link, FROM_LINKS, weights, origins, touched, count)
            if len(near) == 0:
                continue
            place = kept_from[source]
            start, end = spans[anchor, 1], spans[anchor, 2]
            if once:
                key = uint64(page_host[source] + 1) * uint64(0x9E3779B97F4A7C15)
                for i in range(place + start, place + end):
                    key = (key ^ uint64(kept[i])) * uint64(0xBF58476D1CE4E5B9)
                    key ^= key >> uint64(29)
                key |= uint64(1)  # never the mark of an empty place
                slot = (key >> uint64(7)) & mask
                while seen[slot] != 0 and seen[slot] != key:
                    slot = (slot + uint64(1)) & mask
                if seen[slot] == key:
                    continue
                seen[slot] = key
                used[in_use] = slot
                in_use += 1
            if near[0] > 0:
                for i in range(start, end):
                    count = _add(kept[place + i], near[0], FROM_ANCHORS, weights, origins, touched, count)
            for i in range(spans[anchor, 0], start):
                weight = near[start - i]
                if weight > 0:
                    count = _add(kept[place + i], weight, FROM_ANCHORS, weights, origins, touched, count)
            for i in range(end, spans[anchor, 3]):
                weight = near[i - end + 1]
                if weight > 0:
                    count = _add(kept[place + i], weight, FROM_ANCHORS, weights, origins, touched, count)
        for i in range(in_use):
            seen[used[i]] = 0
        fits = n + count <= len(out_terms)
        for i in range(count):
            term = touched[i]
            if fits:
                out_terms[n] = term
                out_weights[n] = weights[term]
                out_origins[n] = origins[term]
                n += 1
            weights[term] = 0.0
            origins[term] = 0
        if not fits:
            return url, n
        out_ends[url - first] = n
        out_inlinks[url - first] = citations
    return last, n
