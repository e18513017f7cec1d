"""Tables of columns: what a trace holds, without copies, for pandas, polars, DuckDB and NumPy."""
import ctypes
import html
from array import array
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

from . import _native

# Of a column's type: the code of array and memoryview, and the format of Arrow.
_TYPES = {"int64": ("q", "l"), "int32": ("i", "i"), "float64": ("d", "g"), "text": ("i", "i")}
_SHOWN_ROWS = 10
_Buffer = Union[memoryview, bytearray, "array[Any]"]


def _address(view: memoryview) -> int:
    """Where the bytes of a writable view are."""
    return ctypes.addressof(ctypes.c_char.from_buffer(view)) if view.nbytes else 0


class Column:
    """A column: numbers, or texts as numbers of a dictionary. None stands for an empty cell."""

    def __init__(self, name: str, type_: str, values: _Buffer, valid: Optional[_Buffer] = None,
                 nulls: int = 0, offsets: Optional[_Buffer] = None,
                 characters: Optional[_Buffer] = None) -> None:
        self.name = name
        self.type = type_
        self.nulls = nulls
        code = _TYPES[type_][0]
        self._values = memoryview(values).cast("B").cast(code)
        self._valid = memoryview(valid) if valid is not None else None
        self._offsets = memoryview(offsets).cast("B").cast("i") if offsets is not None else None
        self._characters = memoryview(characters) if characters is not None else None
        self._texts: Optional[List[str]] = None

    @classmethod
    def of(cls, name: str, values: Sequence[Any]) -> "Column":
        """A column of these values: texts, or numbers; None for an empty cell."""
        filled = [value for value in values if value is not None]
        nulls = len(values) - len(filled)
        valid = array("B", bytes((len(values) + 7) // 8))
        for row, value in enumerate(values):
            valid[row // 8] |= (value is not None) << row % 8
        if filled and all(isinstance(value, str) for value in filled):
            numbers = {text: number for number, text in enumerate(dict.fromkeys(filled))}
            characters = bytearray()
            offsets = array("i", [0])
            for text in numbers:
                characters += text.encode("utf-8", "replace")
                offsets.append(len(characters))
            codes = array("i", [-1 if value is None else numbers[value] for value in values])
            return cls(name, "text", codes, valid, nulls, offsets, characters)
        is_whole = all(isinstance(value, int) and -2**63 <= value < 2**63 for value in filled)
        numbers_of = array("q" if is_whole else "d", [value or 0 for value in values])
        return cls(name, "int64" if is_whole else "float64", numbers_of, valid, nulls)

    def __reduce__(self) -> Tuple[Any, ...]:
        """For copies and pickles, such as results of another process."""
        values, valid, offsets, characters = (
            bytearray(part) if part is not None else None
            for part in (self._values, self._valid, self._offsets, self._characters))
        return Column, (self.name, self.type, values, valid, self.nulls, offsets, characters)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def texts(self) -> List[str]:
        """The dictionary of a column of texts."""
        if self._texts is None:
            offsets, characters = self._offsets, self._characters
            assert offsets is not None and characters is not None
            self._texts = [str(characters[start:end], "utf-8", "replace")
                           for start, end in zip(offsets, offsets[1:])]
        return self._texts

    def _is_valid(self, row: int) -> bool:
        return self._valid is None or self.nulls == 0 or bool(self._valid[row // 8] >> row % 8 & 1)

    def __getitem__(self, row: int) -> Any:
        row = range(len(self))[row]
        if not self._is_valid(row):
            return None
        value = self._values[row]
        return self.texts[value] if self.type == "text" else value

    def __iter__(self) -> Iterator[Any]:
        return (self[row] for row in range(len(self)))

    def to_list(self) -> List[Any]:
        """All values."""
        if self.nulls:
            return list(self)
        if self.type == "text":
            texts = self.texts
            return [texts[number] for number in self._values]
        return self._values.tolist()

    def to_numpy(self) -> Any:
        """An array without a copy; masked if cells are empty; of texts an array of str."""
        import numpy

        values = numpy.frombuffer(self._values, dtype=self._values.format)
        if self.type == "text":
            texts = numpy.array([*self.texts, ""], dtype=object)
            values = texts[values]
        values.flags.writeable = False
        return numpy.ma.MaskedArray(values, self._empty()) if self.nulls else values

    def _empty(self) -> Any:
        """A mask of the empty cells."""
        import numpy

        bits = numpy.unpackbits(numpy.frombuffer(self._valid, dtype="uint8"), bitorder="little")
        return bits[:len(self)] == 0

    def to_pandas(self) -> Any:
        """A categorical of texts; numbers, with pandas.NA for empty cells."""
        import numpy
        import pandas

        values = numpy.frombuffer(self._values, dtype=self._values.format)
        if self.type == "text":
            return pandas.Categorical.from_codes(values, self.texts)
        if not self.nulls:
            return values
        kind = pandas.arrays.FloatingArray if self.type == "float64" else pandas.arrays.IntegerArray
        return kind(values.copy(), self._empty())

    def arrow(self) -> Tuple[Any, ...]:
        """As _native.arrow_stream() takes it."""
        texts = None
        if self.type == "text":
            assert self._offsets is not None and self._characters is not None
            texts = (len(self._offsets) - 1, _address(self._offsets), _address(self._characters))
        valid = _address(self._valid) if self._valid is not None and self.nulls else 0
        return (self.name, _TYPES[self.type][1], self.nulls, valid, _address(self._values), texts)


class Table:
    """A table of columns. Times are in ns (``_ns``), sizes in bytes (``_bytes``).

    Pass it to ``pyarrow.table()``, ``polars.DataFrame()``, ``pandas.DataFrame.from_arrow()``
    (3.0), or name it in a query of DuckDB: they take it without a copy."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = {column.name: column for column in columns}

    @classmethod
    def of(cls, rows: Sequence[Dict[str, Any]], names: Sequence[str]) -> "Table":
        """A table of rows."""
        return cls([Column.of(name, [row.get(name) for row in rows]) for name in names])

    @property
    def columns(self) -> List[str]:
        """The names of the columns."""
        return list(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def __getitem__(self, name: str) -> Column:
        try:
            return self._columns[name]
        except KeyError:
            raise KeyError(f"no column {name!r}; the columns are: {', '.join(self._columns)}"
                           ) from None

    def rows(self) -> Iterator[Dict[str, Any]]:
        """The rows, one after the other."""
        for values in zip(*(column.to_list() for column in self._columns.values())):
            yield dict(zip(self._columns, values))

    def to_dict(self) -> Dict[str, List[Any]]:
        """A list for each column; None for an empty cell."""
        return {name: column.to_list() for name, column in self._columns.items()}

    def to_numpy(self, column: str) -> Any:
        """A column as an array, without a copy of numbers; masked where cells are empty."""
        return self[column].to_numpy()

    def to_pandas(self) -> Any:
        """A pandas.DataFrame: texts are categoricals, numbers with empty cells have pandas.NA."""
        import pandas

        return pandas.DataFrame({name: column.to_pandas()
                                 for name, column in self._columns.items()}, copy=False)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A capsule with a new stream; a requested schema is ignored, as the protocol allows."""
        return _native.arrow_stream(self, len(self), [column.arrow()
                                                      for column in self._columns.values()])

    def __repr__(self) -> str:
        return f"<gpuprof.Table: {len(self)} rows; {', '.join(self._columns)}>"

    def _repr_html_(self) -> str:
        def line(tag: str, cells: Sequence[Any]) -> str:
            return "<tr>" + "".join(
                f"<{tag}>{html.escape('' if cell is None else str(cell))}</{tag}>"
                for cell in cells) + "</tr>"

        shown = range(min(_SHOWN_ROWS, len(self)))
        body = "".join(line("td", [column[row] for column in self._columns.values()])
                       for row in shown)
        return (f"<table><thead>{line('th', self.columns)}</thead><tbody>{body}</tbody></table>"
                f"<p>{len(shown)} of {len(self)} rows</p>")
