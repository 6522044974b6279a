# SPDX-License-Identifier: BSD-3-Clause
"""Finds functions and namespace-scope statements in C++ by counting braces, without a compiler.

It reads text that source_tree.blank() has cleaned. A function is a brace at namespace or class scope
whose head has a parameter list; lambdas belong to the function around them.
"""

import re
from dataclasses import dataclass

_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
_ATTRIBUTE = re.compile(r"\[\[.*?\]\]", re.DOTALL)
_ACCESS = re.compile(r"^(?:\s*(?:public|private|protected)\s*:(?!:))+")
_TEMPLATE = re.compile(r"^\s*template\s*<")
_SCOPE = re.compile(r"^\s*(?:inline\s+)?namespace\b|^\s*extern\s*\"\s*\"\s*$")
_CLASS = re.compile(r"^\s*(?:typedef\s+)?(?:class|struct|union)\b")
_ENUM = re.compile(r"^\s*(?:typedef\s+)?enum\b")
_INITIALISERS = re.compile(r"\)[^()]*?(?<!:):(?!:)")


@dataclass
class Function:
    name: str
    first: int     # offset of the head's first character
    opening: int   # offset of the opening brace
    closing: int   # offset of the closing brace


@dataclass
class Statement:
    text: str
    offset: int
    in_class: bool


def without_directives(text):
    """Blanks preprocessor lines and the lines that continue them."""
    return _DIRECTIVE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def without_angles(text):
    """Blanks balanced template argument lists, so that parentheses inside them do not count."""
    previous = None
    while previous != text:
        previous = text
        text = re.sub(r"<[^<>;=]*>", lambda m: " " * len(m[0]), text)
    return text


def strip_template(head):
    """Removes `template <...>` introducers from the front of a head."""
    while _TEMPLATE.match(head):
        depth = 0
        for i in range(head.index("<"), len(head)):
            depth += {"<": 1, ">": -1}.get(head[i], 0)
            if depth == 0:
                head = head[i + 1:]
                break
        else:
            return head
    return head


def _kind(head):
    """What a brace after `head` opens: scope, class, function, or init for everything else."""
    plain = strip_template(_ACCESS.sub("", _ATTRIBUTE.sub(" ", head)))
    if _SCOPE.match(plain):
        return "scope"
    if _CLASS.match(plain):
        return "class"
    end = plain.rstrip()[-1:]
    if _ENUM.match(plain) or "(" not in plain or plain.count("(") > plain.count(")"):
        return "init"
    if end in "=,(" or plain.rstrip().endswith("return"):
        return "init"
    # `Name(int a) : member_` is followed by the member's own braces, not by the body.
    if _INITIALISERS.search(without_angles(plain)) and end not in ")}":
        return "init"
    return "function"


def _name(head):
    plain = without_angles(strip_template(_ACCESS.sub("", _ATTRIBUTE.sub(" ", head))))
    test = re.match(r"\s*TEST\w*\s*\(\s*(\w+)\s*,\s*(\w+)", plain)
    if test:
        return f"{test[1]}.{test[2]}"
    match = re.search(r"(~?[\w:]+|operator[^\w\s(]+)\s*\(", plain)
    return match[1] if match else "?"


def closing_brace(text, opening):
    """The offset of the brace that closes text[opening], or None."""
    depth = 0
    for i in range(opening, len(text)):
        if text[i] == "{":
            depth += 1
        elif text[i] == "}":
            depth -= 1
            if depth == 0:
                return i
    return None


class Scan:
    """Functions and the statements outside them. `balanced` is false if the braces do not match,
    for example because two branches of an #if open the same one."""

    def __init__(self, blanked):
        self.text = without_directives(blanked)
        self.functions = []
        self.statements = []
        self.balanced = True
        self._run()

    def _statement(self, start, end, scopes):
        text = self.text[start:end]
        if text.strip():
            skipped = len(text) - len(text.lstrip())
            self.statements.append(Statement(text.strip(), start + skipped, "class" in scopes))

    def _function(self, start, opening, closing):
        head = self.text[start:opening]
        plain = _ACCESS.sub(lambda m: " " * len(m[0]), head)
        first = start + len(plain) - len(plain.lstrip())
        self.functions.append(Function(_name(head), first, opening, closing))

    def _run(self):
        scopes = []
        start = i = 0
        while i < len(self.text):
            c = self.text[i]
            if c == ";":
                self._statement(start, i, scopes)
                start = i + 1
            elif c == "}":
                if scopes:
                    scopes.pop()
                else:
                    self.balanced = False
                start = i + 1
            elif c == "{":
                kind = _kind(self.text[start:i])
                if kind in ("scope", "class"):
                    scopes.append(kind)
                    start = i + 1
                else:
                    closing = closing_brace(self.text, i)
                    if closing is None:
                        self.balanced = False
                        return
                    if kind == "function":
                        self._function(start, i, closing)
                        start = closing + 1
                    i = closing  # an init brace is part of its statement
            i += 1
        self.balanced = self.balanced and not scopes
