"""Directories: familial distance, collapsing, tables, addresses that do not match, and the collection's own trees."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from pagekin.clusters import Directory, DirectoryError, familial_distance, load_directory, read_listings
from pagekin.clusters.directory import collapse, make_directory
from pagekin.hypertext import Corpus
from tests.bags.webs import moved, read_records, read_web, record
from tests.evaluation.oracle import distance_between

generated = settings(derandomize=True, database=None, deadline=None, max_examples=200)
SITE = "http://site.example/"


def web(*addresses: str) -> Corpus:
    """A page with a few words at each address."""
    return read_web({address: f"<title>{number}</title><p>words" for number, address in enumerate(addresses)})


def places(directory: Directory, corpus: Corpus) -> dict[str, list[str]]:
    """The classes of each page, the primary one first, as a person writes them."""
    return {
        corpus.url(int(url)): [
            "/".join(directory.classes[member])
            for member in directory.members[directory.offsets[i] : directory.offsets[i + 1]].tolist()
        ]
        for i, url in enumerate(directory.urls)
    }


def listed(
    corpus: Corpus, table: str, tmp_path: Path, name: str = "table.tsv", **options: object
) -> dict[str, list[str]]:
    """The classes of each page by a table."""
    file = tmp_path / name
    file.write_text(table, encoding="utf-8")
    return places(load_directory(corpus, str(file), **options), corpus)  # type: ignore[arg-type]


# -- the tree -----------------------------------------------------------------------------------------------------------


def test_familial_distance_counts_the_steps_up_as_in_figure_1() -> None:
    here = ("recreation", "aviation", "un-powered")
    assert familial_distance(here, here) == 0
    assert familial_distance(here, ("recreation", "aviation", "models")) == 1
    assert familial_distance(here, ("recreation", "autos", "un-powered")) == 2
    assert familial_distance(here, ("shopping", "aviation", "un-powered")) == 3


@given(some.integers(1, 5).flatmap(lambda n: some.tuples(*[some.tuples(*[some.sampled_from("ab")] * n)] * 3)))
@generated
def test_familial_distance_is_an_ultrametric(paths: tuple[tuple[str, ...], ...]) -> None:
    a, b, c = paths
    assert familial_distance(a, b) == familial_distance(b, a) == distance_between(a, b)
    assert (familial_distance(a, b) == 0) == (a == b)
    assert familial_distance(a, c) <= max(familial_distance(a, b), familial_distance(b, c))


def test_deep_classes_are_cut_and_high_ones_padded_or_left_out() -> None:
    assert collapse(tuple("abcde"), 3, "strict") == ("a", "b", "c")
    assert collapse(tuple("abc"), 3, "strict") == ("a", "b", "c")
    assert collapse(tuple("ab"), 3, "strict") is None
    assert collapse(tuple("ab"), 3, "lenient") == ("a", "b", "-")
    assert collapse(tuple("ab"), 4, "lenient") == ("a", "b", "-", "-")
    assert collapse(("a",), 3, "lenient") is None
    assert collapse((), 3, "lenient") is None
    assert collapse(("a",), 2, "lenient") is None


def test_all_classes_are_as_deep_as_the_tree_and_apart_by_familial_distance() -> None:
    corpus = web(*(f"{SITE}{name}" for name in "pqr"))
    made = make_directory(
        corpus, [(f"{SITE}p", ("a", "b")), (f"{SITE}q", tuple("abcd")), (f"{SITE}r", tuple("xyz"))], "made", 3,
        "lenient", "primary", False,
    )  # fmt: skip
    assert made.classes == (("a", "b", "-"), ("a", "b", "c"), ("x", "y", "z"))
    assert made.class_distances().tolist() == [[0, 1, 3], [1, 0, 3], [3, 3, 0]]
    assert made.members[made.offsets[:-1]].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("choice", "expected"), [("primary", ["c/d/e"]), ("all", ["c/d/e", "c/d/f", "a/b/-", "c/b/-"])]
)
def test_the_primary_class_is_the_deepest_and_the_first_of_equals(
    choice: str, expected: list[str], tmp_path: Path
) -> None:
    table = "".join(f"{SITE}p\t{path}\n" for path in ("a/b", "x", "c/d/e", "c/d/f", "a/b", "c/b"))
    assert listed(web(f"{SITE}p"), table, tmp_path, choice=choice) == {f"{SITE}p": expected}


def test_a_strict_tree_leaves_out_what_a_lenient_one_pads_and_says_how_many(tmp_path: Path) -> None:
    corpus = web(f"{SITE}p", f"{SITE}q")
    file = tmp_path / "table.tsv"
    file.write_text(f"{SITE}p\ta/b\n{SITE}q\ta/b/c\n{SITE}q\tz\n", encoding="utf-8")
    lenient, strict = (load_directory(corpus, str(file), mode=mode) for mode in ("lenient", "strict"))
    assert places(lenient, corpus) == {f"{SITE}p": ["a/b/-"], f"{SITE}q": ["a/b/c"]}
    assert places(strict, corpus) == {f"{SITE}q": ["a/b/c"]}
    assert [tree.facts["listed too high"] for tree in (lenient, strict)] == [1, 2]
    assert lenient.facts["listings"] == 3
    with pytest.raises(DirectoryError, match="smaller --depth or --mode lenient"):
        load_directory(corpus, str(file), depth=5, mode="strict")


# -- tables -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "table",
    [
        "http://a/x\tA/B\nhttp://a/y\tA/C\n",
        "\ufeffhttp://a/x\tA/B\nhttp://a/y\tA/C",
        "url\tpath\nhttp://a/x\tA/B\nhttp://a/y\tA/C\n",
        "# made by hand, of old\nurl\tpath\n\n# more\nhttp://a/x\t/A/B/\n \t \nhttp://a/y\tA//C\n",
        "http://a/x\t A / B \tanother column\r\nhttp://a/y\tA/C\tmore\tand more\r\n",
        "http://a/x,A/B\nhttp://a/y,A/C\n",
        'Address,Class\n"http://a/x","A/B"\nhttp://a/y,A/C,ignored\n',
        "# with, commas\tand tabs\nhttp://a/x,A/B\nhttp://a/y,A/C\n",
    ],
)
def test_tables_are_read_however_people_write_them(table: str, tmp_path: Path) -> None:
    file = tmp_path / "table"
    file.write_bytes(table.encode())
    assert read_listings(file) == [("http://a/x", ("A", "B")), ("http://a/y", ("A", "C"))]


def test_the_first_line_is_a_heading_only_if_it_names_no_page(tmp_path: Path) -> None:
    file = tmp_path / "table.tsv"
    for first in ("aardvark.htm\tAnimals", "aardvark\tAnimals/Mammals", "wp/a\tAnimals"):
        file.write_text(f"{first}\nzebra.htm\tAnimals/Mammals\n", encoding="utf-8")
        assert [address for address, _path in read_listings(file)] == [first.split("\t")[0], "zebra.htm"]


def test_a_comma_and_a_quotation_mark_are_letters_in_tsv(tmp_path: Path) -> None:
    file = tmp_path / "table.tsv"
    file.write_text('http://a/x,y\t"Weird Al"/Songs, old\nhttp://a/z\tA/"B\nhttp://a/w\tA/B\n', encoding="utf-8")
    assert read_listings(file) == [
        ("http://a/x,y", ('"Weird Al"', "Songs, old")),
        ("http://a/z", ("A", '"B')),
        ("http://a/w", ("A", "B")),
    ]


def test_a_page_without_a_path_is_counted_as_listed_too_high(tmp_path: Path) -> None:
    file = tmp_path / "table.tsv"
    file.write_text(f"{SITE}p\t/\n{SITE}p\ta/b/c\n", encoding="utf-8")
    assert load_directory(web(f"{SITE}p"), str(file)).facts["listed too high"] == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"http://a/x\tA/B\nhttp://a/y A/C\n", r"line 2: .* an address and a path.* 'http://a/y A/C'"),
        (b"# one\n\nhttp://a/y\n", "line 3"),
        (b"\xff\xfeh\x00t\x00", "not UTF-8"),
        (b'"' + b"x" * 200_000 + b'",A/B\n', "not a table"),
        (b"", "lists no page"),
        (b"# nothing\n", "lists no page"),
    ],
)
def test_a_bad_table_is_refused_with_the_place_and_the_reason(content: bytes, said: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.tsv"
    file.write_bytes(content)
    with pytest.raises(DirectoryError, match=said) as raised:
        load_directory(web(f"{SITE}p"), str(file))
    assert "bad.tsv" in str(raised.value)


def test_a_misspelt_name_of_the_collections_own_order_gets_a_hint(tmp_path: Path) -> None:
    with pytest.raises(DirectoryError, match=r"url-pth is neither a table .*\. Did you mean url-path\?"):
        load_directory(web(f"{SITE}p"), "url-pth")
    (tmp_path / "judged.tsv").touch()
    with pytest.raises(DirectoryError, match=r"judgd\.tsv does not exist\. Did you mean .*judged\.tsv\?"):
        load_directory(web(f"{SITE}p"), str(tmp_path / "judgd.tsv"))


def test_a_table_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(DirectoryError, match=r"nowhere\.tsv cannot be read: No such file"):
        read_listings(tmp_path / "nowhere.tsv")
    with pytest.raises(DirectoryError, match="cannot be read: Is a directory"):
        read_listings(tmp_path)


@given(some.text(max_size=60))
@generated
def test_any_text_is_a_table_or_refused(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "any"
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            found = read_listings(file)
        except DirectoryError as error:
            assert str(file) in str(error)
        else:
            assert all(address and all(path) for address, path in found)


# -- addresses ----------------------------------------------------------------------------------------------------------


def test_relative_addresses_are_of_the_only_host(tmp_path: Path) -> None:
    corpus = web(f"{SITE}wp/a/x.htm", f"{SITE}wp/y.htm")
    table = "/wp/a/x.htm\tA/B/C\nwp/y.htm\tA/B/D\n"
    assert listed(corpus, table, tmp_path) == {f"{SITE}wp/a/x.htm": ["A/B/C"], f"{SITE}wp/y.htm": ["A/B/D"]}


def test_relative_addresses_mean_nothing_where_there_are_several_hosts(tmp_path: Path) -> None:
    corpus = web(f"{SITE}x.htm", "http://other.example/x.htm")
    assert listed(corpus, f"/x.htm\tA/B\n{SITE}x.htm\tA/C\n", tmp_path) == {f"{SITE}x.htm": ["A/C/-"]}


def test_a_port_belongs_to_the_host_of_relative_addresses(tmp_path: Path) -> None:
    corpus = web("http://site.example:8080/x.htm")
    assert listed(corpus, "/x.htm\tA/B\n", tmp_path) == {"http://site.example:8080/x.htm": ["A/B/-"]}


def test_an_alias_stands_for_its_page_and_a_linked_address_is_a_page_too(tmp_path: Path) -> None:
    corpus = read_records(
        [record(f"{SITE}new", f"<p>a <a href={SITE}unseen>link</a>"), moved(f"{SITE}old", f"{SITE}new")]
    )
    found = listed(corpus, f"{SITE}old\tA/B\n{SITE}unseen\tA/C\n", tmp_path)
    assert found == {f"{SITE}new": ["A/B/-"], f"{SITE}unseen": ["A/C/-"]}


SPELLINGS = {
    "https://site.example/wp/x": "http and https",
    "http://site.example/wp/x/": "a trailing slash",
    "http://www.site.example/wp/x": "www.",
    "http://site.example/WP/x": "capitals",
}


@pytest.mark.parametrize(("written", "reason"), SPELLINGS.items())
def test_an_address_in_another_spelling_is_explained_and_matches_loosely(
    written: str, reason: str, tmp_path: Path
) -> None:
    corpus = web(f"{SITE}wp/x", f"{SITE}wp/y")
    file = tmp_path / "table.tsv"
    file.write_text(f"{written}\tA/B/C\n{SITE}wp/y\tA/B/D\nhttp://gone.example/\tA/B/E\n", encoding="utf-8")
    exact, loose = (load_directory(corpus, str(file), loose=loose) for loose in (False, True))
    assert places(exact, corpus) == {f"{SITE}wp/y": ["A/B/D"]}
    assert exact.facts["not in the collection"] == 2
    assert exact.facts["examples"] == [written, "http://gone.example/"]
    assert exact.facts["other spellings"] == {reason: 1}
    assert places(loose, corpus) == {f"{SITE}wp/x": ["A/B/C"], f"{SITE}wp/y": ["A/B/D"]}
    assert loose.facts["not in the collection"] == 1


def test_a_relative_address_in_another_spelling_is_explained_too(tmp_path: Path) -> None:
    """The collection's first page lies in a folder: addresses are relative to the top all the same."""
    corpus = web(f"{SITE}a/b/first", f"{SITE}wp/x")
    file = tmp_path / "table.tsv"
    file.write_text("a/b/first\tA/B\nwp/x/\tA/C\n", encoding="utf-8")
    assert load_directory(corpus, str(file)).facts["other spellings"] == {"a trailing slash": 1}


