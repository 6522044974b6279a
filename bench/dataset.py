# SPDX-License-Identifier: BSD-3-Clause
"""Reads the files that tessera-bench --json wrote, and orders their results.

Unknown fields are ignored, so that files of newer versions can be read. Runs of one version under one
setting (machine, ranks, nodes, binding, MPI, variables) are launches of one run, and statements hold for
all of them together. Runs under different settings are never compared.
"""

import copy
import json
import statistics
from pathlib import Path

SCHEMA = "tessera-bench/1"
LAUNCHER_VARIABLE = "TESSERA_LAUNCH"
SAMPLES_FOR_AN_INTERVAL = 6
DEEPEST = 64


class BadFile(Exception):
    """'a.json: /results/3/median: expected a number, found a string'"""


# --- checks of fields, by the rules of schema.json ---------------------------------------------------

RULES = json.loads(Path(__file__).with_name("schema.json").read_text(encoding="utf-8"))
DEFAULTS = {  # of fields that may be absent
    "unfinished": "", "targets": [], "ratings": [], "patterns": [], "options": {}, "cases_without_reference": 0,
    "worst": None, "ci95": None, "where": "", "samples_n": 0, "operations_per_s": 0, "ratio": None, "against": None,
    "by_rank": [], "by_rank_ci95": []}
KINDS = {"object": (dict, "an object"), "array": (list, "a list"), "string": (str, "a string"),
         "boolean": (bool, "true or false"), "integer": (int, "a whole number"), "number": ((int, float), "a number")}


def refuse(place, what):
    raise BadFile(f"{place}{'/' if place.endswith(': ') else ''}: {what}")


def found_kind(value):
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return f"the number {value}"
    return {str: "a string", list: "a list"}.get(type(value), "an object")


def check(value, rule, place):
    """The value, without unknown fields and with the defaults of absent ones."""
    name = rule.get("$ref", "").rpartition("/")[2]
    rule = RULES["$defs"][name] if name else rule
    if "enum" in rule and (not isinstance(value, str) or value not in rule["enum"]):
        refuse(place, f"expected {' or '.join(rule['enum'])}, found '{value}'")
    if "type" not in rule:  # enum, const
        return value
    python, kind = KINDS[rule["type"]]
    if not isinstance(value, python) or isinstance(value, bool) and python is not bool:
        refuse(place, f"expected {kind}, found {found_kind(value)}")
    if rule["type"] == "string" and len(value) < rule.get("minLength", 0):
        refuse(place, "expected a name, found an empty string")
    if rule["type"] in ("integer", "number"):
        check_number(value, rule, place)
    if rule["type"] == "array":
        value = [check(one, rule["items"], f"{place}/{i}") for i, one in enumerate(value)]
        if name == "interval":
            check_interval(value, place)
    return check_object(value, rule, place) if rule["type"] == "object" else value


def check_number(value, rule, place):
    """Small enough that what the page computes from two is finite."""
    least = rule.get("minimum")
    kind = "a whole number" if rule["type"] == "integer" else "a number"
    if rule["type"] == "number" and value != 0 and not 1e-30 <= abs(value) <= 1e30:
        refuse(place, f"expected 0 or a size between 1e-30 and 1e+30, found {value}")
    if least is not None and value < least or rule["type"] == "integer" and value >= 2**63:
        refuse(place, f"expected {kind} of at least {least}, found {value}")
    if "exclusiveMinimum" in rule and value <= rule["exclusiveMinimum"]:
        refuse(place, f"expected a number above {rule['exclusiveMinimum']}, found {value}")


def check_interval(ends, place):
    if len(ends) != 2:
        refuse(place, f"expected two numbers, found a list of {len(ends)}")
    if ends[0] > ends[1]:
        refuse(place, f"expected the smaller number first, found {ends}")


