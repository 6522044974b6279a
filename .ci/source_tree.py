# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the checkers of this folder: the list of files, a scanner for C++ and the report."""

import argparse
import os
import sys
from pathlib import Path

LAYERS = ("rma", "arrays", "linalg", "fortran", "apps", "bench", "tests")
LIBRARIES = ("rma", "arrays", "linalg", "fortran")
CPP_SUFFIXES = (".hpp", ".cpp", ".h", ".c", ".inl")


def parse_arguments(description):
    """The arguments that all checkers have: the root of the tree."""
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent,
                        help="the tree to check (default: the one that holds this script)")
    return parser.parse_args()


def is_build_folder(name):
    return name == "build" or name.startswith("build-")


def all_files(root):
    """Every file of the tree as a path relative to it, sorted, without build folders and .git."""
    found = []
    for folder, subfolders, names in os.walk(root):
        here = Path(folder).relative_to(root)
        subfolders[:] = [s for s in subfolders if not is_build_folder(s)
                         and s not in (".git", ".cache", "__pycache__")]
        found += [here / name for name in names]
    return sorted(found)


def cpp_files(root):
    """The C and C++ sources of the layers and of docs/examples."""
    return [f for f in all_files(root)
            if f.suffix in CPP_SUFFIXES and f.parts[0] in LAYERS + ("docs",)]


def read(root, path):
    return (root / path).read_text(encoding="utf-8", errors="replace")


def _string_end(text, at):
    """The index after the string or character literal that opens at text[at]."""
    quote = text[at]
    i = at + 1
    while i < len(text) and text[i] not in (quote, "\n"):
        i += 2 if text[i] == "\\" else 1
    return min(i + 1, len(text))


def _raw_string_end(text, at):
    """The index after the raw string whose quote is text[at], after an R."""
    opening = text.find("(", at)
    if opening < 0:
        return len(text)
    closing = text.find(")" + text[at + 1:opening] + '"', opening)
    return len(text) if closing < 0 else closing + (opening - at) + 1


def _blank(part):
    return "".join(c if c == "\n" else " " for c in part)


def blank(text, keep_strings=False):
    """The text with its comments replaced by blanks, and its literals, too, unless `keep_strings`.

    Lines and columns do not change. Literals keep their quotes.
    """
    out = []
    i = 0
    while i < len(text):
        c = text[i]
        before = text[i - 1] if i else " "
        if text.startswith("//", i):
            end = text.find("\n", i)
            end = len(text) if end < 0 else end
            out.append(_blank(text[i:end]))
        elif text.startswith("/*", i):
            end = text.find("*/", i + 2)
            end = len(text) if end < 0 else end + 2
            out.append(_blank(text[i:end]))
        elif c == '"' or (c == "'" and not before.isalnum()):
            raw = c == '"' and before == "R"
            end = _raw_string_end(text, i) if raw else _string_end(text, i)
            whole = text[i:end]
            out.append(whole if keep_strings else c + _blank(whole[1:-1]) + whole[-1:])
        else:
            end = i + 1
            out.append(c)
        i = end
    return "".join(out)


def comments(text):
    """The text with everything but its comments replaced by blanks."""
    code = blank(text, keep_strings=True)
    return "".join(t if c == " " or t == "\n" else " " for t, c in zip(text, code))


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


class Report:
    """Collects violations, prints each as `file:line: rule: sentence`, and gives the exit code."""

    def __init__(self, name):
        self.name = name
        self.violations = set()
        self.warnings = set()

    def violation(self, path, line, rule, sentence):
        self.violations.add((str(path), line, rule, sentence))

    def warning(self, path, line, rule, sentence):
        self.warnings.add((str(path), line, rule, sentence))

    def finish(self):
        for path, line, rule, sentence in sorted(self.warnings):
            print(f"{path}:{line}: warning: {rule}: {sentence}")
        for path, line, rule, sentence in sorted(self.violations):
            print(f"{path}:{line}: {rule}: {sentence}")
        print(f"{self.name}: {len(self.violations)} violations, {len(self.warnings)} warnings")
        sys.exit(1 if self.violations else 0)
