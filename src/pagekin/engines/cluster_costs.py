"""Estimate the costs of a build on Spark: the work spread over all cores, and the work of single tasks."""

from dataclasses import dataclass

from pagekin.engines.costs import BuildCosts, Trial, carry_on_trials

CLUSTER_STAGES = ("neighbours", "clusters", "joining", "names", "topics", "label")
"""Stages of the local engine that are the work of one task on a cluster, too."""


@dataclass(frozen=True)
class ClusterCosts:
    """The expected costs of a build on a cluster."""

    pages: int
    html_bytes: int
    cores: int
    reading_core_hours: float
    reading_hours: float
    """With all cores."""
    shard_core_hours: float
    """Of bags, links, signatures, lists and search indexes, which are made by shard."""
    merging_hours: float
    """Of the one task that makes the corpus of the parts, on one core."""
    clusters_hours: float
    """Of the one task that makes clusters and names beside the shards, on one core."""
    building_memory: int
    """Bytes of memory for each of these tasks."""
    building_disk: int
    """Bytes on the temporary disk of the machine that they run on."""
    parts: int
    """Bytes of the parts: what reading writes to the job's folder, and merging reads from it."""
    collection: int
    """Bytes of the collection."""
    sample: Trial

    @property
    def hours(self) -> float:
        """Return the wall-clock hours, with at least as many shards as cores."""
        spread = (self.shard_core_hours + self.clusters_hours) / self.cores
        return self.reading_hours + self.merging_hours + max(self.clusters_hours, spread)


def divide_costs(costs: BuildCosts, cores: int) -> ClusterCosts:
    """Return the costs on a cluster, from the costs on one core."""
    reading, merging = (costs.seconds.get(name, 0.0) / 3600 for name in ("reading", "merging"))
    clusters = sum(costs.seconds.get(name, 0.0) for name in CLUSTER_STAGES) / 3600
    return ClusterCosts(
        pages=costs.pages,
        html_bytes=costs.html_bytes,
        cores=cores,
        reading_core_hours=reading,
        reading_hours=reading / cores,
        shard_core_hours=costs.total_seconds / 3600 - reading - merging - clusters,
        merging_hours=merging,
        clusters_hours=clusters,
        building_memory=costs.memory,
        building_disk=costs.disk_meanwhile,
        parts=costs.disk_meanwhile - costs.disk,
        collection=costs.disk,
        sample=costs.sample,
    )


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