def check_object(value, rule, place):
    others = rule.get("additionalProperties", False)
    if others:
        return {key: check(one, others, f"{place}/{key}") for key, one in value.items()}
    for key in rule["required"]:
        if key not in value:
            refuse(place, f"expected a field '{key}', found none")
    return {key: copy.copy(DEFAULTS.get(key)) if key not in value
            else {name: description(one) for name, one in value[key].items()} if key == "host"
            and isinstance(value[key], dict) else check(value[key], one, f"{place}/{key}")
            for key, one in rule["properties"].items() if key in value or key in DEFAULTS}


def description(value):
    """Text to print: text as it is, lists with commas."""
    if isinstance(value, list):
        return ", ".join(map(description, value))
    return value if isinstance(value, str) else json.dumps(value)


def check_result(result, place):
    """Refuses statistics that no samples can have."""
    low, high = result["ci95_median"]
    if not low <= result["median"] <= high:
        refuse(f"{place}/median", f"expected a number in ci95_median, [{low}, {high}], found {result['median']}")
    if result["p99"] < result["median"]:
        refuse(f"{place}/p99", f"expected a number of at least the median, {result['median']}, found {result['p99']}")
    if result["unit"] == "us" and low < 0:
        refuse(f"{place}/ci95_median", f"expected times of at least 0, found {low}")
    if result["by_rank_ci95"] and len(result["by_rank_ci95"]) != len(result["by_rank"]):
        refuse(f"{place}/by_rank_ci95", f"expected {len(result['by_rank'])} intervals, one for each number of "
               f"by_rank, found {len(result['by_rank_ci95'])}")


def check_pattern(pattern, place):
    width = max(len(pattern["cells"][0]), 1) if pattern["cells"] else 1
    for i, line in enumerate(pattern["cells"]):
        if len(line) != width:
            refuse(f"{place}/cells/{i}", f"expected {width} cells, as in the first line, found {len(line)}")
    total = sum(map(sum, pattern["cells"]))
    if not pattern["cells"] or total != pattern["entries"]:
        refuse(f"{place}/cells", f"expected {pattern['entries']} entries in cells, found {total}")


def to_run(file, value):
    """The run of parsed JSON; `file` stands for it in messages."""
    place = f"{file}: "
    if not isinstance(value, dict):
        refuse(place, f"expected an object, found {found_kind(value)}")
    if "schema" not in value:
        refuse(place, f"expected a field 'schema' with \"{SCHEMA}\", found none: tessera-bench --json did not write "
               "this file")
    if value["schema"] != SCHEMA:
        refuse(f"{place}/schema", f"expected \"{SCHEMA}\", found {json.dumps(value['schema'])}")
    run = check(value, RULES, place)
    launch = run["launch"]
    if launch["nodes"] > launch["ranks"]:
        refuse(f"{place}/launch/nodes", f"expected at most {launch['ranks']} nodes, the number of ranks, found "
               f"{launch['nodes']}")
    if "--no-check" in launch["argv"]:  # older files have it only in their command
        launch["options"].setdefault("--no-check", "yes")
    for i, target in enumerate(run["targets"]):
        if target["worst"] is not None and target["ci95"] is None:
            refuse(f"{place}/targets/{i}", "expected a field 'ci95', found none")
    for i, pattern in enumerate(run["patterns"]):
        check_pattern(pattern, f"{place}/patterns/{i}")
    for i, result in enumerate(run["results"]):
        check_result(result, f"{place}/results/{i}")
    return run | {"file": file}


def depth_of(content):
    """How deep brackets nest, at most; those in strings count, too, which only refuses earlier."""
    depth = deepest = 0
    for letter in content:
        depth += (letter in "[{") - (letter in "]}")
        deepest = max(deepest, depth)
    return deepest