def test_an_address_without_http_is_explained_and_matches_loosely(tmp_path: Path) -> None:
    corpus = web(f"{SITE}x", "http://other.example/y")
    file = tmp_path / "table.tsv"
    file.write_text(f"site.example/x\tA/B\n{SITE}x\tA/C\n", encoding="utf-8")
    assert load_directory(corpus, str(file)).facts["other spellings"] == {"a missing http://": 1}
    assert places(load_directory(corpus, str(file), loose=True), corpus) == {f"{SITE}x": ["A/B/-"]}


def test_a_loose_match_prefers_a_page_to_an_address_that_is_only_linked_to(tmp_path: Path) -> None:
    page = "https://site.example/x"
    corpus = read_web({page: "<p>words", f"{SITE}y": "<p><a href=http://site.example/x>the old address</a>"})
    assert listed(corpus, "http://site.example/X\tA/B\n", tmp_path, loose=True) == {page: ["A/B/-"]}


def test_listed_addresses_that_were_not_read_are_counted(tmp_path: Path) -> None:
    corpus = read_web({f"{SITE}y": f"<p><a href={SITE}linked>only linked to</a>"})
    file = tmp_path / "table.tsv"
    file.write_text(f"{SITE}y\tA/B\n{SITE}linked\tA/C\n", encoding="utf-8")
    facts = load_directory(corpus, str(file)).facts
    assert (facts["pages"], facts["known only from links"]) == (2, 1)
    file.write_text(f"{SITE}y\tA/B\n", encoding="utf-8")
    assert "known only from links" not in load_directory(corpus, str(file)).facts


