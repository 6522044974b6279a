# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates the numbers of several implementations: medians of rounds, their spread, ratios to a
baseline and to Tessera. Writes them as a table, as JSON and as CSV."""

import csv
import fnmatch
import json
import statistics
from dataclasses import dataclass, field

SUBJECT = "tessera"

# The baseline of a case, by the part of its name before the size. A case that is not listed has
# none.
FLOORS_IN_MEMORY = {
    "put": "memcpy", "get": "memcpy", "acc": "axpy",
    "put_strided": "memcpy_rows", "get_strided": "memcpy_rows", "acc_strided": "axpy_rows",
    "put_vector": "memcpy_words", "get_vector": "memcpy_words", "acc_vector": "axpy_words",
    "nb_get_implicit": "memcpy_words", "nb_get_aggregate": "memcpy_words",
    "overlap_get": "memcpy",
    "get_each_of": "load_each_of",
}
# These have one size, whatever the case's.
WORD_FLOORS_IN_MEMORY = {
    "fetch_add_int": "xadd/8", "fetch_add_long": "xadd/8",
    "swap_int": "xchg/8", "swap_long": "xchg/8",
    "get_one_of": "load_each_of/1",
    "lock_unlock": "two_atomics/8", "put_fence": "memcpy/8",
    "in_receive.get": "memcpy/8", "in_receive.put_fence": "memcpy/8",
    "in_barrier.get": "memcpy/8", "in_barrier.put_fence": "memcpy/8",
    "computing.get": "memcpy/8", "computing.put_fence": "memcpy/8",
}
# Between nodes: puts and accumulates are a stream with one reply at its end, as in their cases. A
# case that receives data, or waits, is a round trip of that many bytes.
STREAMED = ("put", "acc", "put_strided", "acc_strided", "put_vector", "acc_vector")
ASKED_FOR = ("get", "get_strided", "get_vector", "nb_get_implicit", "nb_get_aggregate", "overlap_get")
WITHOUT_FLOOR = ("overlap_hidden", "floor")
SCATTERED_BYTES = 8


def bytes_of(what, size):
    """The bytes that one call of a case moves, from its name."""
    if "x" in size:
        row_bytes, rows = size.split("x")
        return int(row_bytes) * int(rows)
    is_list = what.endswith("_vector") or what.startswith("nb_")
    return int(size) * (SCATTERED_BYTES if is_list else 1)


def floor_of(case, nodes):
    """The name of the baseline of a case, or None."""
    what, size = case.split("/")
    if what.split(".")[0] in WITHOUT_FLOOR:
        return None
    if nodes > 1:
        if what in STREAMED:
            return f"floor.tcp_stream/{bytes_of(what, size)}"
        if what in ASKED_FOR:
            return f"floor.tcp_polling/{bytes_of(what, size)}"
        return "floor.tcp_polling/8"
    if what in FLOORS_IN_MEMORY:
        return f"floor.{FLOORS_IN_MEMORY[what]}/{size}"
    return f"floor.{WORD_FLOORS_IN_MEMORY[what]}" if what in WORD_FLOORS_IN_MEMORY else None


def choose_cases(names, patterns, nodes):
    """The names that match a pattern, and the baselines that they need; baselines first.

    A pattern matches baselines only if it begins with their common prefix, `floor.`.
    """
    def is_meant(name):
        return any(fnmatch.fnmatchcase(name, p) for p in patterns
                   if name.startswith("floor.") == p.startswith("floor."))

    chosen = [name for name in names if is_meant(name)]
    needed = {floor_of(name, nodes) for name in chosen}
    return [name for name in names if name.startswith("floor.") and (name in needed or name in chosen)] \
        + [name for name in chosen if not name.startswith("floor.")]


def middle_half(samples):
    """The interquartile range of at least two samples."""
    quartiles = statistics.quantiles(samples, n=4, method="inclusive")
    return quartiles[2] - quartiles[0]


@dataclass
class Summary:
    """One case of one implementation, over all rounds."""
    state: str            # "ok", or the state of the first bad round
    note: str
    unit: str
    bytes: int
    rounds: list          # the value of each
    value: float          # their median
    spread: float         # (largest - smallest) / median; of one round: middle half / median


def spread_of(rounds, samples):
    """The range of the rounds' values or, for a single round, the interquartile range of its
    samples, divided by the median. 0 if it can't be computed."""
    middle = statistics.median(rounds)
    if middle <= 0:
        return 0.0
    if len(rounds) > 1:
        return (max(rounds) - min(rounds)) / middle
    return middle_half(samples) / middle if len(samples) > 1 else 0.0


def summarise(records):
    """The Summary of the records of one case, one record per round."""
    bad = [r for r in records if r["state"] != "ok"]
    first = (bad or records)[0]
    rounds = [r["value"] for r in records]
    return Summary(state=first["state"], note=first["note"], unit=first["unit"],
                   bytes=first["bytes"], rounds=rounds, value=statistics.median(rounds),
                   spread=spread_of(rounds, records[0]["samples"]))


