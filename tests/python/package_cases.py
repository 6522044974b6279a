# SPDX-License-Identifier: BSD-3-Clause
"""The package itself: its stubs, and what help shows."""

import ast
import os

import tessera
from checks import Case


def members_of(body):
    names = set()
    for node in body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
    return {name for name in names if not name.startswith("_")}


class Stubs(Case):
    def test_names_are_those_of_the_module(self):
        path = os.path.join(os.path.dirname(tessera.__file__), "_core.pyi")
        with open(path, encoding="utf-8") as file:
            stubs = ast.parse(file.read())
        described = {}
        for node in stubs.body:
            if isinstance(node, ast.ClassDef):
                described[node.name] = members_of(node.body)
            elif isinstance(node, ast.FunctionDef):
                described[node.name] = set()
        public = {name for name in dir(tessera._core) if not name.startswith("_")}
        self.assertEqual({name for name in described if not name.startswith("_")}, public)
        for name in public:
            found = getattr(tessera._core, name)
            if isinstance(found, type) and not issubclass(found, Exception):
                members = {member for member in vars(found) if not member.startswith("_")}
                self.assertEqual(members, described[name], name)

    def test_version(self):
        self.assertRegex(tessera.__version__, r"^\d+\.\d+\.\d+$")