def test_a_table_of_another_web_is_refused_with_an_example_of_each(tmp_path: Path) -> None:
    file = tmp_path / "table.tsv"
    file.write_text("http://else.example/\tA/B\n", encoding="utf-8")
    with pytest.raises(DirectoryError, match=r"none of the 1 addresses.*else\.example.*site\.example/p") as raised:
        load_directory(web(f"{SITE}p"), str(file))
    assert "--loose" not in str(raised.value)
    file.write_text("https://site.example/p\tA/B\n", encoding="utf-8")
    with pytest.raises(DirectoryError, match="with --loose some would match"):
        load_directory(web(f"{SITE}p"), str(file))


# -- the collection's own trees -----------------------------------------------------------------------------------------


def own(corpus: Corpus, tree: str = "url-path", **options: object) -> dict[str, list[str]]:
    """The classes of each page by the collection's own structure."""
    return places(load_directory(corpus, tree, **options), corpus)  # type: ignore[arg-type]


def test_the_folders_of_one_host_are_a_tree_without_what_they_share() -> None:
    corpus = web(*(f"{SITE}wiki/en/{path}" for path in ("a/b/c/p.html", "a/b/q?x=/1/2", "a/d/", "e/f/g/h/i/j")))
    assert own(corpus) == {
        f"{SITE}wiki/en/a/b/c/p.html": ["a/b/c"],
        f"{SITE}wiki/en/a/b/q?x=/1/2": ["a/b/-"],
        f"{SITE}wiki/en/a/d/": ["a/d/-"],
        f"{SITE}wiki/en/e/f/g/h/i/j": ["e/f/g"],
    }


