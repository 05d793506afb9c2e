"""Answers as tables: rows for pandas and Arrow, and HTML for notebooks."""

from collections.abc import Iterator, Mapping
from html import escape
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, overload

from pagekin.errors import PagekinError
from pagekin.wording import format_measure, plural

Row = TypeVar("Row")
_SHOWN = 20
_BATCH = 20_000
_LONGEST_CELL = 200


class MissingPackageError(PagekinError):
    """An optional package is needed; the message says which."""

    fault = "usage"


def require_package(name: str, purpose: str) -> Any:
    """Return an optional package, or say how to get it."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingPackageError(
            f"{purpose} needs {name.partition('.')[0]}: pip install {name.partition('.')[0]}"
        ) from None


class Table:
    """Rows with named columns: `to_pandas`, `to_arrow`, and in a notebook shown as a table."""

    __slots__ = ()
    columns: ClassVar[Mapping[str, str]] = {}
    """The names of the columns and their types in Arrow."""

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each row by the names of its columns."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """Return the rows as a pandas DataFrame."""
        return require_package("pandas", "to_pandas").DataFrame(list(self.rows()), columns=list(self.columns))

    def to_arrow(self) -> Any:
        """Return the rows as an Arrow table."""
        return require_package("pyarrow", "to_arrow").Table.from_batches(self.batches(), self.schema())

    def schema(self) -> Any:
        """Return the columns as Arrow describes them."""
        arrow = require_package("pyarrow", "Arrow")
        kinds = {"strings": arrow.list_(arrow.string()), "moment": arrow.timestamp("s", "UTC")}
        return arrow.schema([(name, kinds.get(kind) or getattr(arrow, kind)()) for name, kind in self.columns.items()])

    def batches(self) -> Iterator[Any]:
        """Yield the rows as Arrow batches: memory for some of them, not for all."""
        arrow = require_package("pyarrow", "Arrow")
        schema, rows = self.schema(), self.rows()
        while some := list(islice(rows, _BATCH)):
            yield arrow.RecordBatch.from_pylist(some, schema)

    def _repr_html_(self) -> str:
        """Return the first rows as HTML, which notebooks show."""
        rows = list(islice(self.rows(), _SHOWN + 1))
        used = [name for name in self.columns if any(row.get(name) not in (None, "", [], ()) for row in rows)]
        head = "".join(f"<th>{escape(name)}</th>" for name in used)
        body = "".join(f"<tr>{''.join(_cell(row.get(name)) for name in used)}</tr>" for row in rows[:_SHOWN])
        more = f"<p>the first {_SHOWN} rows</p>" if len(rows) > _SHOWN else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


class ResultList(Table, Generic[Row]):
    """A table whose rows are `results`: iterate over them, take one or some, or print the first."""

    __slots__ = ()
    if TYPE_CHECKING:

        @property
        def results(self) -> tuple[Row, ...]:
            """Return the results."""

    def __iter__(self) -> Iterator[Row]:
        """Iterate over the results."""
        return iter(self.results)

    def __len__(self) -> int:
        """Return the number of results here, of all that there may be."""
        return len(self.results)

    def __bool__(self) -> bool:
        """Return True even without results, because an empty answer is an answer."""
        return True

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, place: int | slice) -> Row | tuple[Row, ...]:
        """Return one result, or some."""
        return self.results[place]

    def __repr__(self) -> str:
        """Return the first results as lines: score, title and address."""
        lines = [f"{row['score']:8.3f}  {row['title']}  {row['url']}" for row in islice(self.rows(), _SHOWN)]
        more = [f"... and {len(self) - _SHOWN} more"] if len(self) > _SHOWN else []
        return "\n".join([f"<{type(self).__name__}: {plural(len(self), 'result')}>", *lines, *more])


def _cell(value: Any) -> str:
    """Return a value as a cell: addresses as links, long texts cut."""
    if isinstance(value, float):
        return f"<td>{format_measure(value)}</td>"
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else "" if value is None else str(value)
    shown = escape(text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]} …")
    if text.startswith(("http://", "https://")):
        return f'<td><a href="{escape(text)}" rel="noreferrer">{shown}</a></td>'
    return f"<td>{shown}</td>"
