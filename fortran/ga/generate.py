#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""From the table 'functions': GA's C, Fortran and profiling names, their headers, and the
prototypes of the operations that implement them.

    generate.py TABLE FOLDER [--headers FOLDER] [--all]

Rows that begin with ~ have no operation yet. They get a prototype in operations.hpp only, unless
--all is given."""
import os
import re
import sys

LICENSE = '// SPDX-License-Identifier: BSD-3-Clause\n'

# How one language writes a row. 'c', 'c64': from 0, the last dimension fastest. 'c2', 'c264': the
# same with a number for each bound. 'f', 'f2': Fortran, all arguments are addresses. 'p': the
# profiling names, Fortran's order with numbers as values. 'p2': the same with a number for each
# bound.
IN_TWO = ('f2', 'c2', 'c264', 'p2')


class Role:
    """An argument. `given`: C declarations as (type, name) for all languages, 'two' instead in two
    dimensions, 'fortran' instead in f, f2 and p, 'profiling' instead in p. `inner`: the type of the
    operation's parameter; none: it has none. `take`: (variable, call) that reads the argument.

    Types: V an int, in Fortran INTEGER by address; S the same, 64 bits wide in ...64 names; B
    size_t; W long; L, K, M lists of S, of int, of outputs; T character; anything else is C."""

    def __init__(self, given, inner, variable=None, take=None, pass_as=None, **others):
        self.given = given
        self.inner = inner
        self.variable = variable
        self.take = take
        self.pass_as = pass_as
        self.others = others

    def declared(self, language):
        if language[0] == 'p' and 'profiling' in self.others:
            return self.others['profiling']
        if language in IN_TWO and 'two' in self.others:
            return self.others['two']
        if language in ('f', 'f2', 'p', 'p2') and 'fortran' in self.others:
            return self.others['fortran']
        return self.given

    def taken(self, language):
        if language in IN_TWO and 'take_two' in self.others:
            return self.others['take_two']
        if language in ('f', 'f2', 'p', 'p2') and 'take_fortran' in self.others:
            return self.others['take_fortran']
        return self.take


def number(base, wide='V'):
    return Role([(wide, base)], 'std::int64_t', pass_as='$' + base)


# The C type of elements of typed sums and dots, and its name in types.hpp.
ELEMENTS = {
    'int': ('int', 'c_int'), 'long': ('long', 'c_long'), 'longlong': ('long long', 'c_longlong'),
    'float': ('float', 'c_float'), 'double': ('double', 'c_double'),
    'scpl': ('SingleComplex', 'c_scpl'), 'dcpl': ('DoubleComplex', 'c_dcpl'),
}
TWO_BOUNDS = [('S', 'ilo'), ('S', 'ihi'), ('S', 'jlo'), ('S', 'jhi')]

# In `take` and `pass_as`: $name an argument, $$ its number's suffix, %array the array before it,
# %box the box before it, %rank the number of dimensions, STYLE the language's tag.
ROLES = {
    'array': Role([('V', 'array')], 'Record&', 'Record* record = nullptr',
                  'find_array($array, record)', '*record'),
    'unmade': Role([('V', 'array')], 'Record&', 'Record* record = nullptr',
                   'find_record($array, record)', '*record'),
    'handle': number('array'),
    'group': Role([('V', 'group')], 'Group&', 'Group* members = nullptr',
                  'find_group($group, members)', '*members'),
    ':no_width': Role([], 'const Extents&', pass_as='Extents()'),
    ':default_group': Role([], 'Group&', pass_as='default_group()'),
    'int': number('number'),
    'anyint': Role([('V', 'number')], None),  # not read
    'size': number('size', 'S'),
    'long': number('amount', 'W'),
    'bytes': Role([('B', 'bytes')], 'std::int64_t', pass_as='static_cast<std::int64_t>($bytes)'),
    'axis': Role([('V', 'axis')], 'std::int64_t', pass_as='axis_of<STYLE>(%array, $axis)'),
    'flag': Role([('V', 'flag')], 'bool', pass_as='$flag != 0'),
    'first': Role([('S', 'lo')], 'std::int64_t', pass_as='first_of<STYLE>($lo)'),
    'last': Role([('S', 'hi')], 'std::int64_t', pass_as='end_of<STYLE>($hi)'),
    'type': Role([('V', 'type')], 'Type', pass_as='type_of<STYLE>($type)'),
    # Without GA's Integer in the profiling names.
    'code': Role([('V', 'number')], 'std::int64_t', pass_as='$number', profiling=[('int', 'number')]),
    'ctype': Role([('int', 'type')], 'Type', pass_as='type_of<STYLE>(type)'),
    'elementbytes': Role([('B', 'bytes')], 'std::int64_t', pass_as='static_cast<std::int64_t>($bytes)',
                         profiling=[('std::size_t', 'bytes')]),
    'text': Role([('T', 'text')], 'std::string_view', pass_as='text_of(&text)'),
    'trans': Role([('char', 'trans')], 'char', pass_as='trans',
                  fortran=[('T', 'trans')], take_fortran=None, pass_fortran='*trans'),
    'textout': Role([('T', 'text')], 'const TextOut&', pass_as='TextOut(&text)'),
    'dims': Role([('V', 'ndim'), ('L', 'dims')], 'const Extents&', 'Extents extents',
                 'take_dims<STYLE>($ndim, dims, extents)', 'extents',
                 two=[('S', 'dim1'), ('S', 'dim2')], take_two='take_dims_2<STYLE>($dim1, $dim2, extents)'),
    'chunk': Role([('L', 'chunk')], 'const Chunk&', pass_as='chunk_of<STYLE>(%rank, chunk)',
                  two=[('S', 'chunk1'), ('S', 'chunk2')], pass_two='chunk_of_2<STYLE>($chunk1, $chunk2)'),
    'width': Role([('L', 'width')], 'const Extents&', pass_as='numbers_of<STYLE>(%rank, width)'),
    'block': Role([('L', 'block')], 'const Extents&', pass_as='numbers_of<STYLE>(%rank, block)'),
    'grid': Role([('L', 'grid')], 'const Extents&', pass_as='numbers_of<STYLE>(%rank, grid)'),
    'irregular': Role([('L', 'block'), ('L', 'map')], 'const Starts&', 'Starts starts',
                      'take_starts<STYLE>(%rank, block, map, starts)', 'starts',
                      fortran=[('L', 'map'), ('L', 'block')],
                      two=[('L', 'map1'), ('S', 'nblock1'), ('L', 'map2'), ('S', 'nblock2')],
                      take_two='take_starts_2<STYLE>(map1, $nblock1, map2, $nblock2, starts)'),
    # The tiles of an array: as irregular, but C's order is Fortran's.
    'tiles': Role([('L', 'map'), ('L', 'block')], 'const Starts&', 'Starts starts',
                  'take_starts<STYLE>(%rank, block, map, starts)', 'starts'),
    'ranks': Role([('K', 'list'), ('V', 'count')], 'std::span<const std::int64_t>',
                  pass_as='ListIn(list, $count)'),
    'listout': Role([('K', 'list'), ('V', 'count')], 'const ListOut&',
                    pass_as='ListOut(list, $count)'),
    'box': Role([('L', 'lo'), ('L', 'hi')], 'const Box&', 'Box box',
                'take_box<STYLE>(%array, lo, hi, box)', 'box', two=TWO_BOUNDS,
                take_two='take_box_2<STYLE>(%array, $ilo, $ihi, $jlo, $jhi, box)'),
    # An array and a box of it, and an array as the box of all of it: for operations on both.
    'part': Role([('V', 'array'), ('L', 'lo'), ('L', 'hi')], 'const Part&', 'Part part',
                 'take_part<STYLE>($array, lo, hi, part)', 'part', two=[('V', 'array')] + TWO_BOUNDS,
                 take_two='take_part_2<STYLE>($array, $ilo, $ihi, $jlo, $jhi, part)'),
    'whole': Role([('V', 'array')], 'const Part&', 'Part part', 'take_whole($array, part)', 'part'),
    # May lie outside of the array, as the two below.
    'freebox': Role([('L', 'lo'), ('L', 'hi')], 'const Box&', 'Box box',
                    'take_free_box<STYLE>(%array, lo, hi, box)', 'box', two=TWO_BOUNDS,
                    take_two='take_free_box_2<STYLE>(%array, $ilo, $ihi, $jlo, $jhi, box)'),
    # Fortran's view of the array, with bounds from 0.
    'viewbox': Role(TWO_BOUNDS, 'const Box&', 'Box box',
                    'take_view_box(%array, $ilo, $ihi, $jlo, $jhi, box)', 'box'),
    # Given for nothing: whatever it is, it is not read.
    'anybox': Role([('L', 'lo'), ('L', 'hi')], None, two=TWO_BOUNDS),
    'place': Role([('L', 'at')], 'const Index&', 'Index place',
                  'take_place<STYLE>(%array, at, place)', 'place',
                  two=[('S', 'i'), ('S', 'j')], take_two='take_place_2<STYLE>(%array, $i, $j, place)'),
    # May lie outside of the array.
    'freeplace': Role([('L', 'at')], 'const Index&', pass_as='place_of<STYLE>(%array, at)',
                      two=[('S', 'i'), ('S', 'j')], pass_two='place_of_2<STYLE>(%array, $i, $j)'),
    # Coordinates of a block in the grid of blocks, from 0 in both languages.
    'gridplace': Role([('L', 'at')], 'const Index&', pass_as='coordinates_of<STYLE>(%array, at)'),
    'steps': Role([('L', 'skip')], 'const Extents&', 'Extents steps',
                  'take_steps<STYLE>(%array, skip, steps)', 'steps'),
    'mask': Role([('L', 'mask')], 'const Index&', pass_as='coordinates_of<STYLE>(%array, mask)'),
    'from': Role([('void*', 'buffer'), ('L', 'ld')], 'const Memory&', 'Memory memory',
                 'take_memory<STYLE>(%array, %box, buffer, ld, memory)', 'memory'),
    'field': Role([('V', 'offset'), ('V', 'length')], 'const Field&', pass_as='Field{$offset, $length}'),
    'scalar': Role([('void*', 'scalar')], 'const void*', pass_as='scalar'),
    'in': Role([('void*', 'values')], 'const void*', pass_as='values'),
    'out': Role([('void*', 'values')], 'void*', pass_as='values'),
    'pointer': Role([('void*', 'memory')], 'void*', pass_as='memory'),
    'places': Role([('L*', 'subscripts'), ('S', 'count')], 'std::span<const std::int64_t>',
                   'Places places', 'take_places<STYLE>(%array, subscripts, $count, places)', 'places',
                   fortran=[('L', 'subscripts'), ('S', 'count')],
                   two=[('L', 'i'), ('L', 'j'), ('S', 'count')],
                   take_two='take_places_2<STYLE>(%array, i, j, $count, places)',
                   take_fortran='take_flat_places<STYLE>(%array, subscripts, $count, places)'),
    # For the profiling names: of C if the flag is set.
    'anyplaces': Role([('void*', 'subscripts'), ('V', 'is_c'), ('S', 'count')],
                      'std::span<const std::int64_t>', 'Places places',
                      'take_any_places(%array, subscripts, $is_c, $count, places)', 'places'),
    'flatplaces': Role([('L', 'subscripts'), ('S', 'count')], 'std::span<const std::int64_t>',
                       'Places places', 'take_flat_places<STYLE>(%array, subscripts, $count, places)',
                       'places'),
    'nb': Role([('handle*', 'request')], 'const IntOut&', pass_as='IntOut(request)'),
    'ints': Role([('L', 'values')], 'const IntOut&', pass_as='IntOut(values)'),
    'intout': Role([('M', 'value')], 'const IntOut&', pass_as='IntOut(value)'),
    'f64out': Role([('double*', 'value')], 'double*', pass_as='value'),
    'eigenvalues': Role([('void*', 'values')], 'double*', pass_as='static_cast<double*>(values)',
                        fortran=[('double*', 'values')], pass_fortran='values'),
    'boxout': Role([('L', 'lo'), ('L', 'hi')], 'const BoxOut&', pass_as='BoxOut::of<STYLE>(lo, hi)',
                   two=[('M', 'ilo'), ('M', 'ihi'), ('M', 'jlo'), ('M', 'jhi')],
                   pass_two='BoxOut::of_2<STYLE>(ilo, ihi, jlo, jhi)'),
    'placeout': Role([('L', 'at')], 'const PlaceOut&', pass_as='PlaceOut::of<STYLE>(at)'),
    'dimsout': Role([('L', 'dims')], 'const DimsOut&', pass_as='DimsOut::of<STYLE>(dims)'),
    # Fortran's order in both languages.
    'viewdimsout': Role([('L', 'dims')], 'const DimsOut&', pass_as='DimsOut::of<Style::fortran>(dims)',
                        two=[('M', 'row'), ('M', 'column')],
                        pass_two='DimsOut::of_2<Style::fortran>(row, column)'),
    'typeout': Role([('V*', 'type')], 'const TypeOut&', pass_as='TypeOut::of<STYLE>(type)',
                    pass_profiling='TypeOut::of<Style::c>(type)'),
    'dimsofout': Role([('V*', 'ndim'), ('L', 'dims')], 'const DimsOut&',
                      pass_as='DimsOut::counted<STYLE>(ndim, dims)',
                      two=[('M', 'dim1'), ('M', 'dim2')], pass_two='DimsOut::of_2<STYLE>(dim1, dim2)'),
    'ldout': Role([('L', 'ld')], 'const LeadOut&', pass_as='LeadOut::of<STYLE>(ld)'),
    # An address in C, an index into MA's array of the type in Fortran.
    'pointerout': Role([('void*', 'pointer')], 'const PointerOut&', pass_as='PointerOut::pointer(pointer)',
                       fortran=[('F*', 'index')], pass_fortran='PointerOut::index(index)'),
    'addressout': Role([('void*', 'pointer')], 'const PointerOut&', pass_as='PointerOut::pointer(pointer)'),
    'regionsout': Role([('L', 'map'), ('K', 'procs')], 'const RegionsOut&',
                       pass_as='RegionsOut::of<STYLE>(map, procs)',
                       two=[('L', 'map')], pass_two='RegionsOut::of_2<STYLE>(map)'),
    'made': Role([], None, fortran=[('M', 'made')]),
    'ftype': Role([], None, fortran=[('V', 'type')]),
    'bytebuffer': Role([('void*', 'buffer'), ('V', 'length')], 'std::span<std::byte>',
                       pass_as='bytes_of(buffer, $length)'),
    'typednumbers': Role([('V', 'type'), ('void*', 'values'), ('V', 'count')], 'const Numbers&',
                         pass_as='Numbers{type_of<STYLE>($type), values, $count}'),
    'file': Role([('FILE*', 'file')], 'std::FILE*', pass_as='file'),
    'args': Role([('int*', 'argc'), ('char***', 'argv')], 'int*', pass_as='argc, argv'),
    'allocate_function': Role([('void* (*#)(size_t, int, char*)', 'allocate')], None),
    'free_function': Role([('void (*#)(void*)', 'release')], None),
    ':style': Role([], 'Style', pass_as='STYLE'),
    'style': Role([('int', 'style')], 'Style', pass_as='style != 0 ? Style::fortran : Style::c'),
}
ROLES['args'].inner = 'int*, char***'
ROLES['to'] = ROLES['from']
for tag, (c_type, code) in ELEMENTS.items():
    fortran = 'F' if tag == 'int' else c_type
    code_f = 'fortran_integer' if tag == 'int' else code
    ROLES['numbers:' + tag] = Role(
        [(c_type + '*', 'values'), ('V', 'count')], 'const Numbers&',
        pass_as=f'Numbers{{Type::{code}, values, $count}}',
        fortran=[(fortran + '*', 'values'), ('V', 'count')],
        pass_fortran=f'Numbers{{Type::{code_f}, values, $count}}')
    ROLES['alpha:' + tag] = Role([(c_type, 'alpha')], 'const void*', pass_as='&alpha',
                                 fortran=[('void*', 'alpha')], pass_fortran='alpha')

# result: the operation's, C's and Fortran's type, and pnga_'s if it is not Fortran's
RESULTS = {
    '-': ('Status', 'void', 'void'), 'int': ('Result<std::int64_t>', 'int', 'F'),
    'int!': ('std::int64_t', 'int', 'F'), 'long': ('Result<std::int64_t>', 'long', 'F'),
    'size': ('Result<std::int64_t>', 'size_t', 'F'), 'flag': ('Result<bool>', 'int', 'F'),
    'ok': ('Result<bool>', 'void', 'F'), 'same': ('Result<bool>', 'int', 'F'),
    'made': ('Result<std::int64_t>', 'int', 'F'), 'found': ('Result<std::int64_t>', 'int', 'F'),
    'f64': ('Result<double>', 'double', 'double'), 'pointer': ('Result<void*>', 'void*', 'void*'),
    'name': ('Result<char*>', 'char*', 'void'),
    # As int and flag, without GA's Integer in the profiling names.
    'code': ('Result<std::int64_t>', 'int', 'F', 'int'), 'truth': ('Result<bool>', 'int', 'F', 'int'),
}
for tag, (c_type, code) in ELEMENTS.items():
    RESULTS['dot:' + tag] = ('Status', c_type, 'F' if tag == 'int' else c_type)


class Row:
    def __init__(self, words):
        self.is_written = words[0] != '~'
        words = words if self.is_written else words[1:]
        self.name, self.c, self.fortran, self.profiling, self.result = words[:5]
        self.roles, self.operation, self.c_order, self.aliases = [], self.name.lower(), None, []
        for word in words[5:]:
            if word.startswith('@'):
                self.operation = word[1:]
            elif word.startswith('C:'):
                self.c_order = [int(place) for place in word[2:].split(',')]
            else:
                self.roles.append(word)
        unknown = [role for role in self.roles if role not in ROLES]
        if unknown or self.result not in RESULTS:
            sys.exit(f'functions: {self.name}: unknown {unknown or self.result}')

    def names(self):
        """Each entry point as (name, language)."""
        cased = self.name[0].upper() + self.name[1:]
        two = 'c2' if '2' in self.c else 'c'
        for prefix in ('GA_', 'NGA_'):
            if prefix[0] in self.c:
                yield prefix + cased, two
                if '6' in self.c:
                    yield prefix + cased + '64', two + '64'
        for name, forms in [(self.name.lower(), self.fortran)] + self.aliases:
            if '2' in forms:
                yield f'ga_{name}_', 'f2'
            if 'f' in forms:
                yield f'ga_{name}_', 'f'
            if 'n' in forms:
                yield f'nga_{name}_', 'f'
        if self.profiling != '-':
            yield 'pnga_' + self.name.lower(), 'p2' if self.profiling == '2' else 'p'


def read(path):
    rows = []
    for line in open(path, encoding='utf-8'):
        words = line.split('#')[0].split()
        if not words or words[0].startswith('['):
            continue
        if words[0] == '=':
            rows[-1].aliases += [(name, words[1]) for name in words[2:]]
        else:
            rows.append(Row(words))
    return rows


def c_type(kind, language):
    """The C type of a declaration; lists end with []."""
    integer = {'c': 'int', 'c2': 'int', 'c64': 'std::int64_t', 'c264': 'std::int64_t'}.get(language, 'F')
    is_c = language[0] == 'c'
    if kind in ('V', 'S', 'W', 'B'):
        if is_c:
            return {'V': 'int', 'S': integer, 'W': 'long', 'B': 'std::size_t'}[kind]
        return 'F' if language[0] == 'p' else 'F*'
    return {'T': 'char*', 'L': integer + '[]', 'L*': integer + '*[]', 'K': ('int' if is_c else 'F') + '[]',
            'M': integer + '*', 'V*': ('int' if is_c else 'F') + '*', 'F*': 'F*',
            'handle*': 'F*'}.get(kind, kind)


class Entry:
    """One entry point: its declaration and its body."""

    def __init__(self, row, name, language):
        self.row, self.name, self.language = row, name, language
        bases = [base for role in row.roles for _, base in ROLES[role].declared(language)]
        self.counts = {base: bases.count(base) for base in bases}
        self.seen, self.arguments, self.lengths = {}, [], []
        self.setup, self.values, self.unread = [], [], set()
        # What a later argument may refer to: the array, the box and the rank.
        self.array = self.box = self.rank = None
        for number_of, role in enumerate(row.roles):
            self.add(number_of, role)
        kind = RESULTS[row.result]
        self.returned = kind[{'c': 1, 'f': 2, 'p': -1}[language[0]]]
        if row.result == 'found' and language[0] != 'c':
            self.arguments.append(('F*', 'found'))
        if row.result == 'name' and language[0] != 'c':
            self.arguments.append(('char**' if language[0] == 'p' else 'char*', 'name'))
            self.lengths += ['name'] if language[0] == 'f' else []

    def add(self, number_of, name):
        role, language, fortran = ROLES[name], self.language, self.language[0] != 'c'
        names = {}
        for kind, base in role.declared(language):
            self.seen[base] = self.seen.get(base, 0) + 1
            own = f'{base}{self.seen[base]}' if self.counts[base] > 1 else base
            names[base] = (kind, own)
            self.arguments.append((c_type(kind, language), own))
            if kind == 'T' and language[0] == 'f':
                self.lengths.append(own)
        if (role.inner is None and name != 'made') or self.row.operation == 'nothing':
            self.unread |= {own for _, own in names.values()}
        if role.inner is None:
            return

        def fill(text):
            def argument(match):
                kind, own = names[match[1]]
                return '*' + own if language[0] == 'f' and kind in 'VSWB' else own
            text = text.replace('%array', self.array or '').replace('%box', self.box or '')
            text = text.replace('%rank', self.rank or '')
            text = re.sub(r'\$(\w+)', argument, text)
            for base, (kind, own) in names.items():
                if base != own or kind == 'T':
                    text = re.sub(rf'(?<![\w.:*&]){base}\b(?!\()', own, text)
                if kind == 'T':
                    length = f', {own}_length' if language[0] == 'f' else ''
                    text = re.sub(rf'&{base}\b', own + length, text)
                text = re.sub(rf'([*&]){base}\b', rf'\1{own}', text)
            return text.replace('STYLE', 'Style::fortran' if fortran else 'Style::c')

        passed = role.pass_as
        if fortran:
            passed = role.others.get('pass_fortran', passed)
        if language[0] == 'p':
            passed = role.others.get('pass_profiling', passed)
        if language in IN_TWO:
            passed = role.others.get('pass_two', passed)
        if role.variable:
            kind, variable, *rest = re.match(r'(.*?)(\w+)( = \w+)?$', role.variable).groups()
            own = f'{variable}{number_of}'
            self.setup.append(f'{kind}{own}{rest[0] or ""};')
            rename = lambda text: re.sub(rf'\b{variable}\b(?!\()', own, text)
            self.setup.append(f'TESSERA_RETURN_IF_ERROR({rename(fill(role.taken(language)))});')
            self.values.append(rename(passed))
            if name in ('array', 'unmade'):
                self.array, self.rank = f'*{own}', f'rank_of(*{own})'
            elif name == 'dims':
                self.rank = f'{own}.ndims()'
            elif name in ('box', 'freebox', 'viewbox'):
                self.box = own
            elif name == 'steps':
                self.box = f'stepped({self.box}, {own})'
        else:
            self.values.append(fill(passed))

    def text(self, in_header=False):
        parts = []
        for kind, own in self.arguments + [('Length', own + '_length') for own in self.lengths]:
            if not in_header and (own in self.unread or kind == 'Length'):
                kind = '[[maybe_unused]] ' + kind
            if '#' in kind:
                parts.append(kind.replace('#', own))
            elif kind.endswith('[]'):
                parts.append(f'{kind[:-2]} {own}[]')
            else:
                parts.append(f'{kind} {own}')
        text = f'{self.returned} {self.name}({", ".join(parts) or "void"})'
        return self.public(text) if in_header else text

    @staticmethod
    def public(text):
        """With the names of GA's headers."""
        text = text.replace('std::', '')
        return re.sub(r'\bF\b', 'Integer', text)

    def define(self):
        row, language = self.row, self.language
        values = list(self.values)
        if row.c_order and language[0] == 'c':
            values = [values[place] for place in row.c_order]
        if row.result.startswith('dot:'):
            code = ELEMENTS[row.result[4:]][1]
            if row.result == 'dot:int' and language[0] != 'c':
                code = 'fortran_integer'
            values.append(f'Numbers{{Type::{code}, &result, 1}}')
        call = f'ga::{row.operation}({", ".join(values)})'
        if row.operation == 'nothing':
            call = 'Result<bool>(true)' if row.result == 'flag' else 'Status()'
        head = f'extern "C" {self.text()} {{\n'
        if row.result == 'int!':
            return f'{head}  return static_cast<{self.returned}>({call});\n}}\n'
        name = self.name.rstrip('_')
        steps = ''.join(f'    {line}\n' for line in self.setup)
        inner = RESULTS[row.result][0]
        if inner == 'Status' and not row.result.startswith('dot:'):
            return (f'{head}  enter("{name}", [&]() -> Status {{\n{steps}    return {call};\n  }});\n}}\n')
        if inner == 'Status':
            return (f'{head}  {self.returned} result{{}};\n  enter("{name}", [&]() -> Status {{\n{steps}'
                    f'    return {call};\n  }});\n  return result;\n}}\n')
        kept = inner[len('Result<'):-1]
        first = {'found': '-1', 'std::int64_t': '0', 'bool': 'false', 'double': '0',
                 'void*': 'nullptr', 'char*': 'nullptr'}
        initial = first.get(row.result, first[kept])
        body = (f'{head}  {kept} result = {initial};\n  enter("{name}", [&]() -> Status {{\n{steps}'
                f'    TESSERA_ASSIGN_OR_RETURN(result, {call});\n    return {{}};\n  }});\n')
        return body + self.answer() + '}\n'

    def answer(self):
        """How the result is given back."""
        result, is_c = self.row.result, self.language[0] == 'c'
        if result == 'ok' and is_c:
            return f'  require_done("{self.name}", result);\n'
        if result == 'made' and not is_c:
            return '  *made = static_cast<F>(result);\n  return result != 0 ? 1 : 0;\n'
        if result == 'found' and not is_c:
            return '  *found = static_cast<F>(result);\n  return result >= 0 ? 1 : 0;\n'
        if result == 'same' and is_c:
            return '  return result ? 0 : 1;\n'
        if result == 'name' and not is_c:
            return '  *name = result;\n' if self.language[0] == 'p' else '  give_text(result, name, name_length);\n'
        if result in ('flag', 'truth', 'same', 'ok'):
            return '  return result ? 1 : 0;\n'
        return f'  return static_cast<{self.returned}>(result);\n'


