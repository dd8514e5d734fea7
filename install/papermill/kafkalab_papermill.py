"""Go for papermill: how the values of a run are written into a notebook whose cells are Go.

papermill finds this module by its entry point when it is installed (pip install WHEEL), and then
`papermill in.ipynb out.ipynb -p seed 11` works as it does for Python. The values are assigned, not
declared: a parameter keeps the type of its default, and one that the cell tagged "parameters" does not
declare is an error, not a misspelling without effect.
"""

import math
import re

from papermill.engines import NBClientEngine
from papermill.models import Parameter
from papermill.translators import Translator, papermill_translators

DECLARATION = re.compile(
    r"^(?:(?P<short>[^\W\d]\w*)\s*:=\s*|var\s+(?P<name>[^\W\d]\w*)\s*(?P<type>[^=/]*?)\s*(?:=\s*|(?=//|$)))"
    r"(?P<value>(?:\"(?:\\.|[^\"\\])*\"|`[^`]*`|'(?:\\.|[^'\\])*'|(?!//).)*?)\s*(?://\s*(?P<help>.*))?$"
)


class GoTranslator(Translator):
    """Writes parameters as Go."""

    @classmethod
    def translate_str(cls, val):
        """A Go string literal: Go reads JSON's escapes but for surrogates, so the text stays as it is."""
        plain = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
        return '"' + "".join(plain.get(c) or (c if c.isprintable() else f"\\U{ord(c):08x}") for c in val) + '"'

    @classmethod
    def translate_escaped_str(cls, str_val):
        return cls.translate_str(str(str_val))

    @classmethod
    def translate_none(cls, val):
        return "nil"

    @classmethod
    def translate_float(cls, val):
        if math.isnan(val):
            return "math.NaN()"
        if math.isinf(val):
            return "math.Inf(1)" if val > 0 else "math.Inf(-1)"
        return repr(val)

    @classmethod
    def element(cls, values):
        """The Go type that holds all the values."""
        values = list(values)
        for kind, name in ((bool, "bool"), (str, "string"), (int, "int"), ((int, float), "float64")):
            if values and all(isinstance(v, kind) and (kind is bool or not isinstance(v, bool)) for v in values):
                return name
        return "any"

    @classmethod
    def translate_list(cls, val):
        return f"[]{cls.element(val)}{{{', '.join(map(cls.translate, val))}}}"

    @classmethod
    def translate_dict(cls, val):
        fields = ", ".join(f"{cls.translate_str(str(k))}: {cls.translate(v)}" for k, v in val.items())
        return f"map[string]{cls.element(val.values())}{{{fields}}}"

    @classmethod
    def comment(cls, cmt_str):
        return f"// {cmt_str}".strip()

    @classmethod
    def inspect(cls, parameters_cell):
        """The parameters that a cell declares, one to a line: `name := value // help` or `var name type`."""
        found = []
        for line in parameters_cell["source"].splitlines():
            m = DECLARATION.match(line.strip())
            if m:
                found.append(Parameter(name=m["short"] or m["name"], inferred_type_name=(m["type"] or "").strip() or "None",
                                       default=m["value"].strip(), help=(m["help"] or "").strip()))
        return found


papermill_translators.register("go", GoTranslator)


class Engine(NBClientEngine):
    """papermill's own engine: papermill loads this module to get it."""
