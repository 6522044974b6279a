#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the C and Fortran names of GA's companions from a table: each passes its arguments to one
operation, which is written once for both languages.

    generate_names.py TABLE SOURCE

A row is `C-name Fortran-name result argument… [@operation]`; a - instead of a name: that language has none.
The operation is named as the C name after its first _ in lower case, if no other is given. In operations and
values, STYLE is the language's style, FIRST its first index, NAME the name that is called, INTEGER the
language's integer type.

result: v none, i an integer, d a double, P an address

argument: a letter of ROLES and a name; ~ and a letter: it is not passed on; = and C++: a value that is passed

Fortran passes addresses, and the lengths of texts t, s and u last.

Lines before the rows: `%include FILE`, `%namespace NAME`, `%integer TYPE` (C's integers) and `%weak`,
which makes Fortran's names weak."""
import sys

# C's type, Fortran's, what C passes, what Fortran passes
ROLES = {
    'i': ('INTEGER', 'const Integer*', '{0}', '*{0}'),
    'o': ('INTEGER*', 'Integer*', '{0}', '{0}'),  # integers that the operation writes
    'm': ('long*', 'Integer*', '{0}', '{0}'),
    'a': ('INTEGER*', 'const Integer*', '{0}', '{0}'),  # integers that it reads
    'l': ('long*', 'const Integer*', '{0}', '{0}'),
    'j': ('logical', 'const Integer*', '{0}', '*{0}'),
    'x': ('MA_AccessIndex*', 'MA_AccessIndex*', '{0}', '{0}'),
    'b': ('std::size_t', 'const Integer*', '{0}', 'static_cast<std::size_t>(*{0})'),
    'd': ('double', 'const double*', '{0}', '*{0}'),
    'e': ('double*', 'double*', '{0}', '{0}'),
    'p': ('void*', 'void*', '{0}', '{0}'),
    'q': ('const void*', 'const void*', '{0}', '{0}'),
    'c': ('char*', 'char*', '{0}', '{0}'),
    't': ('const char*', 'const char*', 'text_of({0})', 'text_of({0}, {0}_length)'),
    's': ('char*', 'const char*', 'text_of({0})', 'text_of({0}, {0}_length)'),
    'r': ('const char*', 'const char*', 'text_of({0})', 'text_of({0})'),
    'u': ('char*', 'char*', 'TextRoom{{{0}, {{}}}}', 'TextRoom{{{0}, {0}_length}}'),
    'f': ('void (*#)(const char*, int)', 'void (*#)(const char*, int)', '{0}', '{0}'),
}
RESULTS = {'v': 'void', 'i': 'INTEGER', 'd': 'double', 'P': 'Pointer'}


def define(name, row, integer, is_fortran):
    """The definition of one name."""
    kind, arguments, operation = row
    declared, lengths, passed = [], [], []
    for number, argument in enumerate(arguments):
        if argument.startswith('='):
            passed.append(argument[1:])
            continue
        is_passed = not argument.startswith('~')
        letter, _, own = argument.lstrip('~').partition(':')
        own = own or f'unused{number}'
        role = ROLES[letter]
        text = role[is_fortran].replace('INTEGER', integer)
        text = text.replace('#', own) if '#' in text else f'{text} {own}'
        declared.append(text if is_passed else '[[maybe_unused]] ' + text)
        if is_fortran and letter in 'tsu':
            lengths.append(f'[[maybe_unused]] std::size_t {own}_length')
        if is_passed:
            passed.append(role[2 + is_fortran].format(own))
    call = f'{operation}({", ".join(passed)})'
    for word, meaning in (('STYLE', 'Style::fortran' if is_fortran else 'Style::c'),
                          ('FIRST', '1' if is_fortran else '0'), ('NAME', f'"{name.rstrip("_")}"'),
                          ('INTEGER', integer)):
        call = call.replace(word, meaning)
    if kind == 'i':
        call = f'static_cast<{integer}>({call})'
    result = RESULTS[kind].replace('INTEGER', integer)
    return (f'{result} {name}({", ".join(declared + lengths)}) {{\n'
            f'  {"" if kind == "v" else "return "}{call};\n}}\n')


def write_names(table):
    text = '// SPDX-License-Identifier: BSD-3-Clause\n// Generated.\n#include <cstddef>\n\n'
    integer, weak, is_open = 'int', '', False
    for line in table:
        words = line.split('#')[0].split()
        if not words:
            continue
        if words[0] == '%include':
            text += f'#include "{words[1]}"\n'
        elif words[0] == '%integer':
            integer = words[1]
        elif words[0] == '%weak':
            weak = '[[gnu::weak, gnu::visibility("default")]] '
        elif words[0] == '%namespace':
            text += ('}\n}\n' if is_open else '') + f'\nnamespace {words[1]} {{\nextern "C" {{\n\n'
            is_open = True
        else:
            arguments = [word for word in words[3:] if not word.startswith('@')]
            named = [word[1:] for word in words[3:] if word.startswith('@')]
            row = (words[2], arguments, named[0] if named else words[0].partition('_')[2].lower())
            if words[0] != '-':
                text += define(words[0], row, integer, False)
            if words[1] != '-':
                text += weak + define(words[1] + '_', row, 'Integer', True)
    return text + '\n}\n}\n'


def main():
    path, source = sys.argv[1:]
    with open(path, encoding='utf-8') as table:
        text = write_names(table)
    with open(source, 'w', encoding='utf-8') as file:
        file.write(text)


main()