ENTRIES = '''#include "fortran/ga/entry.hpp"
#include "fortran/ga/operations.hpp"

// NOLINTBEGIN: generated; the types are those of GA's headers.
using namespace tessera::ga;  // NOLINT(google-build-using-namespace)
namespace ga = tessera::ga;

'''
HEADER = '''/* SPDX-License-Identifier: BSD-3-Clause */
/* {about} */
#ifndef {guard}
#define {guard}

{includes}
#ifdef __cplusplus
extern "C" {{
#endif

{text}
#ifdef __cplusplus
}}
#endif
#endif
'''


def write(folder, name, text):
    """Leaves a file alone that is the same already, so that nothing is compiled again."""
    path = os.path.join(folder, name)
    if not os.path.exists(path) or open(path, encoding='utf-8').read() != text:
        open(path, 'w', encoding='utf-8').write(text)


def operations(rows):
    seen, lines = {}, []
    for row in rows:
        if row.operation == 'nothing':
            continue
        inner = [ROLES[role].inner for role in row.roles if ROLES[role].inner]
        kind = RESULTS[row.result][0]
        if row.result.startswith('dot:'):
            inner.append('const Numbers&')
        noexcept = ' noexcept' if row.result == 'int!' else ''
        text = f'{kind} {row.operation}({", ".join(inner)}){noexcept};'
        if seen.setdefault(row.operation, text) != text:
            sys.exit(f'functions: {row.name}: {text}, but before {seen[row.operation]}')
        if text not in lines:
            lines.append(text)
    return (LICENSE + '// Generated. The operations of GA, one for all languages: indices from 0, half-open boxes, the\n'
            '// last dimension fastest.\n#pragma once\n\n#include <cstdio>\n\n'
            '#include "fortran/ga/entry.hpp"\n\nnamespace tessera::ga {\n\n' + '\n'.join(lines) +
            '\n\n}  // namespace tessera::ga\n')


