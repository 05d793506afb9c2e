"""Figure 1 of hypursuit-1996 as a site: the proceedings of a conference, each paper spread over several small pages.

A contents page links to the cover of every paper, in a list for each session. A cover links to its authors and sections,
sections to the one before, the next and their figures, and all back to the cover. Every page has the site's navigation
line. The words are made up, but the same in every run: a session has words of its own, and so has a paper.
"""

from dataclasses import dataclass
from pathlib import Path
from random import Random

BASE_URL = "http://proceedings.example/"


@dataclass(frozen=True)
class Paper:
    """One paper: its folder, and how many pages of each kind it has."""

    folder: str
    title: str
    words: str
    """What it alone is about."""
    sections: int
    figures: int
    authors: tuple[str, ...]
    bare: bool = False
    """Whether titles of its sections do not repeat the paper's."""

    def pages(self) -> int:
        """How many pages it has."""
        return 1 + self.sections + self.figures + len(self.authors)


@dataclass(frozen=True)
class Session:
    """Papers about one subject."""

    name: str
    words: str
    """What all of them are about, the words of headings and captions first."""
    papers: tuple[Paper, ...]


SESSIONS = (
    Session(
        "Concurrent Programming",
        "thread lock mutex semaphore scheduler processor cache contention deadlock barrier atomic pointer heap stack monitor "
        "race preemption memory fence starvation spinlock interrupt core synchronization wakeup priority inversion coroutine "
        "parallelism speedup critical ordering consistency visibility linearizability progress livelock handoff quantum "
        "dispatcher runtime multiprocessor workload timeslice yield join fork latch acquire release",
        (
            Paper("queue", "A Lock-Free Queue", "queue enqueue dequeue tail", 3, 1, ("Ada Moreno", "Ben Okafor")),
            Paper("hazard", "Reclaiming Nodes with Hazard Pointers", "reclamation node retire epoch", 4, 2, ("Chao Lin",)),
            Paper("fair", "Fair Semaphores", "fairness waiter ticket arrival", 2, 0, ("Dana Petrov",)),
            Paper(
                "steal", "Work Stealing on Small Machines", "stealing victim deque worker", 4, 1,
                ("Eli Novak", "Fay Abel"), True,
            ),
        ),
    ),
    Session(
        "Query Processing",
        "query relation tuple join index optimizer selectivity predicate histogram schema transaction attribute cardinality "
        "aggregation disk page buffer sort hash view cursor plan catalog operator projection selection table column row key "
        "foreign subquery rewriting cost pipeline scan clustered btree storage warehouse logging recovery isolation commit "
        "rollback materialization dictionary compression distinct grouping outer nested",
        (
            Paper("hashjoin", "Hybrid Hash Joins Revisited", "partition bucket probe spill", 3, 2, ("Gus Tanaka",)),
            Paper(
                "estimates", "Cardinality Estimates that Age Well", "sample error drift statistics", 5, 1,
                ("Hana Weiss", "Ian Costa"),
            ),
            Paper("views", "Keeping Views Fresh", "maintenance delta refresh staleness", 3, 0, ("Jo Sato",), True),
            Paper("sorting", "Sorting Runs in Place", "merge run tournament loser", 2, 1, ("Kim Duarte", "Lea Braun")),
            Paper("text", "Ranking inside Relations", "ranking score keyword posting", 4, 0, ("Max Ivanov",)),
        ),
    ),
    Session(
        "Wireless Networks",
        "radio packet antenna channel frequency interference receiver transmitter router mobile signal bandwidth latency "
        "spectrum carrier battery beacon handoff fading modulation noise sensor mesh acknowledgement cellular throughput "
        "protocol multicast congestion collision backoff slot gateway coverage range propagation multipath attenuation gain "
        "uplink downlink broadcast header payload jitter queueing mobility topology link hotspot satellite",
        (
            Paper("handoff", "Seamless Handoff Between Cells", "cell roaming subnet anchor", 3, 1, ("Nia Rossi",)),
            Paper(
                "sleep", "Sleeping Sensors", "sleep wakeup duty lifetime", 4, 2, ("Ola Jensen", "Pia Kowal"), True,
            ),
            Paper("mesh", "Routing in a Rooftop Mesh", "rooftop hop metric neighbour", 3, 0, ("Qi Zhang", "Raj Mehta")),
            Paper("coding", "Opportunistic Coding", "coding overhear xor redundancy", 2, 1, ("Sue Laurent",)),
            Paper("bursts", "Bursts and Their Losses", "burst loss retransmission timeout", 5, 1, ("Tom Adeyemi",)),
            Paper("spectrum", "Sharing Idle Spectrum", "idle sensing licence occupancy", 3, 2, ("Uma Silva",)),
        ),
    ),
    Session(
        "Computer Vision",
        "image pixel edge camera texture segmentation motion stereo contour surface illumination shape gradient object "
        "recognition filter feature depth colour scene lens calibration shadow curvature silhouette pose tracking optical flow "
        "registration matching template blur convolution histogram threshold region boundary corner invariant projection "
        "perspective reflectance albedo specular photograph video frame resolution retina perception",
        (
            Paper("contours", "Contours that Close", "closure snake energy spline", 4, 1, ("Vic Haddad", "Wen Ito")),
            Paper("shadows", "Shape from Moving Shadows", "sundial penumbra lamp height", 3, 2, ("Xia Romero",)),
            Paper("faces", "Finding Faces in Crowds", "face crowd skin detector", 3, 1, ("Yan Keller", "Zoe Park")),
            Paper("stereo", "Stereo without Calibration", "baseline epipolar disparity rig", 4, 0, ("Abe Falk",), True),
        ),
    ),
)  # fmt: skip
_HEADLINES = 8
"""Words of a session that headings and captions are made of."""
PAPERS = tuple(paper for session in SESSIONS for paper in session.papers)
_SENTENCES = (
    "We show that the {0} of a {1} depends on its {2}.",
    "Each {0} is kept until the {1} has seen the {2}.",
    "Earlier work on the {0} did not consider the {1} or the {2}.",
    "When a {0} changes, the {1} is told before any {2}.",
    "In our experience a {0} costs less than a {1}, and the {2} hides the rest.",
    "The {0} and the {1} together decide how much of the {2} is lost.",
    "No {0} may pass the {1} while the {2} is held.",
)
_NAVIGATION = "<p><a href='{up}index.html'>Proceedings</a> | <a href='{up}about.html'>About the conference</a></p><hr>"


