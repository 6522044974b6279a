# SPDX-License-Identifier: BSD-3-Clause
"""What the Fortran modules offer: procedures with their kind and arguments, and other names.

The comment above a procedure begins with its kind, Collective, One-sided or Local, unless that of
the C function that does the work says it.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "c_api"))
import c_functions  # noqa: E402 (the line above finds it)

MODULES = sorted((c_functions.ROOT / "fortran" / "modules").glob("*.f90"))

TYPE = re.compile(r"^  type(?:, extends\((\w+)\))? :: (tessera_\w+)\n(.*?)^  end type", re.M | re.S)
BOUND = re.compile(r"^    (?:procedure|generic) :: (\w+)", re.M)
PROCEDURE = re.compile(r"^  (?:function|subroutine) (tessera_\w+)\(", re.M)
COMMENTED = re.compile(r"((?:^  !>.*\n)+)^  (?:\w+ )*?(?:subroutine|function) (\w+)\(", re.M)
SPECIFIC = re.compile(r"^    procedure(?:, private)? :: (\w+)(?: => (\w+))?$", re.M)
GENERIC = re.compile(r"^    generic :: (\w+) => (.*)$", re.M)
CONTINUED = re.compile(r"&\n\s*")
DEFINITION = re.compile(r"^  (?:\w+ )*?(?:subroutine|function) (\w+)\(([^)]*)\)(?: result\((\w+)\))?\n"
                        r"(.*?)^  end (?:subroutine|function)", re.M | re.S)
DECLARATION = re.compile(r"^    (\w[^:\n]*(?:\(:\)[^:\n]*)?) :: (.*)$", re.M)
NAME = re.compile(r"\w+")
# Components that are only for the library's files.
INNER = {"tessera_reachable": "tessera_array"}
# assignment(=) exists only to be refused.
NOT_CALLED = {"assignment"}


def declarations(body):
    """What is declared of each name: a type, and attributes."""
    found = {}
    for attributes, names in DECLARATION.findall(body):
        for name in NAME.findall(names):
            found[name] = attributes
    return found


def kind_of(attributes):
    """int32, real64, logical, text; nothing of other types."""
    kind = re.match(r"(?:integer|real)\(((?:int|real)\d+)\)|(logical)|(character)", attributes)
    return kind and (kind[1] or kind[2] or "text")


def argument(name, attributes, kinds):
    """A name, a star if it is changed, and its kind where that isn't the default one, or all of its
    kinds."""
    is_changed = re.search(r"intent\((?:in)?out\)", attributes)
    kind = re.match(r"\w+\((\w+64)\)", attributes)
    text = kinds.get(name) or (kind and kind[1])
    return name + ("*" if is_changed else "") + (f":{text}" if text else "")


def value_text(result, declared, body):
    """The type of a function's value."""
    is_list = re.search(rf":: [^\n]*\b{result}\(:\)", body)
    kind = re.match(r"\w+(?:\([\w:]+\))?", declared[result])[0]
    return f"→ {kind.replace('character(:)', 'text')}{', a list' if is_list else ''}"


def kinds_of(definitions):
    """The kinds of the arguments that have several in the specific procedures of a generic one."""
    found = {}
    for names, _, body in definitions:
        declared = declarations(body)
        for name in NAME.findall(names):
            found.setdefault(name, []).append(kind_of(declared[name]))
    return {name: "/".join(kinds) for name, kinds in found.items()
            if len(set(kinds)) > 1 and all(kinds)}


def signature(definition, is_bound, kinds=None):
    """The arguments of a procedure except stat and errmsg, as a row has them."""
    names, result, body = definition
    declared = declarations(body)
    # agree() takes what other procedures return.
    is_report = "(inout)" not in declared.get("stat", "")
    names = [name for name in NAME.findall(names)
             if not (is_report and name in ("stat", "errmsg"))]
    own = names.pop(0) if is_bound else None
    optional = [name for name in names if "optional" in declared[name]]
    needed = [argument(name, declared[name], kinds or {}) for name in names
              if name not in optional]
    text = ", ".join(needed)
    if optional:
        given = ", ".join(argument(name, declared[name], kinds or {})
                          for name in optional)
        text += f" [, {given}]" if needed else f"[{given}]"
    if own and "(inout)" in declared[own]:
        text = f"self*; {text}" if text else "self*"
    return " ".join(part for part in (text, value_text(result, declared, body) if result else "")
                    if part)


def definitions(text):
    """What the module's procedures are defined by: arguments, result, declarations."""
    text = CONTINUED.sub("", text)
    return {name: (names, result, body) for name, names, result, body in DEFINITION.findall(text)}


class Procedure(NamedTuple):
    kind: str    # that its comment says: C, 1 or L; empty where it doesn't
    texts: list  # of its arguments, one for each form


def kinds(text):
    """What the comments of a module say of its procedures."""
    found = {}
    for comment, name in COMMENTED.findall(CONTINUED.sub("", text)):
        kind = c_functions.KINDS.match(comment.replace("!>", "").strip())
        found[name] = c_functions.LETTERS[kind[0]] if kind else ""
    return found


def procedure(inner, defined, said, is_bound):
    """Of one form or several; of several the first that has a comment says the kind."""
    kind = next((said[name] for name in inner if said.get(name)), "")
    several = kinds_of([defined[name] for name in inner]) if is_bound else {}
    return Procedure(kind, sorted({signature(defined[name], is_bound, several) for name in inner}))


def of_type(body, defined, said):
    """The procedures of a type: a generic one has several forms."""
    body = CONTINUED.sub("", body)
    specific = {name: inner or name for name, inner in SPECIFIC.findall(body)}
    found = {name: [inner] for name, inner in specific.items()}
    found |= {name: [specific.get(inner, inner) for inner in NAME.findall(inners)]
              for name, inners in GENERIC.findall(body)}
    public = set(BOUND.findall(body)) - NOT_CALLED
    return {name: procedure(found[name], defined, said, True) for name in public}


def procedures():
    """The names that programs use, type%procedure and procedures of their own."""
    found = {}
    for path in MODULES:
        text = path.read_text()
        defined, said = definitions(text), kinds(text)
        found |= {name: procedure([name], defined, said, False) for name in PROCEDURE.findall(text)}
        for _, name, body in TYPE.findall(text):
            found |= {f"{INNER.get(name, name)}%{bound}": bound_procedure
                      for bound, bound_procedure in of_type(body, defined, said).items()}
    return found


def other_names():
    """Types, and constants that programs use."""
    text = "\n".join(CONTINUED.sub("", path.read_text()) for path in MODULES)
    constants = "\n".join(re.findall(r", parameter, public :: (.*)$", text, re.M))
    return {name for _, name, _ in TYPE.findall(text)} | set(NAME.findall(constants))