# What GA's header does not declare: programs do, and may not do it twice.
UNDECLARED = set('''cholesky llt_f llt_i ddot_patch_dp idot_patch create_bin_range locate_nnodes set_ghost_info
timer update44_ghosts update55_ghosts'''.split())


def fortran_types(rows):
    """global.fh: the types of GA's functions, in fixed and in free form."""
    kinds = {'int': 'integer', 'int!': 'integer', 'long': 'integer', 'size': 'integer', 'code': 'integer',
             'flag': 'logical', 'truth': 'logical', 'ok': 'logical', 'same': 'logical', 'made': 'logical', 'found': 'logical',
             'f64': 'double precision', 'dot:int': 'integer', 'dot:float': 'real',
             'dot:double': 'double precision', 'dot:scpl': 'complex', 'dot:dcpl': 'double complex'}
    odd = {'is_mirrored': 'integer', 'verify_handle': 'logical'}  # as programs have them
    lines = []
    for row in rows:
        for name, language in row.names():
            if (language[0] == 'f' and row.result in kinds
                    and (row.name.lower() not in UNDECLARED or name == 'nga_idot_patch_')):
                kind = odd.get(row.name.lower(), kinds[row.result])
                lines.append(f'      {kind} {name[:-1]}\n      external {name[:-1]}\n')
    return ('! SPDX-License-Identifier: BSD-3-Clause\n! The types of GA\'s functions.\n'
            '#include "gacommon.h"\n      integer ga_max_dim\n      parameter (ga_max_dim = GA_MAX_DIM)\n' +
            ''.join(lines) + '#define GA_ACCESS_INDEX_TYPE integer*8\n')


