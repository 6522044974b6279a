# SPDX-License-Identifier: BSD-3-Clause
"""Text, tables and charts of the page, and the panels of bench/experiments.py. Pictures need matplotlib."""

import io
import math
import re
import textwrap
from html import escape

from dataset import display_name, joined, keys_that_differ, kind_of, known, plural

# --- numbers --------------------------------------------------------------------------------------

PREFIXES = {"bytes": [(1024**i, unit) for i, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB"))],
            "time": [(1e-3, "ns"), (1, "µs"), (1e3, "ms"), (1e6, "s")],
            "speed": [(1e-3, "kB/s"), (1, "MB/s"), (1e3, "GB/s"), (1e6, "TB/s")],
            "messages": [(1e-6, "/s"), (1e-3, "k/s"), (1, "M/s")]}
SYMBOLS = {"bytes": " (B)", "time": " (µs)", "speed": " (MB/s)", "messages": " (M/s)", "percent": " (%)"}


def label(value, unit):
    """In the largest prefix that isn't above the value: "64 KiB"."""
    def short(number):
        return f"{number:.0f}" if abs(number) >= 1000 else f"{number:.3g}"
    if unit == "percent":
        return short(value) + " %"
    if unit not in PREFIXES or value == 0:
        return short(value)
    fitting = [each for each in PREFIXES[unit] if abs(value) >= each[0] * (1 - 1e-9)]
    factor, symbol = fitting[-1] if fitting else PREFIXES[unit][0]
    return f"{short(value / factor)} {symbol}"


def plain(value):
    return f"{value:.0f}" if abs(value) >= 1e6 else f"{value:.6g}"


def brief(value):
    return f"{value:.0f}" if abs(value) >= 1e4 else f"{value:.4g}"


def brief_interval(ci95):
    return f"[{brief(ci95[0])}, {brief(ci95[1])}]"


def name_of(measurement):
    """ "rma put_strided, 64 x 16 B, 1 KiB" """
    name = f"{measurement.bench} {measurement.op}" + (f", {measurement.shape}" if measurement.shape else "")
    return name + (f", {label(measurement.size, 'bytes')}" if measurement.size else "")


# --- HTML -----------------------------------------------------------------------------------------


def safe(text):
    """Text without markup and without what XML can't hold."""
    return escape(re.sub("[^\t\n\r\x20-\x7e\x80-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", str(text)))


def table(head, rows):
    """The first column names the rows; a cell is text, or (class, text)."""
    def cell(tag, content):
        css, content = content if isinstance(content, tuple) else ("", content)
        return f"<{tag} class=\"{css}\">{safe(content)}</{tag}>" if css else f"<{tag}>{safe(content)}</{tag}>"
    lines = ["".join(cell("th" if i == 0 else "td", each) for i, each in enumerate(row)) for row in rows]
    body = "".join(f"<tr>{line}</tr>\n" for line in lines)
    return (f"<div class=\"wide\"><table><thead><tr>{''.join(cell('th', each) for each in head)}</tr></thead>"
            f"<tbody>\n{body}</tbody></table></div>\n")


def bullets(entries):
    return "<ul>" + "".join(f"<li>{safe(entry)}</li>" for entry in entries) + "</ul>"


def box(words, entries):
    return f"<div class=\"box\">{words}{bullets(sorted(set(entries)))}</div>\n" if entries else ""


def code(text):
    return "<code>" + " ".join(f"<span>{safe(word)}</span>" for word in text.split(" ")) + "</code>"


STYLE = """
body { margin: 0 auto; padding: 1rem 1.5rem 4rem; max-width: 78rem; color: #1b1f24; background: #fff;
  font: 15px/1.5 system-ui, sans-serif; }
h2 { margin: 2.5rem 0 0.5rem; border-bottom: 1px solid #e3e6ea; }
p { max-width: 50rem; margin: 0.4rem 0; } a { color: #0060a8; }
code span { display: inline-block; max-width: 100%; overflow-wrap: anywhere; }
nav ul, .legend { display: flex; flex-wrap: wrap; gap: 0.2rem 1.2rem; padding: 0; list-style: none; }
.legend { margin: 0.2rem 0; font-size: 0.86rem; }
.faint, td.ci, thead th { color: #5c6570; } .good { color: #00663f; } .bad { color: #a3261b; }
.box { background: #fff4e0; color: #8a4b00; padding: 0.5rem 1rem; margin: 0.8rem 0; border-left: 4px solid; }
.later { background: #f6f7f9; padding: 0.4rem 1rem; border-left: 4px solid #5c6570; grid-column: 1 / -1; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.86rem; font-variant-numeric: tabular-nums; margin: 0.5rem 0; }
th, td { padding: 0.15rem 0.6rem; text-align: right; border-bottom: 1px solid #e3e6ea; white-space: nowrap; }
tbody th { font-weight: 500; text-align: left; white-space: normal; }
td.text, th.text { text-align: left; }
td.long { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 9rem; }
.figures { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 30rem), 1fr)); }
figure { margin: 0; padding: 0.7rem; background: #f6f7f9; border-radius: 6px; min-width: 0; }
.full { grid-column: 1 / -1; } figcaption { font-weight: 600; } figcaption small { display: block; font-weight: 400; }
figure svg { display: block; width: 100%; height: auto; } summary { cursor: pointer; font-size: 0.86rem; }
"""

# --- charts ---------------------------------------------------------------------------------------

# Colours that people with colour blindness can distinguish (after Okabe and Ito). Lines also differ in markers.
COLOURS = ("#0060a8", "#4b4f55", "#c04a00", "#00805c", "#a83f86", "#9a6a00", "#6a4fc0", "#45a9d6")
MARKERS = {"o": "●", "s": "■", "^": "▲", "D": "◆", "v": "▼", "X": "✖", "P": "✚", "|": "❙"}
MPI_COLOUR = 2


def colours_of(names):
    """A colour for each name: its own if it is free, else the next free one; MPI's is for MPI alone."""
    chosen = {}
    for name in names:
        colour = known(name)[1]
        if colour is not None and colour not in chosen.values():
            chosen[name] = colour
    for name in names:
        free = [c for c in range(len(COLOURS)) if c not in chosen.values() and c != MPI_COLOUR]
        chosen.setdefault(name, free[0] if free else len(chosen) % MPI_COLOUR)
    return chosen


class Chart:
    """Series of points (x, y, (lo, hi)); with categories, x counts these."""

    def __init__(self, title, x, y, level=None):
        self.title, self.subtitle, self.x, self.y, self.level = title, "", x, y, level  # x, y: (name, unit)
        self.series, self.categories = {}, []

    def add(self, name, x, y, ci95):
        self.series.setdefault(name, []).append((x, y, tuple(ci95)))

    def places(self):
        return sorted({point[0] for points in self.series.values() for point in points})

    def as_table(self):
        """A row for each x: the value and the interval of each series."""
        head = [self.x[0] + SYMBOLS.get(self.x[1], "")]
        for name in self.series:
            head += [display_name(name) + SYMBOLS.get(self.y[1], ""), "95 %"]
        rows = []
        for x in self.places():
            row = [self.categories[int(x)] if self.categories else plain(x)]
            for points in self.series.values():
                found = [point for point in points if point[0] == x]
                row += [plain(found[0][1]), ("ci", f"[{plain(found[0][2][0])}, {plain(found[0][2][1])}]")
                        ] if found else ["", ""]
            rows.append(row)
        return table(head, rows)

    def html(self):
        if not self.series:
            return ""
        colours = colours_of(self.series)
        keys = "".join(f"<li><span style=\"color: {COLOURS[c]}\">{list(MARKERS.values())[c]}</span> "
                       f"{safe(display_name(name))}</li>" for name, c in colours.items())
        return figure_html(self.title, self.subtitle, f"<ul class=\"legend\">{keys}</ul>" + draw(self, colours),
                           self.as_table())


def figure_html(title, subtitle, content, numbers):
    small = f"<small>{safe(subtitle)}</small>" if subtitle else ""
    return (f"<figure><figcaption>{safe(title)}{small}</figcaption>{content}"
            f"<details><summary>Numbers</summary>{numbers}</details></figure>\n")


def to_svg(figure, title):
    """The picture as part of a page, without ids that two pictures would share."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    svg = out.getvalue()[out.getvalue().index("<svg"):]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r"<(g|defs) id=\"[A-Za-z]\w*_\d+\">", r"<\1>", svg)
    svg = re.sub(r"<svg [^>]*?(viewBox=\"[^\"]*\")[^>]*>", rf'<svg xmlns="http://www.w3.org/2000/svg" '
                 rf'xmlns:xlink="http://www.w3.org/1999/xlink" \1 role="img" aria-label="{safe(title)}">', svg, count=1)
    return svg


def new_figure(height):
    import matplotlib
    from matplotlib.figure import Figure
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "tessera", "font.size": 8,
                                "font.sans-serif": ["DejaVu Sans", "sans-serif"]})
    figure = Figure(figsize=(5, height), layout="constrained")
    figure.patch.set_alpha(0)
    return figure


def set_scale(axis, values, unit, is_linear):
    """A logarithmic axis for a wide range of values above 0; few ticks, with units."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator
    if is_linear:
        axis.set_major_locator(MaxNLocator(6))
    else:
        base, least, most = (2 if unit in ("bytes", "powers") else 10), min(values), max(values)
        axis._set_axes_scale("log", base=base)
        decades = math.log(most / least, base)
        subs = (1,) if base == 2 or decades > 2 else (1, 2, 5)
        axis.set_major_locator(LogLocator(base=base, subs=subs, numticks=9))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: label(value, unit)))


