"""Writes docs/onnx.md: which operators are imported, from which version of the operator set on.

./dev python tests/onnx/make_table.py
"""

import pathlib

import onnx

import ferrule.onnx  # noqa: F401  (registers the handlers)
from ferrule.onnx import registry

TABLE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "onnx.md"
HEAD = """# ONNX models

```python
import ferrule as fer, ferrule.onnx

program = ferrule.onnx.compile("encoder.onnx", shapes={"batch": fer.Dim("batch", min=1, max=32), "tokens": 128})
(hidden,) = fer.Session(program).run("main", ids)
program.save("encoder.fer")
```

    ferrule compile encoder.onnx -o encoder.fer --dim batch=1:32 --dim tokens=128

`ferrule.onnx.compile` gives a Program with the entry `main`; inputs and outputs have the model's names. `ferrule.onnx.load` gives a traced
function, which returns a dict of the outputs: it can be called, be a part of a larger function, and be trained (`function.weights` holds a
Parameter for each array of floats that the model stores, `function.specs` says what `fer.compile` needs to know of the inputs).
`ferrule.onnx.backend.Backend` is ONNX's own interface to a backend.

## Sizes

- `shapes={"x": (1, 3, 224, 224)}` gives an input its shape, `shapes={"batch": 8}` a size that the model names. A size is an int or a Dim; what
  stays open is a Dim without a maximum, for which memory is planned at `plan_at`.
- `values={"axes": array}` fixes an input on which shapes depend, so that it is no input any more.
- Arithmetic on shapes (`Shape`, `Gather`, `Concat`, `Mul`, ...) is done while importing, on numbers and on Dims. Where it meets the data, the
  import is refused and the message names the node and the input.

## Meaning

- The specification's meaning counts, also where Ferrule's own functions differ: integers divide towards zero, index results are int64.
  Operators whose meaning changed follow the model's version of the operator set.
- What a node computes rounds as Ferrule's operations do ([numerics.md](numerics.md)), in particular once for an operation on 16-bit floats.
- An operator that has no entry below and is a function of other operators, in the model or in the specification, is imported by its definition.
- Weights become variables under their names. `compile` does exporters' cutting and joining of weights (the gates of an LSTM) while
  importing; the variable then has the name of the result.
- All that cannot be imported is listed in one UnsupportedError: operator, node, how often, why.
- Element types: bool, signed and unsigned integers of 8 to 64 bits, float16, bfloat16, float32, float64. Strings, sequences, optional values,
  complex numbers, and types of 4 and 8 bits for floats are refused.

## Operators

Made by `./dev python tests/onnx/make_table.py` from the registry; a test fails when it is old. *Since* is the first version of the operator set
that an entry serves, up to {latest}. ONNX's node cases test them (`tests/onnx`).

| operator | since | limits |
|---|---|---|
"""


# Their definitions use operators that are not imported.
INCOMPLETE = ("Bernoulli", "SequenceMap")


def schemas():
    """{name: newest schema} of the default operator set, without what was removed from it."""
    newest = {schema.name: schema for schema in onnx.defs.get_all_schemas() if schema.domain == ""}
    return {name: schema for name, schema in sorted(newest.items()) if not schema.deprecated}


def make_table():
    """The text of docs/onnx.md."""
    entries = {}
    for handler in registry.handlers():
        entries.setdefault(handler.operator, []).append(handler)
    rows = []
    for name in sorted(entries):
        since = ", ".join(str(handler.since) for handler in entries[name])
        notes = "; ".join(dict.fromkeys(handler.note for handler in entries[name] if handler.note))
        rows.append(f"| {name} | {since} | {notes} |\n")
    others = {name: schema for name, schema in schemas().items() if name not in entries}
    defined = [
        name
        for name, schema in others.items()
        if (schema.has_function or schema.has_context_dependent_function) and name not in INCOMPLETE
    ]
    missing = [name for name in others if name not in defined]
    tail = (
        f"\nBy the definition that the specification gives: {', '.join(defined)}.\n\n"
        f"Not imported: {', '.join(missing)}.\n"
    )
    return HEAD.replace("{latest}", str(onnx.defs.onnx_opset_version())) + "".join(rows) + tail


if __name__ == "__main__":
    TABLE.write_text(make_table(), encoding="utf-8")
    print(TABLE)
