"""The doors through which a collection or a network is asked; each gives its answers in one plain form.

A door translates a question into its own options and an answer into a `Form`. It never mends an answer: a door that cannot
be asked a question says so, and one that takes no notice of an option gives the answer that it gives.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from typer.testing import CliRunner

import pagekin
from pagekin.cli.app import app, load_verbs
from pagekin.collection import Answer, ServiceError
from tests.routers.webs import request

from .questions import FULL_PAGE, Question

SIMILAR = 6
"""Documents that are suggested: as many as a page of results has place for."""
FILTERS = ("site", "since", "until", "language")


@dataclass(frozen=True)
class Form:
    """An answer in plain form."""

    results: tuple[tuple[str, str], ...]
    """(kind, address or name), in order."""
    total: int | None = None
    """How many there are in all; None if the door does not tell."""

    def holds(self, kind: str) -> bool:
        """Return whether there is a result of this kind, or no kind is asked for."""
        return not kind or any(kind == one for one, _name in self.results)

    def agrees(self, other: "Form") -> bool:
        """Return whether two answers are the same, as far as both doors tell."""
        return self.results == other.results and (None in (self.total, other.total) or self.total == other.total)


class RefusedError(Exception):
    """A door that cannot be asked a question; the message is the door's own."""


class Door:
    """A door: `ask` calls the method that is named like the question's verb."""

    name = ""

    def ask(self, question: Question) -> Form:
        """Return the answer to a question, or raise a RefusedError."""
        form: Form = getattr(self, question.verb)(**question.asked)
        return form

    def close(self) -> None:
        """Close what is open."""


# -- plain forms ----------------------------------------------------------------------------------------------------------


def form_of_hits(answer: Mapping[str, Any], total: bool = True) -> Form:
    """Return the form of an answer of a service: documents by address, clusters by name."""
    assert not answer["partial"], answer["partial"]
    return Form(tuple(hit(one) for one in answer["results"]), answer["total"] if total else None)


def hit(one: Mapping[str, Any]) -> tuple[str, str]:
    """Return (kind, address) of a document, (kind, name) of a cluster."""
    return one["kind"], one["title"] if one["kind"] == "cluster" else one["url"]


def form_of_documents(urls: Iterable[str]) -> Form:
    """Return the form of related pages."""
    return Form(tuple(("document", url) for url in urls))


def form_of_reasons(pairs: Iterable[tuple[str, list[str]]]) -> Form:
    """Return the form of related pages with the terms that they share."""
    return Form(tuple(("document", f"{url} {' '.join(terms[:3])}") for url, terms in pairs))


def form_of_terms(terms: Mapping[str, Any], known: int | None) -> Form:
    """Return the form of terms that refine a query; `known` pages or sub-clusters hold the query."""
    kinds = ("collocated", "broader", "narrower")
    return Form(tuple((kind, word.casefold()) for kind in kinds for word in terms[kind]), known)


def form_of_label(label: Mapping[str, Any]) -> Form:
    """Return the form of a content label: what it says of the whole, and of each sub-cluster."""
    whole = [("words", " ".join(label["words"])), ("terms", str(label["terms"])), ("bytes", str(label["bytes"]))]
    return Form((*whole, *form_of_summary(label).results), label["documents"])


def form_of_summary(summary: Mapping[str, Any]) -> Form:
    """Return the form of a summary: its sub-clusters, the largest first."""
    clusters = sorted((-one["documents"], one["name"]) for one in summary["clusters"])
    return Form(tuple(("cluster", f"{name} {-documents}") for documents, name in clusters), summary["documents"])


# -- Python ---------------------------------------------------------------------------------------------------------------


