# SPDX-License-Identifier: BSD-3-Clause
"""What the headers of the C interface declare: the functions, with their kind and arguments.

The comment above a function, or above several without an empty line between them, begins with the
function's kind: Collective, One-sided or Local. Functions that a header defines are local.
"""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
HEADERS = sorted((ROOT / "fortran" / "c").glob("*.h"))

LETTERS = {"Collective": "C", "One-sided": "1", "Local": "L"}
KINDS = re.compile("|".join(LETTERS))
# A comment that has its lines to itself, or a function.
ITEM = re.compile(r"^/\*(?P<comment>.*?)\*/[ ]*$|"
                  r"^(?P<result>(?:static inline )?[a-z][\w ]*[* ]+)(?P<name>tessera_\w+)"
                  r"\((?P<arguments>[^()]*)\)[ ]*[;{]", re.M | re.S)
TRAILING = re.compile(r"(?<=\S)[ ]*/\*.*?\*/", re.S)


class Function(NamedTuple):
    kind: str       # C, 1 or L; empty where its comment doesn't say
    arguments: str  # as a row of docs/c-api.md has them
    result: str     # the type of its value
    is_inline: bool


def argument(text):
    """One argument, as the rules above the tables of docs/c-api.md say."""
    name = re.search(r"(\w+)(?:\[\d*\])?$", text)[1]
    kind = text[:text.rindex(name)].strip()
    base = re.sub(r"\bconst\b|\*", "", kind).strip()
    is_list, is_const = text.endswith("]"), kind.startswith("const ")
    # What the argument itself points to: of handles, texts and files the pointer is the thing.
    is_thing = base in ("char", "FILE") or f"typedef struct {base} {base};" in TEXTS
    stars = kind.count("*") - (1 if is_thing else 0)
    is_changed = base == "char" and not is_const or \
        (is_list or stars > 0) and not is_const
    shown = {"char": "text"}.get(base, base.removeprefix("tessera_").removesuffix("_t"))
    return ("&" if stars > 0 and is_const else "") + name + ("[]" if is_list else "") + \
        ("*" if is_changed else "") + ("" if shown in ("int64", "void", name) else f":{shown}")


def arguments_of(text):
    text = re.sub(r"\s+", " ", text).strip()
    return "" if text in ("", "void") else ", ".join(map(argument, re.split(r", ?", text)))


def value_text(result):
    """The value of a function, unless that is a code of errors or nothing."""
    base = result.removeprefix("static inline ").removesuffix("*").strip()
    shown = {"const char": "text", "int64_t": "int64"}.get(base, base.removeprefix("tessera_"))
    return "" if base in ("int", "void") else f"→ {shown}"


def functions():
    """All functions by their names, in the order of the headers."""
    found = {}
    for path in HEADERS:
        kind = ""
        for item in ITEM.finditer(TRAILING.sub("", path.read_text())):
            if item["comment"] is not None:
                kind = KINDS.match(item["comment"].strip())
                continue
            is_inline = item["result"].startswith("static")
            letter = "L" if is_inline else LETTERS[kind[0]] if kind else ""
            texts = (arguments_of(item["arguments"]), value_text(item["result"].strip()))
            found[item["name"]] = Function(letter, " ".join(filter(None, texts)),
                                           item["result"].strip(), is_inline)
    return found


TEXTS = "\n".join(path.read_text() for path in HEADERS)
