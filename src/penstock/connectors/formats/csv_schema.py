"""The schema of a CSV file: its columns, separators and quotes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from penstock.core.config.compat import warn_once
from penstock.core.errors import ProgramError
from penstock.core.types.type_info import TypeInformation, Types

__all__ = ["CsvColumn", "CsvDialect", "CsvSchema", "CsvSchemaBuilder"]


@dataclass(frozen=True, slots=True)
class CsvDialect:
    """The marks of a CSV text; `quote` and `escape` None: there is none."""

    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None
    null: str | None = None
    comments: bool = False
    line_end: str = "\n"

    def python(self) -> dict[str, Any]:
        """The same for Python's `csv`."""
        import csv

        return {
            "delimiter": self.delimiter,
            "quotechar": self.quote,
            "escapechar": self.escape,
            "quoting": csv.QUOTE_NONE if self.quote is None else csv.QUOTE_MINIMAL,
            "lineterminator": self.line_end,
        }


@dataclass(frozen=True, slots=True)
class CsvColumn:
    """A column; `separator` parts the elements of an array ("": it is one element)."""

    name: str
    type_info: TypeInformation
    separator: str | None = None


@dataclass(frozen=True, slots=True)
class CsvSchema:
    """Columns and marks of a CSV file.

    >>> schema = CsvSchema.builder().add_number_column("id").add_string_column("name").build()
    >>> len(schema), schema.type_info.field_names
    (2, ('id', 'name'))
    """

    columns: tuple[CsvColumn, ...]
    dialect: CsvDialect = CsvDialect()
    use_header: bool = False
    strict_headers: bool = False
    skip_first_row: bool = False
    extra_columns: str | None = None

    @staticmethod
    def builder() -> CsvSchemaBuilder:
        """Begin a schema."""
        return CsvSchemaBuilder()

    @property
    def type_info(self) -> TypeInformation:
        """The type of the rows."""
        return Types.ROW_NAMED([c.name for c in self.columns], [c.type_info for c in self.columns])

    def size(self) -> int:
        """The number of columns."""
        return len(self.columns)

    def __len__(self) -> int:
        return len(self.columns)


@dataclass(slots=True)
class CsvSchemaBuilder:
    """Builds a `CsvSchema`."""

    _columns: list[CsvColumn] = field(default_factory=list)
    _schema: CsvSchema = CsvSchema(())

    def build(self) -> CsvSchema:
        """The finished schema."""
        names = [c.name for c in self._columns]
        if twice := sorted({n for n in names if names.count(n) > 1}):
            raise ProgramError(f"CsvSchema: column {twice[0]!r} is there twice")
        if self._schema.strict_headers and not self._schema.use_header:
            warn_once("CsvSchemaBuilder.set_strict_headers")
        return replace(self._schema, columns=tuple(self._columns))

    def _add(self, name: str, info: TypeInformation, separator: str | None = None) -> CsvSchemaBuilder:
        self._columns.append(CsvColumn(name, info, separator))
        return self

    def add_array_column(
        self, name: str, separator: str = ";", element_type: TypeInformation | None = None
    ) -> CsvSchemaBuilder:
        """A column of elements (strings unless said otherwise) with a separator between them."""
        return self._add(name, Types.LIST(element_type or Types.STRING()), separator)

    def add_boolean_column(self, name: str) -> CsvSchemaBuilder:
        """Add a column of true and false."""
        return self._add(name, Types.BOOLEAN())

    def add_number_column(self, name: str, number_type: TypeInformation | None = None) -> CsvSchemaBuilder:
        """A column of numbers, `LONG` unless said otherwise."""
        return self._add(name, number_type or Types.LONG())

    def add_string_column(self, name: str) -> CsvSchemaBuilder:
        """Add a column of text."""
        return self._add(name, Types.STRING())

    def add_columns_from(self, schema: CsvSchema) -> CsvSchemaBuilder:
        """Add the columns of another schema."""
        self._columns.extend(schema.columns)
        return self

    def clear_columns(self) -> CsvSchemaBuilder:
        """Remove all columns."""
        self._columns.clear()
        return self

    def _set(self, **changes: Any) -> CsvSchemaBuilder:
        self._schema = replace(self._schema, **changes)
        return self

    def _mark(self, **changes: Any) -> CsvSchemaBuilder:
        return self._set(dialect=replace(self._schema.dialect, **changes))

    def set_allow_comments(self, allow: bool = True) -> CsvSchemaBuilder:
        """Lines that begin with `#` are left out."""
        return self._mark(comments=allow)

    def set_any_property_name(self, name: str) -> CsvSchemaBuilder:
        """Fields beyond the last column are tolerated, not kept."""
        return self._set(extra_columns=name)

    def _separators(self, separator: str, only: int | None = None) -> CsvSchemaBuilder:
        for i, column in enumerate(self._columns):
            if column.separator is not None and only in (None, i):
                self._columns[i] = replace(column, separator=separator)
        return self

    def disable_array_element_separator(self) -> CsvSchemaBuilder:
        """Read and write arrays as one element."""
        return self._separators("")

    def remove_array_element_separator(self, index: int) -> CsvSchemaBuilder:
        """Read and write the arrays of one column as one element."""
        return self._separators("", index)

    def set_array_element_separator(self, separator: str) -> CsvSchemaBuilder:
        """The separator of all array columns added so far."""
        return self._separators(separator)

    def set_column_separator(self, char: str) -> CsvSchemaBuilder:
        """The character between two columns; a comma by default."""
        return self._mark(delimiter=_single("Column separator", char))

    def disable_escape_char(self) -> CsvSchemaBuilder:
        """No character escapes the next one; the default."""
        return self._mark(escape=None)

    def set_escape_char(self, char: str) -> CsvSchemaBuilder:
        """The character that takes its meaning from the next one."""
        return self._mark(escape=_single("Escape char", char))

    def set_line_separator(self, separator: str) -> CsvSchemaBuilder:
        """For writing; on reading \\n and \\r\\n end a line."""
        return self._mark(line_end=separator)

    def set_null_value(self, null_value: str) -> CsvSchemaBuilder:
        """The text that means None. Without it an empty field is None unless its column holds strings."""
        return self._mark(null=null_value)

    def disable_quote_char(self) -> CsvSchemaBuilder:
        """No quotes, so no line ends inside of fields: blocks of a file can be read in parallel."""
        return self._mark(quote=None)

    def set_quote_char(self, char: str) -> CsvSchemaBuilder:
        """The character around text that holds separators; a double quote by default."""
        return self._mark(quote=_single("Quote char", char))

    def set_skip_first_data_row(self, skip: bool = True) -> CsvSchemaBuilder:
        """Leave out the first row (after the header, if there is one) of every file."""
        return self._set(skip_first_row=skip)

    def set_strict_headers(self, strict: bool = True) -> CsvSchemaBuilder:
        """Refuse a file whose header does not name these columns, in this order; needs `set_use_header`."""
        return self._set(strict_headers=strict)

    def set_use_header(self, use: bool = True) -> CsvSchemaBuilder:
        """The first line of a file names its columns. It is skipped: columns are taken by position, as in PyFlink."""
        return self._set(use_header=use)

    def size(self) -> int:
        """The number of columns so far."""
        return len(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


def _single(what: str, char: str) -> str:
    if len(char) != 1:
        raise ValueError(f"{what} must be a single char, got {char}")
    return char