def test_hosts_of_one_site_stand_above_their_folders() -> None:
    corpus = web("http://en.site.example.com/a/x", "http://de.site.example.com/a/x", "http://de.site.example.com/b/c/x")
    assert own(corpus) == {
        "http://de.site.example.com/a/x": ["de.site.example.com/a/-"],
        "http://de.site.example.com/b/c/x": ["de.site.example.com/b/c"],
        "http://en.site.example.com/a/x": ["en.site.example.com/a/-"],
    }


def test_sites_come_first_and_hosts_only_where_a_site_has_several() -> None:
    corpus = web("http://www.one.com/a/b/x", "http://en.two.org/a/x", "http://de.two.org/a/x")
    assert own(corpus) == {
        "http://de.two.org/a/x": ["two.org/de.two.org/a"],
        "http://en.two.org/a/x": ["two.org/en.two.org/a"],
        "http://www.one.com/a/b/x": ["one.com/a/b"],
    }


def test_one_flat_folder_is_no_tree() -> None:
    with pytest.raises(DirectoryError, match="url-path has no classes to compare"):
        own(web(f"{SITE}a/x", f"{SITE}a/y"))


def crumbs(*steps: str, body: str = "<p>words") -> str:
    """A page with breadcrumbs."""
    links = " > ".join(f"<a href='{SITE}{step.lower().replace(' ', '-')}/'>{step}</a>" for step in steps)
    return f"<nav class=breadcrumb>{links}</nav>{body}"


