"""The tasks of a build on Spark: split files, read groups of units into parts, run the stages of shards.

Tasks take and give rows of Arrow batches. What is large lies in the job's folder, on a shared disk or in an object store: the
parts, as archives, under names that no other attempt has, and for each group that was read to its end a record that names
its parts. The record is written last, so a group is either read or not; whoever finds the record does not read again.
"""

import contextlib
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, groupby
from pathlib import Path
from typing import Any, NamedTuple

from pagekin import __version__
from pagekin.engines.corpus_stages import fetch_part, upload_part
from pagekin.engines.job_folder import JobFolder
from pagekin.engines.local import BuildRecipe, build_collection
from pagekin.engines.local_shards import ROOMS
from pagekin.engines.shard_plan import note_parts, run_task
from pagekin.engines.shard_stages import ShardWork
from pagekin.errors import PagekinError
from pagekin.hypertext import ReadPlan, UnitsRead, code_digest, misplaced_files, read_units, units_key
from pagekin.sources import SourceError, Unit, plan_units
from pagekin.store import (
    MANIFEST,
    MissingFileError,
    Storage,
    StorageError,
    is_full,
    temporary_folder,
    upload_files,
)

FILES = "place long, source string, units string"
"""Sources by their places. Units are those that the driver planned; a task plans them where there are none."""
GROUPS = "id long, spread int, source string, units string, error string"
"""Units that one task reads, in the order of `id`; `spread` numbers tasks, and `error` says why there are none."""
READS = "id long, source string, record string, error string"
"""Groups that were read; the record names the parts."""
BUILT = "number int, result string"
"""What came of a task, by its number, as JSON."""
MOST_GROUPS = 1 << 24
"""Groups of one source."""
_STRIDE = 7
"""Tasks between the first groups of two sources, so that large ones do not meet in one task."""
_SHOWN = 20
"""Files that could not be read which a message names."""


@dataclass(frozen=True)
class Job:
    """The description of a build that every task gets."""

    plan: ReadPlan
    recipe: BuildRecipe
    shards: int
    out: str
    """The address of the collection."""
    folder: str
    """The address of the folder of this job, in which parts lie."""
    task_bytes: int
    max_failed_files: int
    attempts: int
    """How often Spark starts a task before it gives up."""
    number: str
    """What tells this job from others that go on from the same parts."""
    version: str = __version__


class _UnreadError(Exception):
    """An unreadable source; the message says why."""


class WrongVersionError(Exception):
    """Workers with another version of Pagekin than the driver."""


class HiddenFolderError(Exception):
    """Workers that do not see the folder of the job as the driver does."""


@contextlib.contextmanager
def announced(job: Job) -> Iterator[None]:
    """Leave a mark in the job's folder while tasks run, by which they know that they see the same folder."""
    store = Storage(job.folder)
    store.write(_mark(job), b"")
    try:
        yield
    finally:
        with contextlib.suppress(StorageError):  # why the job fails is what counts
            store.remove(_mark(job))


def _mark(job: Job) -> str:
    return f"started-{job.number}"


