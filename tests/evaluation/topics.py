"""A small web of five topics, its directory, and strategies of which we know the best."""

from pathlib import Path

import numpy as np

from pagekin.bags import choose_strategy

SITE = "http://site.example/"
TOPICS = {
    "living/plants/trees": "oak beech timber bark leaf root",
    "living/plants/mosses": "moss spore damp rock leaf root",
    "living/birds/owls": "owl feather night wing mouse beak",
    "sky/stars/giants": "giant star fusion helium light red",
    "sky/planets/rocky": "planet rock orbit crater light iron",
}
ANY = "news hello visit click more here fine good".split()
HOSTILE = "<script>alert(1)</script>\"'&\x1b[31m"


def pages() -> dict[str, str]:
    """Pages of five classes: their own words tell their class; the links to them come from lists of all classes mixed."""
    rng = np.random.default_rng(8)
    made = {}
    for path, vocabulary in TOPICS.items():
        for number in range(6):
            words = " ".join(rng.choice(vocabulary.split(), 12).tolist())
            made[f"{SITE}{path}/{number}.html"] = (
                f"<title>page</title><p>{words} {' '.join(rng.choice(ANY, 4).tolist())}"
            )
    addresses = sorted(made)
    for number in range(6):
        some = rng.choice(addresses[:-3], 12, replace=False).tolist()  # nobody links to the last three
        made[f"{SITE}lists/{number}.html"] = "".join(f"<li><a href='{to}'>{rng.choice(ANY)}</a>" for to in some)
    return made


def write_table(file: Path) -> Path:
    """Write the directory of the pages, with addresses that are not there, in another spelling, or listed too high."""
    rows = [f"{url}\t{url[len(SITE) :].rpartition('/')[0]}\n" for url in pages() if "/lists/" not in url]
    file.write_text("".join(rows) + "https://site.example/lists/0.html\tlists/of/pages\n/gone\ta/b/c\n/high\ta\n")
    return file


STRATEGIES = {
    "content": choose_strategy(settings=["anchors.scale=0", "weight.frequency=none"]),
    "link texts": choose_strategy(
        settings=["content.scale=0", "title.scale=0", "window.size=0", "weight.frequency=none"]
    ),
    HOSTILE: choose_strategy(settings=["anchors.scale=0", "weight.frequency=sqrt"]),
}