class Python(Door):
    """`pagekin.open`, of a path or an address."""

    def __init__(self, target: str | Path, name: str = "python") -> None:
        self._site, self.name = pagekin.open(target), name

    def close(self) -> None:
        self._site.close()

    def ask(self, question: Question) -> Form:
        try:
            return super().ask(question)
        except ServiceError as error:
            raise RefusedError(str(error)) from None

    def search(self, query: str, first: int = 0, **filters: Any) -> Form:
        return self._form(self._site.search(query, FULL_PAGE, first, deadline=60, **filters))

    def select(self, query: str, **filters: Any) -> Form:
        return self._form(self._site.select(query, limit=FULL_PAGE, deadline=60, **filters))

    def expand(self, query: str, **filters: Any) -> Form:
        return self._form(self._site.expand(query, limit=FULL_PAGE, deadline=60, **filters))

    def suggest(self, query: str, preset: Any = "default") -> Form:
        return self._form(self._site.suggest(query, limit=SIMILAR, preset=preset, deadline=60), total=False)

    def related(self, url: str | tuple[str, ...] = (), explain: bool = False, **options: Any) -> Form:
        results = self._site.related(url, explain=explain, deadline=60, **options).results
        if explain:
            return form_of_reasons((one.url, [term.term for term in one.terms]) for one in results)
        return form_of_documents(one.url for one in results)

    def refine(self, query: str, preset: Any = "default") -> Form:
        terms = self._site.refine(query, preset=preset, deadline=60)
        lists = {"collocated": terms.collocated, "broader": terms.broader, "narrower": terms.narrower}
        return form_of_terms(lists, terms.known)

    def label(self) -> Form:
        label = self._site.label()
        clusters = [{"name": one.name, "documents": one.num_docs} for one in label.clusters]
        return form_of_label({
            "words": label.heaviest, "terms": label.num_terms, "bytes": label.size, "documents": label.num_docs,
            "clusters": clusters,
        })  # fmt: skip

    def summary(self) -> Form:
        summary = self._site.summary()
        clusters = [{"name": one.name, "documents": one.documents} for one in summary.clusters]
        return form_of_summary({"documents": summary.documents, "clusters": clusters})

    def _form(self, answer: Answer, total: bool = True) -> Form:
        results = [{"kind": one.kind, "title": one.title, "url": one.url} for one in answer]
        return form_of_hits({"results": results, "total": answer.total, "partial": answer.partial}, total)


# -- the command line -----------------------------------------------------------------------------------------------------


class CommandLine(Door):
    """`pagekin VERB TARGET … --json`, run in this process."""

    name = "command"

    def __init__(self, target: str | Path, name: str = "command") -> None:
        self._target, self.name = str(target), name

    def search(self, query: str, first: int = 0, **filters: str) -> Form:
        page = first // FULL_PAGE + 1
        return form_of_hits(self._run("search", query, "-k", FULL_PAGE, "--deadline", 60, page=page, **filters))

    def select(self, query: str, **filters: str) -> Form:
        return form_of_hits(self._run("select", query, "-k", FULL_PAGE, "--deadline", 60, **filters))

    def expand(self, query: str, **filters: str) -> Form:
        return form_of_hits(self._run("expand", query, "-k", FULL_PAGE, "--deadline", 60, **filters))

    def suggest(self, query: str, preset: str = "default") -> Form:
        return form_of_hits(self._run("suggest", query, "-k", SIMILAR, "--deadline", 60, preset=preset), total=False)

    def related(self, url: str | tuple[str, ...] = (), html: str = "", **options: Any) -> Form:
        urls = [url] if isinstance(url, str) else url
        flags = [f"--{name.replace('_', '-')}" for name, value in options.items() if value is True]
        named = {name: value for name, value in options.items() if value is not True}
        if html:
            answer = self._run("related", "--html", "-", *flags, "--deadline", 60, given=html, **named)
        else:
            answer = self._run("related", *urls, *flags, "--deadline", 60, **named)
        if "explain" in options:
            return form_of_reasons((one["url"], [term["term"] for term in one["terms"]]) for one in answer["results"])
        return form_of_documents(one["url"] for one in answer["results"])

    def refine(self, query: str, preset: str = "default") -> Form:
        terms = self._run("refine", query, preset=preset)
        return form_of_terms(terms, terms["pages"])

    def label(self) -> Form:
        return form_of_label(plain_label(self._json("label", self._target, "--format", "json")))

    def summary(self) -> Form:
        return form_of_summary(self._run("summary"))

    def _run(self, verb: str, *arguments: Any, given: str = "", **options: Any) -> Any:
        """Return what a verb prints as JSON, or raise a RefusedError with what it says instead."""
        named = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", value)]
        return self._json(verb, self._target, *arguments, *named, "--json", given=given)

    def _json(self, verb: str, *arguments: Any, given: str = "") -> Any:
        load_verbs(verb)
        done = CliRunner().invoke(app, [verb, *map(str, arguments)], input=given or None)
        if done.exit_code:
            if done.exception is not None and not isinstance(done.exception, SystemExit):
                raise done.exception
            raise RefusedError(done.stderr)
        return json.loads(done.stdout)


# -- the service over HTTP ------------------------------------------------------------------------------------------------