def main():
    table, folder = sys.argv[1:3]
    options = sys.argv[3:]
    every = '--all' in options
    header_folder = options[options.index('--headers') + 1] if '--headers' in options else folder
    os.makedirs(folder, exist_ok=True)
    os.makedirs(header_folder, exist_ok=True)
    rows = read(table)
    written = [row for row in rows if every or row.is_written]
    sources = {language: [] for language in ('c', 'c64', 'f', 'p')}
    headers = {'ga.h': [], 'ga-papi.h': [], 'ga-wapi.h': []}
    for row in written:
        for name, language in row.names():
            entry = Entry(row, name, language)
            source = 'c64' if language.endswith('64') else language[0]
            sources[source].append(entry.define())
            prototype = f'extern {entry.text(in_header=True)};\n'
            if language[0] == 'p':
                weak = 'w' + name[1:]
                sources['p'].append(f'extern "C" decltype({name}) {weak} [[gnu::weak, gnu::alias("{name}")]];\n')
                headers['ga-papi.h'].append(prototype)
                headers['ga-wapi.h'].append(prototype.replace(name, weak))
            elif language[0] == 'c':
                headers['ga.h'].append(prototype)
    for language, texts in sources.items():
        write(folder, f'entries_{language}.cpp', LICENSE + '// Generated.\n' + ENTRIES + '\n'.join(texts))
    write(folder, 'operations.hpp', operations(rows))
    write(header_folder, 'global.fh', fortran_types(written))
    common = '#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n\n#include "gacommon.h"\n#include "typesf2c.h"\n'
    abouts = {'ga.h': 'Global Arrays in C.', 'ga-papi.h': "Global Arrays' names for profilers: pnga_.",
              'ga-wapi.h': "Global Arrays' names that a profiler replaces: wnga_."}
    for name, lines in headers.items():
        extra = {'ga.h': 'typedef Integer ga_nbhdl_t;\n', 'ga-papi.h': 'typedef intp AccessIndex;\n'}.get(name, '')
        guard = 'TESSERA_' + re.sub(r'\W', '_', name).upper()
        write(header_folder, name, HEADER.format(about=abouts[name], guard=guard, includes=common,
                                          text=extra + ''.join(lines)))


main()
