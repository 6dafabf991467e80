"""conform.py FROZEN CURRENT: whether the current schema only grew, where `flatc --conform` does not look.

flatc compares types, ids and defaults of the fields that both schemas have. Here: no declaration, field or member of the
frozen one is gone or renamed, structs are equal, enums and unions grow at the end, and what was required still is.
"""

import re
import sys

DECLARATION = re.compile(r"(table|struct|enum|union)\s+(\w+)[^{]*\{(.*?)\}", re.DOTALL)


def declarations(path):
    """{(kind, name): [its fields or members, without comments and blanks]}."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"//[^\n]*", "", file.read())
    found = {}
    for kind, name, body in DECLARATION.findall(text):
        parts = body.split(";" if kind in ("table", "struct") else ",")
        found[kind, name] = [" ".join(part.split()) for part in parts if part.strip()]
    return found


def differences(frozen, current):
    """Sentences."""
    for (kind, name), old in frozen.items():
        new = current.get((kind, name))
        if new is None:
            yield f"{kind} {name} is gone"
        elif kind == "table":
            yield from (f"table {name}: '{field}' is gone or changed" for field in old if field not in new)
        elif kind == "struct" and new != old:
            yield f"struct {name} changed: structs never do, a successor gets a new name"
        elif kind in ("enum", "union") and new[: len(old)] != old:
            yield f"{kind} {name}: members are gone, renamed or not at the end"


if __name__ == "__main__":
    wrong = list(differences(declarations(sys.argv[1]), declarations(sys.argv[2])))
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)