class Http(Door):
    """The service of an address."""

    def __init__(self, address: str) -> None:
        self._address = address.rstrip("/")

    def label(self) -> Form:
        return form_of_label(plain_label(self._fetch("label?form=json")))

    def summary(self) -> Form:
        return form_of_summary(self._fetch("summary"))

    def _fetch(self, path: str, method: str = "GET", body: bytes | None = None) -> Any:
        """Return what an address answers, or raise a RefusedError with the reason that it gives."""
        headers = {"Content-Type": "application/json"} if body else {}
        reply = request(f"{self._address}/{path}", method, body, headers)
        if reply.status >= 300:
            raise RefusedError(f"{reply.status} {reply.body[:300].decode(errors='replace')}")
        return reply.json


class Post(Http):
    """The service, asked by JSON."""

    name = "post"

    def search(self, query: str, first: int = 0, **filters: str) -> Form:
        return form_of_hits(
            self._post("search", query=query, limit=FULL_PAGE, first=first, deadline=60, filters=seconds_of(filters))
        )

    def select(self, query: str, **filters: str) -> Form:
        return form_of_hits(
            self._post("select", query=query, limit=FULL_PAGE, deadline=60, filters=seconds_of(filters))
        )

    def expand(self, query: str, **filters: str) -> Form:
        return form_of_hits(
            self._post("expand", query=query, limit=FULL_PAGE, deadline=60, filters=seconds_of(filters))
        )

    def suggest(self, query: str, preset: str = "default") -> Form:
        return form_of_hits(self._post("suggest", query=query, limit=SIMILAR, preset=preset, deadline=60), total=False)

    def related(self, url: str | tuple[str, ...] = "", html: str = "", **options: Any) -> Form:
        filters = seconds_of({name: options.pop(name) for name in FILTERS if name in options})
        chosen = service_options(options) | {"filters": filters}
        asked = pages_of(url) | {"html": html, "options": chosen, "deadline": 60}
        return related_form(self._post("related", **asked), options)

    def refine(self, query: str, preset: str = "default") -> Form:
        terms = self._post("refine", query=query, preset=preset, deadline=60)
        return form_of_terms(terms, terms["known"])

    def _post(self, verb: str, /, **asked: Any) -> Any:
        return self._fetch(verb, "POST", json.dumps(asked).encode())


class Get(Http):
    """The service, asked by an address alone."""

    name = "get"

    def search(self, query: str, first: int = 0, **filters: str) -> Form:
        return form_of_hits(self._get("search", q=query, limit=FULL_PAGE, first=first, **seconds_of(filters)))

    def select(self, query: str, **filters: str) -> Form:
        return form_of_hits(self._get("select", q=query, limit=FULL_PAGE, **seconds_of(filters)))

    def expand(self, query: str, **filters: str) -> Form:
        return form_of_hits(self._get("expand", q=query, limit=FULL_PAGE, **seconds_of(filters)))

    def suggest(self, query: str, preset: str = "default") -> Form:
        return form_of_hits(self._get("suggest", q=query, limit=SIMILAR, preset=preset), total=False)

    def related(self, url: str | tuple[str, ...] = "", html: str = "", **options: Any) -> Form:
        if html:
            raise RefusedError("a whole page does not fit into an address")
        return related_form(self._get("related", **pages_of(url), **seconds_of(service_options(options))), options)

    def refine(self, query: str, preset: str = "default") -> Form:
        terms = self._get("refine", q=query, preset=preset)
        return form_of_terms(terms, terms["known"])

    def _get(self, verb: str, /, **asked: Any) -> Any:
        return self._fetch(f"{verb}?{urlencode(asked, doseq=True)}")


# -- the pages ------------------------------------------------------------------------------------------------------------


def _term(term: Mapping[str, Any]) -> str:
    """Return a shared term as programs name it: a word, or the address of a page."""
    return str(term["word"] or term["url"])


