"""Estimate the costs of a build on Spark: the work spread over all cores, and that of the task which makes clusters."""

from dataclasses import dataclass

from pagekin.clusters import ClusterSettings
from pagekin.engines.costs import CLUSTER_STAGES, BuildCosts, Trial, carry_on_trials


@dataclass(frozen=True)
class ClusterCosts:
    """The expected costs of a build on a cluster, in as many shards as there are cores."""

    pages: int
    html_bytes: int
    cores: int
    reading_core_hours: float
    reading_hours: float
    """With all cores."""
    shard_core_hours: float
    """Of all that is made by shard: corpora, bags, links, signatures, lists, search indexes, labels."""
    clusters_hours: float
    """Of the one task that makes clusters and names of a sample beside the shards, on one core."""
    sampled: int
    """Pages of the sample."""
    task_memory: int
    """Bytes of memory for the largest task: that of a shard, or of the sample."""
    task_disk: int
    """Bytes on the temporary disk of the machine that it runs on."""
    parts: int
    """Bytes of the parts: what reading writes to the job's folder, and merging reads from it."""
    collection: int
    """Bytes of the collection."""
    sample: Trial

    @property
    def hours(self) -> float:
        """Return the wall-clock hours."""
        spread = (self.shard_core_hours + self.clusters_hours) / self.cores
        return self.reading_hours + max(self.clusters_hours, spread)


def divide_costs(costs: BuildCosts, cores: int) -> ClusterCosts:
    """Return the costs on a cluster, from the costs on one core."""
    reading = costs.seconds.get("reading", 0.0) / 3600
    sampled = min(costs.pages, ClusterSettings().sample)
    of_sample = sum(costs.seconds.get(name, 0.0) for name in CLUSTER_STAGES)  # one task's work on a cluster, too
    elsewhere = sum(seconds for name, seconds in costs.seconds.items() if name not in ("reading", *CLUSTER_STAGES))
    largest = max(-(-costs.pages // cores), sampled)
    tried = costs.sample.disk + costs.sample.parts
    return ClusterCosts(
        pages=costs.pages,
        html_bytes=costs.html_bytes,
        cores=cores,
        reading_core_hours=reading,
        reading_hours=reading / cores,
        shard_core_hours=elsewhere / 3600,
        clusters_hours=of_sample / 3600,
        sampled=sampled,
        task_memory=round(_scale(costs, costs.sample.memory, costs.memory, largest)),
        task_disk=round(_scale(costs, tried, costs.disk_meanwhile, largest)),
        parts=costs.disk_meanwhile - costs.disk,
        collection=costs.disk,
        sample=costs.sample,
    )


def _scale(costs: BuildCosts, tried: float, whole: float, pages: int) -> float:
    """Return a cost for so many pages, on the line between that of the trial and that of the whole."""
    grown = costs.pages - costs.sample.pages
    return tried + (whole - tried) * min(max((pages - costs.sample.pages) / grown, 0.0), 1.0) if grown > 0 else whole


WEBKB = (
    Trial(
        source_bytes=6_291_531, pages=3_160, html_bytes=16_895_279, disk=101_749_785, parts=11_621_631,
        memory=315_125_760,
        seconds={
            "reading": 1.40, "merging": 0.12, "words": 0.09, "windows": 0.09, "bags": 0.29, "weighing": 0.11, "signing": 0.24,
            "lists": 0.39, "forms": 0.13, "postings": 0.14, "neighbours": 0.39, "clusters": 0.69, "names": 5.20, "topics": 0.19,
            "label": 0.94, "saving": 0.02,
        },
    ),
    Trial(
        source_bytes=15_887_491, pages=8_192, html_bytes=41_933_692, disk=224_262_346, parts=27_676_628,
        memory=462_786_560,
        seconds={
            "reading": 3.18, "merging": 0.30, "words": 0.12, "windows": 0.17, "bags": 0.74, "weighing": 0.23, "signing": 0.50,
            "lists": 1.00, "forms": 0.29, "postings": 0.33, "neighbours": 1.79, "clusters": 2.25, "names": 9.81, "topics": 0.51,
            "label": 1.34, "saving": 0.02,
        },
    ),
)  # fmt: skip
"""What samples of WebKB took: processor seconds of one thread, 2026, an x86-64 server of two cores."""


def usual_costs(pages: int) -> BuildCosts:
    """Return the costs on one core for this many pages, if they are like those of WebKB."""
    return carry_on_trials(*WEBKB, pages)