def draw(chart, colours):
    figure = new_figure(2.9)
    axes = figure.add_subplot()
    points = [point for series in chart.series.values() for point in series]
    heights = [y for _, y, _ in points]
    is_narrow = min(heights) <= 0 or chart.y[1] in ("percent", "count") and max(heights) < 400
    is_linear = is_narrow or chart.categories and max(heights) <= 20 * min(heights)
    for i, (name, series) in enumerate(chart.series.items()):
        colour, marker = COLOURS[colours[name]], list(MARKERS)[colours[name]]
        series = sorted(series)
        xs, ys = [x for x, _, _ in series], [y for _, y, _ in series]
        floor = 0 if is_linear else min(heights) / 10
        lows, highs = [max(ci95[0], floor) for _, _, ci95 in series], [ci95[1] for _, _, ci95 in series]
        if chart.categories:
            width = 0.8 / len(chart.series)
            xs = [x + (i + 0.5 - len(chart.series) / 2) * width for x in xs]
            if is_linear:
                axes.bar(xs, ys, 0.9 * width, color=colour)
            else:
                axes.plot(xs, ys, linestyle="", marker=marker, color=colour)
            axes.vlines(xs, lows, highs, color="#1b1f24", linewidth=0.8)
        else:
            axes.plot(xs, ys, marker=marker, color=colour, linewidth=1.4, markersize=4)
            axes.fill_between(xs, lows, highs, color=colour, alpha=0.18, linewidth=0)
    set_scale(axes.yaxis, heights, chart.y[1], is_linear)
    if chart.categories:
        width = max(6, 60 // len(chart.categories))  # letters
        axes.set_xticks(range(len(chart.categories)),
                        [textwrap.fill(each.replace("$", r"\$"), width) for each in chart.categories])
    else:
        places = chart.places()
        set_scale(axes.xaxis, places, chart.x[1], places[0] <= 0 or places[-1] < 3 * places[0]
                  or chart.x[1] == "percent")
    axes.set_xlabel(chart.x[0])
    axes.set_ylabel(chart.y[0])
    axes.grid(color="#e3e6ea", linewidth=0.6)
    axes.set_axisbelow(True)
    if chart.level is not None:
        axes.axhline(chart.level, color="#1b1f24", linewidth=0.8, linestyle="--")
    return to_svg(figure, chart.title)


def pattern_html(pattern):
    """Where a matrix has entries: darker cells have more."""
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import FuncFormatter
    cells = [count for line in pattern["cells"] for count in line]
    filled = [count for count in cells if count]
    figure = new_figure(4)
    axes = figure.add_subplot()
    axes.set_axis_off()
    if filled:
        shades = [[count or math.nan for count in line] for line in pattern["cells"]]
        norm = LogNorm(min(filled) / 2, max(filled))
        figure.colorbar(axes.imshow(shades, cmap="Blues", norm=norm, interpolation="none"), label="Entries of a cell",
                        format=FuncFormatter(lambda value, _: label(value, "count")))
    title = f"Entries of {pattern['name']}"
    size = (f"{pattern['rows']} × {pattern['columns']}, {pattern['entries']} entries, in {len(pattern['cells'])} × "
            f"{len(pattern['cells'][0])} cells")
    numbers = table(["Cells", "with entries", "Entries", "least in a filled cell", "most in a cell"],
                    [[len(cells), len(filled), sum(cells), min(filled, default=0), max(filled, default=0)]])
    return figure_html(title, size, to_svg(figure, title), numbers)


# --- sweeps: the measurements of an operation that differ in one number -----------------------------

AXES = {"time": ("Time", "time"), "speed": ("Bandwidth", "speed"), "messages": ("Messages a second", "messages"),
        "percent": ("Speed, in percent of the baseline's", "percent")}
SHOWN = {"time": "time", "speed": "bandwidth", "messages": "message rate", "percent": "percent of each baseline's speed"}
PIECES = re.compile(r"(\d+) x (\d+) B")
COUNTED = re.compile(r"(.+?): (\d+)")


def sweeps_of(variant, bench, op):
    """[(name, x axis, [(x, measurement)])] of all times of `op`."""
    found = [each for each in variant.of(bench, op) if each.unit == "us"]
    pieces = [PIECES.fullmatch(each.shape) for each in found]
    counted = [COUNTED.fullmatch(each.shape) for each in found]
    if found and all(pieces):
        if len({each[2] for each in pieces}) == len(found):
            lines = [("", ("Bytes a piece", "bytes"), int(each[2])) for each in pieces]
        else:
            lines = [(f"rows of {each[2]} B", ("Rows", "powers"), int(each[1])) for each in pieces]
    elif found and all(counted) and len({each[1] for each in counted}) == 1:
        lines = [("", (counted[0][1].capitalize(), "count"), int(each[2])) for each in counted]
    else:
        is_by_size = len({each.size for each in found}) == len(found)
        lines = [("" if is_by_size else each.shape, ("Size", "bytes"), each.size) for each in found]
    sweeps = {}
    for measurement, (part, axis, x) in zip(found, lines):
        name = f"{bench} {op}" + (f", {part}" if part else "")
        sweeps.setdefault(name, (name, axis, []))[2].append((x, measurement))
    return list(sweeps.values())


def value_of(entry, show):
    """(value, ci95) that a chart shows; None if unknown."""
    time, ci95 = entry.median, entry.ci95
    if show == "time":
        return time, ci95
    rate = entry.number("bytes_per_s" if show == "speed" else "operations_per_s") * 1e-6
    if rate <= 0 or time <= 0 or ci95[0] <= 0:
        return None
    return rate, [rate * time / ci95[1], rate * time / ci95[0]]


def percents_of(measurement):
    """For each baseline: 100 × its time / the subject's in the same rounds, for the same bytes."""
    subject = measurement.subject()
    if subject is None or kind_of(subject.backend) in ("baseline", "yardstick"):
        return

    def work(entry):
        return entry.launches[0]["bytes_per_s"] * entry.launches[0]["median"]
    for other in measurement.entries.values():
        ratio = subject.ratio_to(other.backend) if kind_of(other.backend) == "baseline" else None
        if other is not subject and ratio and ratio[0] > 0 and ratio[1][0] > 0:
            whole = 100 * (work(subject) / work(other) if work(subject) > 0 and work(other) > 0 else 1)
            yield other.backend, whole / ratio[0], [whole / ratio[1][1], whole / ratio[1][0]]


def sweep_chart(sweep, show):
    name, axis, lines = sweep
    chart = Chart(f"{name}: {SHOWN[show]}", axis, AXES[show], 100 if show == "percent" else None)
    is_alone = len(lines) == 1
    chart.categories = [label(lines[0][0], axis[1])] if is_alone else []
    for x, measurement in lines:
        at = 0 if is_alone else x
        if show == "percent":
            for backend, value, ci95 in percents_of(measurement):
                chart.add(backend, at, value, ci95)
            continue
        for entry in measurement.entries.values():
            found = value_of(entry, show) if kind_of(entry.backend) != "yardstick" else None
            if found:
                chart.add(entry.backend, at, *found)
    return chart


# --- panels of experiments: charts of a variant -----------------------------------------------------


def add_times(chart, measurement, x):
    for entry in measurement.entries.values():
        if kind_of(entry.backend) != "yardstick":
            chart.add(entry.backend, x, entry.median, entry.ci95)


def curves_panel(variant, panel):
    if variant.is_on(panel["on"]):
        yield from (sweep_chart(sweep, panel["y"]) for sweep in sweeps_of(variant, panel["bench"], panel["op"]))


def bars_panel(variant, panel):
    chart = Chart(panel["what"], ("", "count"), AXES["time"])
    for op, name in panel["names"].items():
        for measurement in variant.of(panel["bench"], op)[:1]:
            chart.categories.append(name)
            add_times(chart, measurement, len(chart.categories) - 1)
    yield chart


def hidden_parts(measurement):
    """(transfer, percent, ci95): (blocking + computing − overlapped) / blocking; not if other load disturbed it."""
    computing = measurement.entries.get("computation")
    for blocking in measurement.entries.values():
        both = measurement.entries.get(blocking.backend + " overlapped")
        if computing is None or both is None or blocking.median <= 0 or blocking.ci95[0] <= 0:
            continue
        if max(blocking.median, computing.median) > 1.05 * both.median:
            continue
        low, high = blocking.ci95
        lost, won = computing.ci95[0] - both.ci95[1], computing.ci95[1] - both.ci95[0]
        most = min(computing.ci95[1] / low, 1)
        ends = [1 + lost / (low if lost < 0 else high), 1 + won / (low if won > 0 else high)]
        value = (blocking.median + computing.median - both.median) / blocking.median
        value = min(max(value, 0), min(computing.median / blocking.median, 1))
        yield blocking.backend, 100 * value, [100 * min(max(end, 0), most) for end in ends]


def steps_panel(variant, _):
    """What each step of a growing computation hides, by size; and what the longest step hides of each size."""
    longest = Chart("Part of a get that the longest computation hides, by size", ("Size", "bytes"), ("Hidden", "percent"))
    by_size = {}
    for each in variant.of("net", "overlap_steps"):
        if step := re.match(r"computation ([\d.]+)", each.shape):
            by_size.setdefault(each.size, []).append((float(step[1]), each))
    charts = []
    for size, steps in sorted(by_size.items()):
        chart = Chart(f"Get of {label(size, 'bytes')} during a computation",
                      ("Computation, in percent of the get's time", "percent"), ("Hidden", "percent"))
        for step, measurement in steps:
            for backend, value, ci95 in hidden_parts(measurement):
                chart.add(backend, step, value, ci95)
                if step == max(steps, key=lambda each: each[0])[0]:
                    longest.add(backend, size, value, ci95)
        charts.append(chart)
    yield longest
    yield from charts


def longest_panel(variant, _):
    chart = Chart("Get of 4 MiB during a computation that is long enough", ("Target", "count"), ("Hidden", "percent"))
    for op, name in (("overlap_idle", "target idle"), ("overlap_busy", "target computing")):
        for measurement in variant.of("net", op)[:1]:
            chart.categories.append(name)
            for backend, value, ci95 in hidden_parts(measurement):
                chart.add(backend, len(chart.categories) - 1, value, ci95)
    yield chart


def left_panel(variant, _):
    """The processor time that a transfer leaves: 1 − running / blocking."""
    for op in ("overlap_put", "overlap_get"):
        chart = Chart(f"verbs {op}: processor time left", ("Size", "bytes"), ("Left", "percent"))
        for each in variant.of("verbs", op):
            for blocking in each.entries.values():
                running = each.entries.get(blocking.backend + " running")
                if running and blocking.ci95[0] > 0:
                    def left(part, of):
                        return min(max(100 * (1 - part / of), 0), 100)
                    chart.add(blocking.backend, each.size, left(running.median, blocking.median),
                              [left(running.ci95[1], blocking.ci95[0]), left(running.ci95[0], blocking.ci95[1])])
        yield chart


def growth_panel(variant, panel):
    """Without the largest numbers of processes, which would hide the paper's."""
    chart = Chart(panel["what"], ("Processes", "count"), ("MB", "count"))
    for each in variant.of("scale", "agent_growth"):
        for entry in each.entries.values() if each.size <= 10_000 else ():
            chart.add(entry.backend, each.size, entry.median, entry.ci95)
    yield chart


def fences_panel(variant, _):
    """How much faster fence_all is than a fence for each rank, in percent: by ranks, and by outstanding fences."""
    def gain(measurement, fence):
        entry = measurement.entries.get(fence)
        ratio = entry.ratio_to("fence each") if entry else None
        return (100 * (1 / ratio[0] - 1), [100 * (1 / end - 1) for end in reversed(ratio[1])]
                ) if ratio and ratio[0] > 0 and ratio[1][0] > 0 else None

    def ranks(measurement):  # older files have them only as bytes
        counted = COUNTED.fullmatch(measurement.shape)
        return int(counted[2]) if counted else measurement.size // 8
    by_ranks = Chart("fence_all: gain over a fence for each rank", ("Ranks written to", "count"), ("Gain", "percent"))
    by_limit = Chart("fence_all: gain by outstanding fences", ("Outstanding fences", "count"), ("Gain", "percent"))
    for op, name in (("fence_all", "called by one rank"), ("fence_all_by_all", "called by all ranks")):
        measurements = variant.of("net", op)
        points = [(by_ranks, ranks(each), gain(each, "fence_all")) for each in measurements]
        if measurements:
            most = max(measurements, key=ranks)
            points += [(by_limit, limit, gain(most, f"fence_all of {limit}")) for limit in (3, 5, 7)]
        for chart, x, found in points:
            if found:
                chart.add(name, x, *found)
    yield from (chart for chart in (by_ranks, by_limit) if len(chart.places()) > 1)


def each_rank_panel(variant, _):
    for measurement in variant.measurements:
        chart = Chart(f"Communication of each rank in a product, {measurement.shape}", ("Rank", "count"), AXES["time"])
        for entry in measurement.entries.values():
            for rank in range(max(len(launch["by_rank"]) for launch in entry.launches)):
                times = [(launch["by_rank"][rank], (launch["by_rank_ci95"] or [[t, t] for t in launch["by_rank"]])[rank])
                         for launch in entry.launches if rank < len(launch["by_rank"])]
                chart.add(entry.backend, rank, *joined(times))
        chart.categories = [str(int(place)) for place in chart.places()]
        yield chart


def ranks_a_node(variant):
    launch = variant.launches[0]["launch"]
    most = -(-launch["ranks"] // launch["nodes"])
    return "on one node" if launch["nodes"] == 1 else (
        ("" if launch["ranks"] % launch["nodes"] == 0 else "up to ") + plural(most, "rank") + " a node")


def families_of(variants):
    """Groups of variants that differ only in their numbers of ranks and what follows from these."""
    follows = re.compile(r"ranks|nodes|binding|cores|mpi|TESSERA_RANKS_PER_NODE|OMPI_.*")

    def rank_count(variant):
        return variant.launches[0]["launch"]["ranks"]
    groups = []
    for variant in variants:
        alike = [group for group in groups if ranks_a_node(group[0]) == ranks_a_node(variant)
                 and all(follows.fullmatch(key) for key in keys_that_differ(group[0], variant))
                 and rank_count(variant) not in map(rank_count, group)]
        if alike:
            alike[0].append(variant)
        else:
            groups.append([variant])
    return groups


def by_ranks_html(dataset, panel):
    """Empty with one number of ranks, which bars show."""
    html = ""
    for op, name in panel["names"].items():
        for family in families_of([each for each in dataset.shown() if each.of(panel["bench"], op)]):
            chart = Chart(f"{name} by ranks, {ranks_a_node(family[0])}", ("Ranks", "count"), AXES["time"])
            chart.subtitle = max((each.name.partition(", ")[2] for each in family), key=len)
            for variant in family:
                add_times(chart, variant.of(panel["bench"], op)[0], variant.launches[0]["launch"]["ranks"])
            html += chart.html() if len(chart.places()) > 1 else ""
    return html


def small_html(dataset, panel):
    """A table of operations of 8 bytes."""
    rows = []
    for name, bench, ops, nodes in panel["rows"]:
        for variant in dataset.shown():
            cells = []
            for op in ops if variant.is_on(nodes) else ():
                found = [m.subject() for m in variant.of(bench, op) if m.size == 8 and not m.shape and m.subject()]
                cells.append(f"{brief(found[0].median)} {brief_interval(found[0].ci95)}" if found else "")
            if any(cells):
                rows.append([name + place_of(dataset, variant), *cells])
    head = [("text", "Memory of"), *(f"{column} (µs)" for column in panel["columns"])]
    return (f"<figure class=\"full\"><figcaption>8 bytes, median and 95 % interval</figcaption>{table(head, rows)}"
            "</figure>\n" if rows else "")


def place_of(dataset, variant):
    return f" ({variant.name})" if len(dataset.shown()) > 1 else ""


def patterns_html(dataset, panel):
    patterns = [pattern for run in dataset.runs for pattern in run["patterns"]]
    return "".join(pattern_html(found[0]) for name in panel["names"]
                   if (found := [each for each in patterns if each["name"] == name]))


def is_measured(dataset, panel):
    """By a candidate whose name begins with panel["by"], and that doesn't use memory between nodes."""
    return any(entry.backend.startswith(panel["by"]) and " in memory" not in entry.backend
               for variant in dataset.shown() if variant.is_on(panel["on"])
               for measurement in variant.of(panel["bench"], panel["op"]) for entry in measurement.entries.values())


def panel_html(dataset, panel):
    """Figures for each shown setting; empty if the files have no results for them."""
    if panel["kind"] in OF_DATASETS:
        return OF_DATASETS[panel["kind"]](dataset, panel)
    charts = []
    for variant in dataset.shown() if panel["kind"] in OF_VARIANTS else ():
        for chart in OF_VARIANTS[panel["kind"]](variant, panel):
            chart.subtitle = variant.name if len(dataset.shown()) > 1 else ""
            charts.append(chart.html())
    return "".join(charts)


def what_of(panel):
    """What the panel shows, as part of a sentence."""
    return f"{SHOWN[panel['y']]} of {panel['bench']} {panel['op']}" if panel["kind"] == "curves" else panel["what"]


OF_VARIANTS = {"curves": curves_panel, "bars": bars_panel, "steps": steps_panel, "longest": longest_panel,
               "left": left_panel, "growth": growth_panel, "fences": fences_panel, "each_rank": each_rank_panel}
OF_DATASETS = {"by_ranks": by_ranks_html, "small": small_html, "patterns": patterns_html}