class Page(Http):
    """The `.json` of the pages that people see."""

    name = "page"

    def search(self, query: str, first: int = 0, **filters: str) -> Form:
        return self._find(q=query, page=first // FULL_PAGE + 1, **filters)

    def select(self, query: str, **filters: str) -> Form:
        return self._find(q=query, mode="select", **filters)

    def expand(self, query: str, **filters: str) -> Form:
        """Return the first documents of the first topics: a page has its own number of topics, so no total of documents."""
        view = self._find(q=query, mode="expand", each=FULL_PAGE, **filters)
        return Form(view.results[:FULL_PAGE])

    def suggest(self, query: str, preset: str = "default") -> Form:
        if preset != "default":
            raise RefusedError("the page suggests documents by the default method; its preset is for terms")
        view = self._get("find", q=query)
        return Form(tuple(hit(one) for one in view["similar"]))

    def related(self, url: str | tuple[str, ...] = (), html: str = "", **options: Any) -> Form:
        if html:
            raise RefusedError("there is no page for a page that is not in the collection")
        asked = service_options(options)
        if not isinstance(url, str):
            view = self._get("compare", url=url, **asked)
        else:
            sites = asked.pop("sites", "all")
            view = self._get("page", url=url, **({"other": 1} if sites == "other" else {"sites": sites}), **asked)
        similar = [one.get("page", one) | one for one in view["similar"]]
        if options.get("explain"):
            return form_of_reasons((one["url"], [_term(term) for term in one.get("terms", ())]) for one in similar)
        return form_of_documents(one["url"] for one in similar)

    def refine(self, query: str, preset: str = "default") -> Form:
        view = self._get("find", q=query, preset=preset)
        lists = {"collocated": view["along"], "broader": view["wider"], "narrower": view["narrower"]}
        return form_of_terms({name: [link["text"] for link in links] for name, links in lists.items()}, None)

    def label(self) -> Form:
        view = self._get("cluster")
        clusters = [{"name": one["name"], "documents": one["pages"]} for one in view["clusters"]]
        return form_of_label(view | {"clusters": clusters, "terms": view["terms_total"]})

    def summary(self) -> Form:
        view = self._get("index")
        clusters = [{"name": one["name"], "documents": one["pages"]} for one in view["map"]["clusters"]]
        return form_of_summary({"documents": view["pages"], "clusters": clusters})

    def _find(self, **asked: Any) -> Form:
        view = self._get("find", **asked)
        assert not view["partial"], view["partial"]
        results = sorted((one for group in view["groups"] for one in group["results"]), key=lambda one: one["place"])
        return Form(tuple(map(hit, results)), view["total"])

    def _get(self, page: str, /, **asked: Any) -> Any:
        return self._fetch(f"{page}.json?{urlencode(asked, doseq=True)}")


# -- what several doors share ---------------------------------------------------------------------------------------------


def related_form(answer: Mapping[str, Any], options: Mapping[str, Any]) -> Form:
    """Return the form of related pages, as a service gives them."""
    if options.get("explain"):
        return form_of_reasons(
            (one["url"], [term["term"] for term in one.get("terms", ())]) for one in answer["results"]
        )
    return form_of_hits(answer, total=False)


def plain_label(label: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a content label by the names of `form_of_label`."""
    clusters = [{"name": one["name"], "documents": one["num_docs"]} for one in label["clusters"]]
    return {
        "words": label["heaviest"], "terms": label["num_terms"], "bytes": label["size"], "documents": label["num_docs"],
        "clusters": clusters,
    }  # fmt: skip


def pages_of(url: str | tuple[str, ...]) -> dict[str, Any]:
    """Return the pages that are asked about as a service takes them."""
    urls = (url,) if isinstance(url, str) else url
    return {"url": urls[0], "also": urls[1:]}


SERVICE_OPTIONS = {
    "exact": ("method", "exact"), "estimate": ("method", "estimate"), "other_sites": ("sites", "other"),
    "same_site": ("sites", "same"), "captured": ("captured_only", True), "unfold": ("fold", False),
}  # fmt: skip
"""Options of related pages as people name them -> as requests and addresses of pages do."""


def service_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of related pages by the names that requests and addresses of pages have for them."""
    return dict(SERVICE_OPTIONS.get(name, (name, value)) for name, value in options.items())


def seconds_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options whose days are seconds since 1970, as services take them: `until` is the end of its day."""
    found = dict(options)
    for name, more in (("since", 0), ("until", 86_399)):
        if name in found:
            day = datetime.strptime(found[name], "%Y-%m-%d").replace(tzinfo=UTC)
            found[name] = int(day.timestamp()) + more
    return found


def doors_to(target: Path | None, address: str) -> list[Door]:
    """Return all doors to a collection at a path that is served at an address, or to a network, which has no path."""
    doors: list[Door] = [Python(target), CommandLine(target)] if target is not None else []
    doors += [Python(address, "python at address"), CommandLine(address, "command at address")]
    return [*doors, Post(address), Get(address), Page(address)]