def _prose(seed: str, session: Session, paper: Paper, sentences: int) -> str:
    """Sentences in the words of a session and of a paper, the same for the same seed."""
    random = Random(seed)
    words = session.words.split() + 3 * paper.words.split()
    return " ".join(random.choice(_SENTENCES).format(*random.sample(words, 3)) for _ in range(sentences))


def _heading(seed: str, session: Session) -> str:
    """A heading or caption in words of a session."""
    one, other = Random(seed).sample(session.words.split()[:_HEADLINES], 2)
    return f"The {one.title()} and the {other.title()}"


def _page(title: str, up: str, body: str) -> str:
    return f"<!doctype html><html><head><title>{title}</title></head><body>{_NAVIGATION.format(up=up)}{body}</body></html>\n"


def _paper_pages(session: Session, paper: Paper) -> dict[str, str]:
    """The pages of one paper, by file name."""
    made = {}
    cover = f"<p><a href='cover.html'>{paper.title}</a></p>"
    middle = [_heading(f"{paper.title} {number}", session) for number in range(2, paper.sections)]
    headings = ["Introduction", *middle, "Conclusions"]
    of_authors = {name: f"author-{name.split()[1].lower()}.html" for name in paper.authors}
    made["cover.html"] = _page(
        paper.title, "../../",
        f"<h1>{paper.title}</h1><p>"
        + ", ".join(f"<a href='{file}'>{name}</a>" for name, file in of_authors.items())
        + f"</p><h2>Abstract</h2><p>{_prose(paper.title, session, paper, 6)}</p><p>Keywords: "
        + ", ".join(f"<b>{word}</b>" for word in Random(paper.words).sample(session.words.split()[:_HEADLINES], 6))
        + "</p><ol>"
        + "".join(f"<li><a href='section{n}.html'>{heading}</a>" for n, heading in enumerate(headings, 1))
        + "</ol>",
    )  # fmt: skip
    for name, file in of_authors.items():
        about = f"<h1>{name}</h1><p>{name} works on {session.name.lower()}. {_prose(name, session, paper, 3)}</p>"
        made[file] = _page(name if paper.bare else f"{name}, author of {paper.title}", "../../", about + cover)
    for number, heading in enumerate(headings, 1):
        figures = [figure for figure in range(1, paper.figures + 1) if 1 + figure % paper.sections == number]
        steps = {"Previous": number - 1, "Next": number + 1}
        body = f"<h1>{number}. {heading}</h1><p>{_prose(paper.title + heading, session, paper, 12)}</p>"
        body += "".join(f"<p>See <a href='figure{figure}.html'>Figure {figure}</a>.</p>" for figure in figures)
        body += "".join(
            f"<a href='section{step}.html'>{word}</a> " for word, step in steps.items() if 0 < step <= paper.sections
        )
        made[f"section{number}.html"] = _page(
            heading if paper.bare else f"{paper.title}: {heading}", "../../", body + cover
        )
        for figure in figures:
            caption = _heading(f"{paper.title} figure {figure}", session)
            body = f"<h1>{caption}</h1><p>{_prose(caption + paper.title, session, paper, 4)}</p>"
            body += f"<p><a href='section{number}.html'>Back to the text</a></p>"
            made[f"figure{figure}.html"] = _page(
                caption if paper.bare else f"{paper.title}: {caption}", "../../", body + cover
            )
    return made


def site() -> dict[str, str]:
    """The pages of the site, by their paths below its root."""
    contents = "<h1>Table of Contents</h1>"
    made = {}
    for session in SESSIONS:
        contents += f"<h2>{session.name}</h2><ul>"
        for paper in session.papers:
            contents += f"<li><a href='papers/{paper.folder}/cover.html'>{paper.title}</a>, {', '.join(paper.authors)}"
            for file, html in _paper_pages(session, paper).items():
                made[f"papers/{paper.folder}/{file}"] = html
        contents += "</ul>"
    made["index.html"] = _page("Proceedings of the Conference", "", contents)
    about = "<h1>About the conference</h1><p>Four sessions in two days, with papers chosen by a committee.</p>"
    made["about.html"] = _page("About the conference", "", about)
    return made


def write_site(folder: Path) -> Path:
    """Write the site as a folder of HTML files."""
    for path, html in site().items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(html, encoding="utf-8")
    return folder


def paper_at(url: str) -> int:
    """The number of the paper that a page belongs to; -1 for the contents and other pages of the site."""
    folder = url.removeprefix(f"{BASE_URL}papers/").partition("/")[0]
    return next((number for number, paper in enumerate(PAPERS) if paper.folder == folder), -1)


def session_of(paper: int) -> int:
    """The number of a paper's session."""
    return next(number for number, session in enumerate(SESSIONS) if PAPERS[paper] in session.papers)