def test_breadcrumbs_are_a_tree_without_the_page_itself_and_what_all_share() -> None:
    corpus = read_web(
        {
            f"{SITE}1": crumbs("Home", "Living things", "Plants", "Trees"),
            f"{SITE}2": crumbs("Home", "Living things", "Birds"),
            f"{SITE}stars/": crumbs("Home", "Sky", "Stars"),
            f"{SITE}4": "<p><a href=/1>no crumbs</a>",
        }
    )
    assert own(corpus, "breadcrumbs", depth=2) == {
        f"{SITE}1": ["living things/plants"],
        f"{SITE}2": ["living things/birds"],
    }
    with pytest.raises(DirectoryError, match="no page of the collection has breadcrumbs"):
        own(web(f"{SITE}p"), "breadcrumbs")


def test_the_newest_capture_says_where_a_page_stands() -> None:
    corpus = read_records(
        [
            record(f"{SITE}p", crumbs("Old", "Place", "Deep", "Down"), date="2010-01-01T00:00:00Z"),
            record(f"{SITE}p", crumbs("New", "Place"), date="2020-01-01T00:00:00Z"),
            record(f"{SITE}q", crumbs("Another", "Place")),
        ],
        all_captures=True,
    )
    assert len(corpus) == 3
    assert own(corpus, "breadcrumbs", choice="all")[f"{SITE}p"] == ["new/place/-"]
