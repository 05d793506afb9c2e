"""Write tables as files: Parquet, CSV or JSON lines, row by row, all or nothing."""

import csv
import json
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from pagekin.collection.tables import Table, require_package
from pagekin.errors import PagekinError
from pagekin.store import fresh_file

TABLE_SUFFIXES = (".parquet", ".csv", ".jsonl")
_EVERY = 1_000


class TableFileError(PagekinError):
    """A table that cannot be written as asked; the message says why."""

    fault = "usage"


def check_table_file(path: Path, suffixes: tuple[str, ...] = TABLE_SUFFIXES) -> None:
    """Refuse a file name whose ending is no supported format, or whose format needs a missing package."""
    if path.suffix not in suffixes:
        raise TableFileError(f"{path} must end in one of {', '.join(suffixes)}, which chooses the format")
    if path.suffix == ".parquet":
        require_package("pyarrow.parquet", "Parquet")


def write_table(table: Table, path: Path, tell: Callable[[int], None] = lambda _rows: None) -> int:
    """Write a table in the format of the name's ending; return the number of rows. `tell` receives it from time to time."""
    check_table_file(path)
    write = {".parquet": _write_parquet, ".csv": _write_csv, ".jsonl": _write_json_lines}[path.suffix]
    with fresh_file(path) as file:
        return write(table, file, tell)


def print_csv(table: Table, file: IO[bytes]) -> None:
    """Write a table as CSV to a file that is open, such as standard output."""
    _write_csv(table, file, lambda _rows: None)


def _write_parquet(table: Table, file: IO[bytes], tell: Callable[[int], None]) -> int:
    rows = 0
    with require_package("pyarrow.parquet", "Parquet").ParquetWriter(file, table.schema()) as writer:
        for batch in table.batches():
            writer.write_batch(batch)
            rows += batch.num_rows
            tell(rows)
    return rows


def _write_csv(table: Table, file: IO[bytes], tell: Callable[[int], None]) -> int:
    """Write a header and a line for each row; join lists by spaces, and write times as in ISO 8601."""
    lines = _EncodedFile(file)
    writer = csv.DictWriter(lines, table.columns)
    writer.writeheader()
    rows = 0
    for row in _rows_with_progress(table, tell):
        writer.writerow({name: _plain(value) for name, value in row.items()})
        rows += 1
    return rows


def _write_json_lines(table: Table, file: IO[bytes], tell: Callable[[int], None]) -> int:
    rows = 0
    for row in _rows_with_progress(table, tell):
        text = json.dumps(row, ensure_ascii=False, default=_plain)
        file.write(text.encode("utf-8", "surrogatepass") + b"\n")
        rows += 1
    return rows


def _rows_with_progress(table: Table, tell: Callable[[int], None]) -> Iterator[dict[str, Any]]:
    for number, row in enumerate(table.rows()):
        if number % _EVERY == 0:
            tell(number)
        yield row


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else value


class _EncodedFile:
    """A file of bytes that takes text."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write text as UTF-8."""
        return self._file.write(text.encode("utf-8", "surrogatepass"))