def _job_rows(job: Job, batches: Iterator[Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of batches, after checking that the worker has the driver's version and sees its folder."""
    _require_version(job.version)
    try:
        Storage(job.folder).read(_mark(job))
    except MissingFileError:
        raise HiddenFolderError(
            f"a worker does not see what the driver wrote to {job.folder}; "
            "the collection must be in a folder that all machines see under the same path, or in an object store"
        ) from None
    for batch in batches:
        yield from batch.to_pylist()


def _require_version(version: str) -> None:
    if version != __version__:
        raise WrongVersionError(
            f"workers have Pagekin {__version__}, but the driver has {version}; install the same version"
        )


def _batch(schema: str, **values: Any) -> Any:
    """Return a batch of one row."""
    import pyarrow as pa

    kinds = {"int": pa.int32(), "long": pa.int64(), "string": pa.string()}
    fields = [pa.field(*_field(column, kinds)) for column in schema.split(", ")]
    return pa.RecordBatch.from_pylist([values], schema=pa.schema(fields))


def _field(column: str, kinds: dict[str, Any]) -> tuple[str, Any]:
    name, kind = column.split()
    return name, kinds[kind]


def pack_units(units: Sequence[Unit]) -> str:
    """Return units as JSON."""
    return json.dumps([asdict(unit) for unit in units])


def unpack_units(text: str) -> list[Unit]:
    """Return units from JSON."""
    return [Unit(**{**said, "files": tuple(said["files"])}) for said in json.loads(text)]


def _reason(error: Exception, job: Job) -> str:
    """Return why a file cannot be read; raise errors that may pass, as long as Spark would retry."""
    from pyspark import TaskContext

    context = TaskContext.get()
    tried = context.attemptNumber() + 1 if context else job.attempts
    if not isinstance(error, SourceError | MissingFileError) and tried < job.attempts:
        raise error
    return str(error)


def plan_files(job: Job, batches: Iterator[Any]) -> Iterator[Any]:
    """Split files into units, and group neighbouring units into groups of about equal bytes."""
    for row in _job_rows(job, batches):
        place, source = int(row["place"]), str(row["source"])
        first = place * MOST_GROUPS
        try:
            units = unpack_units(row["units"]) if row["units"] else plan_units([source], {})
        except (SourceError, StorageError) as error:
            yield _batch(GROUPS, id=first, spread=place * _STRIDE, source=source, units="[]", error=_reason(error, job))
            continue
        for number, group in enumerate(_group(units, job.task_bytes)):
            spread = place * _STRIDE + number
            yield _batch(GROUPS, id=first + number, spread=spread, source=source, units=pack_units(group), error="")


def _group(units: Sequence[Unit], size: int) -> Iterator[list[Unit]]:
    group: list[Unit] = []
    for unit in units:
        if group and sum(one.weight for one in group) + unit.weight > size:
            yield group
            group = []
        group.append(unit)
    if group:
        yield group


def read_groups(job: Job, batches: Iterator[Any]) -> Iterator[Any]:
    """Read groups of units into parts in the job folder, unless an earlier attempt did so."""
    store = Storage(job.folder)
    for row in _job_rows(job, batches):
        record, error = "", str(row["error"])
        if not error:
            try:
                record = _read_once(job, store, unpack_units(row["units"]))
            except _UnreadError as problem:
                error = str(problem)
        yield _batch(READS, id=row["id"], source=row["source"], record=record, error=error)


@contextlib.contextmanager
def _translate_errors(job: Job) -> Iterator[None]:
    """Raise an `_UnreadError` for unreadable sources, but not for an unwritable folder."""
    try:
        yield
    except (SourceError, StorageError, OSError) as error:
        if is_full(error):
            raise
        raise _UnreadError(_reason(error, job)) from error


def _read_once(job: Job, store: Storage, units: Sequence[Unit]) -> str:
    """Return the record of a group, reading the group if there is none."""
    with _translate_errors(job):
        name = f"read/{units_key(job.plan, units)}.json"
    with contextlib.suppress(MissingFileError):
        return store.read(name).decode()
    with temporary_folder("spark") as folder:
        with _translate_errors(job):
            read = read_units(job.plan, units, folder)
        for part, _items in read.parts:
            upload_part(part, f"{job.folder}/parts")
    said = {
        "units": [asdict(unit) for unit in units],
        "parts": [(part.name, items) for part, items in read.parts],
        "ends": read.ends,
    }
    record = json.dumps(said)
    store.write(name, record.encode())
    return record


def _units_of(record: dict[str, Any]) -> list[Unit]:
    return [Unit(**{**said, "files": tuple(said["files"])}) for said in record["units"]]


def build_from_parts(job: Job, batches: Iterator[Any]) -> Iterator[Any]:
    """Build the collection of all parts with the local engine; for shards, record the parts.

    In one piece it goes to its place, but for the manifest. When Spark asks again, because the worker died on which it was
    made, what was made is named again.
    """
    rows = sorted(_job_rows(job, batches), key=lambda row: int(row["id"]))
    store, name = Storage(job.folder), f"built/{job.number}.json"
    try:
        result = json.loads(store.read(name))
    except MissingFileError:
        result = _build_or_refuse(job, rows)
        store.write(name, json.dumps(result).encode())
    yield _batch(BUILT, number=0, result=json.dumps(result))


def _build_or_refuse(job: Job, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the build's report, or why it would fail again."""
    failed = {row["source"]: row["error"] for row in rows if row["error"]}
    records = [row["record"] for row in rows if row["source"] not in failed]
    if len(failed) > job.max_failed_files or not records:
        shown = "\n  ".join(list(failed.values())[:_SHOWN])
        many = f"{len(failed):,} of {len({row['source'] for row in rows}):,} files could not be read"
        return {"unread": True, "error": f"{many}; --max-failed-files is {job.max_failed_files:,}.\n  {shown}"}
    build = _plan_stages if job.shards > 1 else _build
    try:
        return {**build(job, records), "failed": failed}
    except PagekinError as error:
        if error.fault == "ours" or error.may_pass:
            raise
        return {"unread": False, "error": str(error)}


def _build(job: Job, records: Sequence[str]) -> dict[str, Any]:
    """Build in a temporary folder on this machine; return the report with the manifest."""
    with temporary_folder("spark") as folder:
        units, reads = _fetch_parts(job, [json.loads(record) for record in records], folder)
        built = folder / Path(job.out).name  # the label has this name
        plan = replace(job.plan, out=built, units=units, read_elsewhere=reads, workers=_processors(), replace=True)
        report = build_collection(plan, job.recipe)
        assert report.read is not None
        result: dict[str, Any] = {
            "seconds": report.seconds, "bytes_on_disk": report.bytes_on_disk,
            "units": report.read.units, "merging": report.read.merging,
        }  # fmt: skip
        upload_files(built, job.out)
        return {**result, "manifest": (built / MANIFEST).read_bytes().decode("utf-8", "surrogatepass")}


def _plan_stages(job: Job, records: Sequence[str]) -> dict[str, Any]:
    """Record the parts for the shards, unless an earlier job did; return the folder for results of stages."""
    work = replace(_work(job), folder=f"{job.folder}/stages-{_key(job, records)}")
    if not JobFolder(work.folder).find("parts", 0):
        listed = list_parts(job, records)
        note_parts(work, job.plan, sorted(listed.sources), listed.addresses, listed.units)
    return {"stages": work.folder, "units": JobFolder(work.folder).record("parts", 0).result["units"]}


class Listed(NamedTuple):
    """The parts of all groups."""

    sources: set[str]
    units: int
    addresses: list[str]


def list_parts(job: Job, records: Iterable[str]) -> Listed:
    """Return the parts that records name, given in the order of files, with the units of one file in memory at a time.

    A file that was cut where no record begins is read again here, in one piece.
    """
    listed = Listed(set(), 0, [])
    for path, some in groupby(map(json.loads, records), key=lambda record: str(record["units"][0]["path"])):
        of_file = list(some)
        units = [unit for record in of_file for unit in _units_of(record)]
        stops = dict(enumerate(stop for record in of_file for stop, _size in record["ends"]))
        if misplaced_files(units, stops):
            units = [Unit("warc", path, 0, units[-1].end)]
            of_file = [json.loads(_read_once(job, Storage(job.folder), units))]
        listed.sources.update(unit.where for unit in units)
        listed.addresses.extend(
            f"{job.folder}/parts/{name}.tar" for record in of_file for name, _items in record["parts"]
        )
        listed = listed._replace(units=listed.units + len(units))
    return listed


def _work(job: Job) -> ShardWork:
    return ShardWork(job.recipe, job.shards, job.out, job.folder)


def _key(job: Job, records: Sequence[str]) -> str:
    """Return a digest of the input of all stages: what was read, settings, code."""
    plan = [
        job.plan.all_captures, job.plan.strict, job.plan.parser, asdict(job.plan.limits), job.plan.content,
        job.plan.max_per_host,
    ]  # fmt: skip
    settings = [job.recipe.settings(), job.recipe.to_keep()]
    digest = hashlib.blake2b(digest_size=16)
    for said in ([__version__, code_digest(ROOMS)], plan, settings, [job.shards, job.out], *records):
        digest.update(json.dumps(said, sort_keys=True).encode() + b"\n")
    return digest.hexdigest()


def run_stage(
    work: ShardWork, version: str, stage: str, numbers: Sequence[int], batches: Iterator[Any]
) -> Iterator[Any]:
    """Run tasks of a stage, given their places among the numbers; yield their small results."""
    _require_version(version)
    for row in chain.from_iterable(batch.to_pylist() for batch in batches):
        number = numbers[int(row["id"])]
        try:
            left = run_task(work, stage, number, _processors())
            said: dict[str, Any] = {"result": left.result, "costs": left.costs}
        except PagekinError as error:
            if error.fault == "ours" or error.may_pass:
                raise
            said = {"error": str(error)}
        yield _batch(BUILT, number=number, result=json.dumps(said))


def _processors() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return max(1, context.cpus()) if context else 1


def _fetch_parts(
    job: Job, records: Sequence[dict[str, Any]], folder: Path
) -> tuple[tuple[Unit, ...], tuple[UnitsRead, ...]]:
    """Download all parts; return (the units, what was read of them)."""
    units: list[Unit] = []
    reads: list[UnitsRead] = []
    for record in records:
        units += _units_of(record)
        parts = tuple(
            (
                fetch_part(f"{job.folder}/parts/{name}.tar", folder),
                {int(place): count for place, count in items.items()},
            )
            for name, items in record["parts"]
        )
        reads.append(UnitsRead(parts, tuple((stop, size) for stop, size in record["ends"])))
    return tuple(units), tuple(reads)
