"""A small manual as a generator writes it: pages about three things, a menu around them, and pages that nobody looks for."""

from pathlib import Path

TOPICS = {
    "volcano": "lava magma crater eruption ash basalt vent caldera pumice tephra",
    "kitchen": "oven saucepan whisk flour butter recipe dough simmer ladle colander",
    "orbit": "satellite apogee perigee rocket thruster payload inclination launch ellipse escape",
}
WORDS = "begins with a measure of care and ends when the second part has been read by those who use it"
MENU = "".join(f'<a href="{{up}}{topic}/part{n}.html">{topic} {n}</a> ' for topic in TOPICS for n in range(5))


def page(topic: str, number: int, up: str = "../") -> str:
    words = TOPICS[topic].split()
    own = " ".join(words[number : number + 6] * 3)
    link = f'<a href="part{(number + 1) % 5}.html">more about {words[number]}</a>'
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{topic.title()} part {number} — Example 1.2 documentation</title>
<link rel="canonical" href="file:///build/{topic}/part{number}.html">
<script src="{up}_static/documentation_options.js"></script></head>
<body><nav>menuword {MENU.format(up=up)}</nav>
<div class="body" role="main"><h1>{topic.title()} part {number}</h1><p>{WORDS}: {own}. {link}.</p></div>
<footer>footerword</footer></body></html>
"""


def write_manual(folder: Path) -> Path:
    """Write the manual into a folder, as Sphinx would."""
    for topic in TOPICS:
        (folder / topic).mkdir(parents=True)
        for number in range(5):
            (folder / topic / f"part{number}.html").write_text(page(topic, number), encoding="utf-8")
    index = page("orbit", 0, "").replace("Orbit part 0", "Start here").replace('href="part1', 'href="orbit/part1')
    (folder / "index.html").write_text(index, encoding="utf-8")
    for name in ("genindex.html", "search.html", "404.html"):
        (folder / name).write_text(page("orbit", 1, ""), encoding="utf-8")
    (folder / "_static").mkdir()
    (folder / "_static/documentation_options.js").write_text("")
    (folder / "favicon.ico").write_bytes(b"")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