@dataclass
class Comparison:
    """All results. `remarks` has a line for each implementation that is missing or has failed."""
    nodes: int
    names: list                                   # of the implementations, in their order
    records: dict = field(default_factory=dict)   # (implementation, case): [record of a round]
    cases: list = field(default_factory=list)     # in the order of the first run
    remarks: list = field(default_factory=list)   # (implementation, sentence)

    def add(self, implementation, record):
        case = record["case"]
        if case not in self.cases:
            self.cases.append(case)
        self.records.setdefault((implementation, case), []).append(record)

    def summary(self, implementation, case):
        records = self.records.get((implementation, case))
        return summarise(records) if records else None

    def floor(self, implementation, case):
        """The baseline's value in the runs of this implementation, or None."""
        name = floor_of(case, self.nodes)
        summary = self.summary(implementation, name) if name else None
        return summary.value if summary and summary.state == "ok" and summary.value > 0 else None

    def to_floor(self, implementation, case):
        """Time / time of the baseline in the same runs, or None."""
        summary, floor = self.summary(implementation, case), self.floor(implementation, case)
        return summary.value / floor if is_time(summary) and floor else None

    def to_subject(self, implementation, case):
        """Time / Tessera's: above 1, Tessera is faster. None if one of the times is missing."""
        summary, subject = self.summary(implementation, case), self.summary(SUBJECT, case)
        if implementation == SUBJECT or not is_time(summary) or not is_time(subject):
            return None
        return summary.value / subject.value

    def present(self):
        """The implementations that have results."""
        return [n for n in self.names if any(name == n for name, _ in self.records)]

    def is_wrong(self):
        return any(r["state"] == "wrong" for records in self.records.values() for r in records)

    def rows(self):
        """The results as a flat list: a dictionary for each case and implementation."""
        for case in self.cases:
            for name in self.present():
                summary = self.summary(name, case)
                if summary is None:
                    continue
                yield {"case": case, "implementation": name, "bytes": summary.bytes,
                       "unit": summary.unit, "state": summary.state, "note": summary.note,
                       "value": summary.value, "spread": summary.spread, "rounds": summary.rounds,
                       "floor": floor_of(case, self.nodes), "floor_ns": self.floor(name, case),
                       "ratio_to_floor": self.to_floor(name, case),
                       f"ratio_to_{SUBJECT}": self.to_subject(name, case)}


def is_time(summary):
    return summary is not None and summary.unit == "ns" and summary.state == "ok" and summary.value > 0


def shown_value(summary):
    if summary is None:
        return "-"
    if summary.state == "no progress":
        return "no progress"
    if summary.state != "ok":
        return summary.state.upper() if summary.state == "wrong" else summary.state
    if summary.unit == "fraction":
        return f"{summary.value * 100:.0f} %"
    return f"{summary.value:.1f}" if summary.value < 1000 else f"{summary.value:.0f}"


def shown_ratio(ratio):
    if ratio is None:
        return "-"
    return f"{ratio:.2f}" if ratio < 100 else f"{ratio:.0f}"


def shown_spread(summary):
    if not is_time(summary):
        return "-"
    return f"{summary.spread * 100:.0f} %"


def print_table(comparison, floors_too):
    """Case, size, and for each implementation time, spread and ratios."""
    names = comparison.present()
    for name, sentence in comparison.remarks:
        print(f"# {name}: {sentence}")
    if not names:
        return
    head = f"# {'case':<24}{'size':>10}"
    second = f"# {'':<24}{'':>10}"
    for name in names:
        ratios = "" if name == SUBJECT or SUBJECT not in names else f"{'/ ' + SUBJECT:>10}"
        head += f"  {name:>{29 + len(ratios)}}"
        second += f"  {'ns':>12}{'spread':>8}{'/ base':>9}{ratios}"
    print(head)
    print(second)
    for case in comparison.cases:
        if not case.startswith("floor.") or case in floors_too:
            print(table_line(comparison, names, case))


def table_line(comparison, names, case):
    what, size = case.split("/")
    line = f"  {what:<24}{size:>10}"
    for name in names:
        summary = comparison.summary(name, case)
        line += f"  {shown_value(summary):>12}{shown_spread(summary):>8}"
        line += f"{shown_ratio(comparison.to_floor(name, case)):>9}"
        if name != SUBJECT and SUBJECT in names:
            line += f"{shown_ratio(comparison.to_subject(name, case)):>10}"
    return line


def write_json(path, comparison, about):
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schema": "tessera-armci-bench/1", **about,
                   "implementations": comparison.present(),
                   "missing": dict(comparison.remarks),
                   "results": list(comparison.rows())}, file, indent=1)
        file.write("\n")


def write_csv(path, comparison):
    columns = ["case", "implementation", "bytes", "unit", "state", "value", "spread", "floor",
               "floor_ns", "ratio_to_floor", f"ratio_to_{SUBJECT}", "note"]
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(comparison.rows())