def read_run(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            content = file.read()
    except OSError as error:
        raise BadFile(f"cannot read {path}: {error.strerror}") from error
    if depth_of(content) > DEEPEST:
        raise BadFile(f"{path}: nested more than {DEEPEST} levels deep")
    try:
        return to_run(str(path), json.loads(content))
    except json.JSONDecodeError as error:
        raise BadFile(f"{path}: line {error.lineno}, column {error.colno}: {error.msg}") from error


# --- names of candidates --------------------------------------------------------------------------
# A name and a blank may precede more: "mpi in memory". The number is the colour of page charts; MPI's is 2.

OURS = {
    0: ("tessera", "shm", "tcp", "server", "verbs", "loopback", "tessera-mg", "tessera-agent", "fence_all",
        "called by one rank", "default", "auto", "one list", "regular", "counter", "conjugate gradients",
        "rows", "all ranks", "across nodes", "allocate_local", "copies on nodes"),
    1: ("constants",),
    3: ("fence_all of 3", "direct", "own slice", "aggregate", "zero-copy", "local matrix"),
    4: ("pipelined from 2K",),
    5: ("neighbours",),
    6: ("fence_all of 5", "batched", "native tcp", "newly mapped", "vector", "pipelined", "tiled",
        "other numa", "one rank", "cache", "two levels"),
    7: ("tessera-comm", "fence_all of 7", "called by all ranks", "conservative", "native shm",
        "ordinary memory", "same region", "used before", "plain", "1000 calls", "n calls", "one by one",
        "contiguous", "buffered", "round robin", "same node", "same numa", "each to its owner", "fence each",
        "fence and barrier"),
}
BASELINES = {
    1: ("plain loops", "memcpy", "axpy", "lock xadd", "lock cmpxchg", "xchg", "two atomics", "spin lock",
        "all axpy", "serial loop", "binary search", "dgemm at once", "cg at once", "rma", "pwrite", "pread",
        "bare loop", "loads and stores"),
    2: ("mpi neighbours", "mpi"),
    3: ("global arrays", "openshmem"),
    4: ("tcp polling", "tcp with helpers", "mpi alloc_mem", "pdgemm", "pdgemr2d", "pdtran"),
    5: ("tcp blocking", "own table", "armci-mpi"),
    6: ("mpi two-sided",),
    7: ("one axpy", "mpi overlapped"),
}
YARDSTICKS = {  # times of other work
    7: ("triad", "computation"),
}
KNOWN = {name: (kind, colour)
         for kind, names in (("ours", OURS), ("baseline", BASELINES), ("yardstick", YARDSTICKS))
         for colour, group in names.items() for name in group}


def known(backend):
    """(kind, colour) by the longest known name that `backend` begins with."""
    words = backend.split(" ")
    for count in range(len(words), 0, -1):
        if found := KNOWN.get(" ".join(words[:count])):
            return found
    return ("unknown", None)


def kind_of(backend):
    """ "ours", "baseline", "yardstick" or "unknown"."""
    if backend.endswith(" running") or backend.endswith(" overlapped") and backend != "mpi overlapped":
        return "yardstick"  # its time contains a computation, or lacks the part that waits
    return known(backend)[0]


def display_name(backend):
    if kind_of(backend) != "ours":
        return backend
    return "Tessera" if backend == "tessera" else f"Tessera, {backend}"


# --- results over launches --------------------------------------------------------------------------


def hull(intervals):
    return [min(low for low, _ in intervals), max(high for _, high in intervals)]


def joined(ratios):
    """(value, ci95): the median, and an interval that contains all."""
    return (statistics.median(value for value, _ in ratios), hull([ci95 for _, ci95 in ratios]))


class Entry:
    """A candidate of one measurement, over all launches that have it."""

    def __init__(self, backend):
        self.backend = backend
        self.launches = []

    def number(self, key):
        return statistics.median(launch[key] for launch in self.launches)

    @property
    def median(self):
        return self.number("median")

    @property
    def ci95(self):
        return hull([launch["ci95_median"] for launch in self.launches])

    def ratio_to(self, other):
        """Time / time of `other`, as (value, ci95); None if a launch lacks it."""
        found = []
        for launch in self.launches:
            ratios = (launch["against"] or []) + ([launch["ratio"]] if launch["ratio"] else [])
            found += [(each["value"], each["ci95"]) for each in ratios if each["to"] == other][:1]
        return joined(found) if len(found) == len(self.launches) else None

    def has_intervals(self):
        return all(launch["samples_n"] >= SAMPLES_FOR_AN_INTERVAL for launch in self.launches)


class Measurement:
    """The candidates that were measured in the same rounds."""

    def __init__(self, key):
        self.key = key
        self.bench, self.op, self.shape, self.size, self.unit = key
        self.entries = {}

    def subject(self):
        """The candidate that it is about; Tessera's last one if no file says which."""
        told = [e for e in self.entries.values() if e.launches[0]["against"] is not None]
        ours = [e for e in self.entries.values() if kind_of(e.backend) == "ours"]
        return told[0] if told else ours[-1] if ours else None


class Variant:
    """The runs of one version under one setting."""

    def __init__(self, settings, version, is_baseline):
        self.settings, self.version, self.is_baseline = settings, version, is_baseline
        self.launches, self.found = [], {}
        self.name = plural(settings["ranks"], "rank") + " on " + plural(settings["nodes"], "node")

    def add(self, run):
        self.launches.append(run)
        seen = set()
        for result in run["results"]:
            key = tuple(result[field] for field in ("bench", "op", "shape", "size", "unit"))
            entries = self.found.setdefault(key, Measurement(key)).entries
            if (key, result["backend"]) not in seen:  # measured twice: the first counts
                seen.add((key, result["backend"]))
                entries.setdefault(result["backend"], Entry(result["backend"])).launches.append(result)

    @property
    def measurements(self):
        return list(self.found.values())

    def of(self, bench, op):
        return [each for each in self.found.values() if (each.bench, each.op) == (bench, op)]

    def shares_results(self, other):
        return not self.found.keys().isdisjoint(other.found)

    def is_on(self, nodes):
        return nodes == "any" or (nodes == "one node") == (self.launches[0]["launch"]["nodes"] == 1)

    def targets(self):
        """By name, over all launches; the median of their worst cases decides."""
        verdicts = {}
        for target in (target for run in self.launches for target in run["targets"]):
            verdict = verdicts.setdefault(target["name"], {"target": target, "worst": [], "without": 0, "few": False})
            verdict["without"] += target["cases_without_reference"]
            if target["worst"] is not None:
                verdict["target"] = verdict["target"] if verdict["worst"] else target
                verdict["worst"].append((target["worst"], target["ci95"]))
                verdict["few"] |= 0 < target["samples_n"] < SAMPLES_FOR_AN_INTERVAL
        for verdict in verdicts.values():
            verdict["launches"] = len(verdict["worst"])
            verdict["worst"] = joined(verdict["worst"]) if verdict["worst"] else None
        return list(verdicts.values())


def plural(count, noun):
    return f"{count} {noun}{'' if int(count) == 1 else 's'}"


def settings_of(run):
    """All settings whose differences make the numbers of runs incomparable."""
    host, launch = run["host"], run["launch"]
    found = {key: value for key, value in run["env"].items() if key != LAUNCHER_VARIABLE}
    found |= {key: host[key] for key in ("cpu", "cores", "blas_threads") if key in host}
    if "mpi" in host:
        found["mpi"] = host["mpi"].split(",")[0]  # without the part that names the builder
    if "nics" in host and launch["nodes"] > 1:  # a container's link has another name each time
        found["nics"] = ", ".join(one for one in host["nics"].split(", ") if not one.startswith("veth"))
    return found | {key: str(launch[key]) for key in ("ranks", "nodes", "binding")} | launch["options"]


def description_of(key, value):
    """ "binding none", "without mpi"; a variable of the environment as it is set."""
    if key[0].isupper():
        return f"{key}={value}" if value else f"{key} not set"
    if key == "blas_threads":
        return "BLAS threads not set" if value in ("", "0") else f"BLAS threads {value}"
    if not value:
        return f"without {key}"
    if key.startswith("--"):
        return f"with {key}" + ("" if value == "yes" else f" {value}")
    return f"{key} {value}"


def keys_that_differ(a, b):
    return sorted(key for key in a.settings.keys() | b.settings.keys()
                  if a.settings.get(key, "") != b.settings.get(key, ""))


def version_of(run):
    return f"{run['suite_version']} ({run['git']})"


class Dataset:
    def __init__(self, runs, baseline=()):
        """`baseline` has names of files among `runs`. Without it, the first run's version is the baseline."""
        self.runs, self.has_baseline_files, self.variants = runs, bool(baseline), []
        for run in runs:
            is_baseline = run["file"] in baseline if baseline else version_of(run) == version_of(runs[0])
            like = Variant(settings_of(run), version_of(run), is_baseline)
            same = [v for v in self.variants if (v.settings, v.version, v.is_baseline)
                    == (like.settings, like.version, like.is_baseline)]
            if not same:
                self.variants.append(like)
            (same[0] if same else like).add(run)
        self._name_variants()

    def _name_variants(self):
        """Adds the settings that distinguish variants of the same name."""
        names = [variant.name for variant in self.variants]
        for variant, mine in zip(self.variants, names):
            alike = [other for other, its in zip(self.variants, names) if its == mine]
            keys = {key for other in alike for key in keys_that_differ(variant, other)}
            for key in sorted(keys):
                variant.name += ", " + description_of(key, variant.settings.get(key, ""))

    def shown(self):
        """Of several versions with the same results under one setting, only the last; baselines are not shown."""
        def is_hidden_by(i, mine, j, other):
            return (i != j and other.settings == mine.settings and mine.shares_results(other)
                    and (j > i if other.is_baseline == mine.is_baseline else mine.is_baseline))
        return [mine for i, mine in enumerate(self.variants)
                if not any(is_hidden_by(i, mine, j, other) for j, other in enumerate(self.variants))]

    def pairs(self):
        """(baseline, shown variant) under the same setting, with a result in common."""
        return [(before, after) for after in self.shown() for before in self.variants
                if before.is_baseline and not after.is_baseline and before.settings == after.settings
                and before.shares_results(after)]

    def mismatches(self):
        """For each variant beside the baseline's files, the settings that differ from the nearest of those."""
        found = []
        bases = [variant for variant in self.variants if variant.is_baseline]
        for other in self.variants if self.has_baseline_files else ():
            if not other.is_baseline and bases:
                near = min(bases, key=lambda base, other=other: len(keys_that_differ(base, other)))
                differences = [f"{description_of(key, near.settings.get(key, ''))} in the baseline, "
                               f"{description_of(key, other.settings.get(key, ''))} here"
                               for key in keys_that_differ(near, other)]
                found.append(other.launches[0]["file"] + ": " + (
                    "; ".join(differences) or "the same setting, but no result in common"))
        return found


def changes_of(before, after):
    """Tessera's results whose ratio to their baseline changed, largest first, and how many were (not) compared.

    Each is (measurement, backend, reference, (value, ci95) of after / before, launches)."""
    changes, counts = [], {"compared": 0, "alone": 0, "few": 0}
    for key, measurement in after.found.items():
        for entry in measurement.entries.values():
            old = before.found[key].entries.get(entry.backend) if key in before.found else None
            kind, first = kind_of(entry.backend), entry.launches[0]
            if old is None or not (kind == "ours" or kind == "unknown" and first["against"] is not None):
                continue
            reference = first["ratio"]["to"] if first["ratio"] else ""
            is_usable = reference and kind_of(reference) != "ours"
            was, now = (old.ratio_to(reference), entry.ratio_to(reference)) if is_usable else (None, None)
            if not was or not now or was[0] <= 0 or was[1][0] <= 0:
                counts["alone"] += 1
                continue
            if not old.has_intervals() or not entry.has_intervals():
                counts["few"] += 1
                continue
            counts["compared"] += 1
            ratio = (now[0] / was[0], [now[1][0] / was[1][1], now[1][1] / was[1][0]])
            if ratio[1][0] > 1 or ratio[1][1] < 1:
                changes.append((measurement, entry.backend, reference, ratio,
                                min(len(old.launches), len(entry.launches))))
    changes.sort(key=lambda change: max(change[3][0], 1 / change[3][0] if change[3][0] else 0), reverse=True)
    return changes, counts
