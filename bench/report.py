#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes one HTML page of the results that tessera-bench --json wrote, or a table with a line for each result.

Usage: bench/report.py FILE… -o PAGE [--baseline FILE…] [--quiet]
       bench/report.py FILE… --csv TABLE

Several launches of a run are combined. The page is one file without scripts, and loads nothing. It shows
the experiments of bench/experiments.py, then all results. Without a baseline's files, results are
compared with those of the first file's version. Exit code 2 for a damaged file or wrong usage.
"""

import argparse
import csv
import importlib.util
import io
import json
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # keeps the tree clean
import charts  # noqa: E402 (the line above)
from charts import box, brief, brief_interval, bullets, code, label, name_of, safe, table  # noqa: E402
from dataset import (LAUNCHER_VARIABLE, SAMPLES_FOR_AN_INTERVAL, BadFile, Dataset, changes_of,  # noqa: E402
                     display_name, kind_of, plural, read_run)
from experiments import EXPERIMENTS, PAPERS  # noqa: E402

NO_MATPLOTLIB = "a page needs matplotlib; install Debian's python3-matplotlib"
LAUNCHES_TO_SAY, LAUNCHES_TO_CLAIM = 5, 10  # bench/README.md, "Reading the results"


def text(content):
    return ("text", content)


# --- sections -------------------------------------------------------------------------------------


def objections(dataset):
    """The reasons not to quote these numbers, and wrong data."""
    runs = dataset.runs
    wrong = [f"{run['file']}: {r['bench']} {r['op']} {r['shape']} {r['size']} B by {r['backend']}: "
             f"{'; '.join(r['notes'])}" for run in runs for r in run["results"] if not r["valid"]]
    files = {}
    for run in runs:
        for objection in run["headline"]["objections"]:
            files.setdefault(objection, []).append(run["file"])
    return (
        box("<strong>Wrong data.</strong> Do not draw conclusions from these results:", wrong)
        + box("<strong>Incomplete.</strong> These runs ended early. This page has their results until then; the rest "
              "is missing, and so are their targets:",
              [f"{run['file']}: {run['unfinished']}" for run in runs if run["unfinished"]])
        + box("<strong>Not checked.</strong> These runs did not check whether their data were right:",
              [run["file"] for run in runs if is_unchecked(run)])
        + box(f"<strong>Few samples.</strong> Some results of these files have fewer than {SAMPLES_FOR_AN_INTERVAL}: "
              "their intervals are the range of all samples, with a confidence below 95 %:",
              [run["file"] for run in runs if any(r["samples_n"] < SAMPLES_FOR_AN_INTERVAL for r in run["results"])])
        + box("<strong>No headlines.</strong> Absolute numbers of these runs must not be quoted; ratios remain valid:",
              [f"{objection} ({', '.join(names)})" for objection, names in files.items()]))


def is_unchecked(run):
    return "--no-check" in run["launch"]["options"]


def facts_of(variant):
    """Name → every value that a launch has, once."""
    facts = {"files": [str(len(variant.launches))]}
    for run in variant.launches:
        launch = run["launch"]
        own = {"version": run["suite_version"], "git": run["git"],
               **{key: str(launch[key]) for key in ("ranks", "nodes", "binding")},
               "oversubscribed": "yes" if launch["oversubscribed"] else "no"}
        for key, value in run["host"].items():
            is_bytes = key.endswith("_bytes") and value.isdigit() and len(value) <= 18
            own[key.removesuffix("_bytes") if is_bytes else key] = label(int(value), "bytes") if is_bytes else value
        own |= {key: value for key, value in run["env"].items() if key != LAUNCHER_VARIABLE}
        for key, value in own.items():
            if value not in facts.setdefault(key, []):
                facts[key].append(value)
    return {key: "; ".join(values) for key, values in facts.items()}


def machines(dataset):
    files = table([text("File"), "Results", "Time of fixed work varies by", text("Command")],
                  [[run["file"], len(run["results"]), f"{run['headline']['noise_percent']:.1f} %",
                    ("long", " ".join(run["launch"]["argv"]))] for run in dataset.runs])
    columns = [facts_of(variant) for variant in dataset.variants]
    head = [text(variant.name + (", baseline" if variant.is_baseline and dataset.pairs() else ""))
            for variant in dataset.variants]
    facts = table([text("Setting"), *head], [[key, *(("long", column.get(key, "")) for column in columns)]
                                             for key in dict.fromkeys(key for column in columns for key in column)])
    rows = []
    for run in dataset.runs:
        for rating in run["ratings"]:
            if not rating["valid"]:
                verdict = ("text bad", "wrong")
            elif is_unchecked(run):
                verdict = ("text faint", "data not checked; not a headline")
            else:
                verdict = ("text good", "verified" + ("; not a headline" if run["headline"]["objections"] else ""))
            rows.append([rating["name"], brief(rating["value"]), text(rating["unit"]), verdict, text(run["file"])])
    head = [text("Application"), "Rating", "", "", text("File")]
    return files + facts + (f"<h3>Ratings</h3>{table(head, rows)}" if rows else "")


def verdict_of(found):
    target, worst = found["target"], found["worst"]
    if found["few"]:
        return "text faint", "too few samples"
    if not worst:
        return "text faint", f"no reference: {target['reference']}"
    is_met = worst[0] <= target["limit"] if target["asked"] == "at_most" else worst[0] >= target["limit"]
    return ("text good", "met") if is_met else ("text bad", "missed")


def targets(dataset):
    html = ""
    for variant in dataset.shown():
        rows, silent = [], []
        for found in variant.targets():
            target, worst = found["target"], found["worst"]
            if not worst and not found["without"]:
                silent.append(target["name"])
                continue
            cases = f"{target['cases']} in {found['launches']} launches" if found["launches"] > 1 else target["cases"]
            rows.append([target["name"], verdict_of(found),
                         f"{'≤' if target['asked'] == 'at_most' else '≥'} {brief(target['limit'])}",
                         *((brief(worst[0]), ("ci", brief_interval(worst[1])), text(target["where"]))
                           if worst else ("", "", "")), cases])
        if rows or silent:
            html += f"<h3>{safe(variant.name)}</h3>\n"
        if rows:
            html += table([text("Target"), text("Verdict"), "Limit", "Worst", "95 %", text("At"), "Cases"], rows)
        if silent:
            html += f"<details><summary>{len(silent)} not measured</summary>{bullets(silent)}</details>\n"
    return ("<p>The limits that the design sets for ratios, and the worst measured case; with several launches, the "
            f"median of their worst cases.</p>\n{html}" if html else "<p>These files have no targets.</p>\n")


def standing_of(launches):
    if launches >= LAUNCHES_TO_CLAIM:
        return "may be claimed"
    return ("may be said; public claims need 10 launches" if launches >= LAUNCHES_TO_SAY
            else f"a hint: {launches} of at least 5 launches")


def changes(dataset):
    pairs, reasons = dataset.pairs(), dataset.mismatches()
    if not pairs and reasons:
        return ("<p>Nothing can be compared with the given baseline: only runs under the same setting are compared.</p>"
                + bullets(reasons))
    if not pairs:
        return ("<p>No comparison is possible: under each setting, all files with the same results are of one version. "
                f"To compare, add files of another version, or name a baseline with {code('--baseline FILE')}.</p>\n")
    html = ("<p>Ratios are after / before; above 1 means slower now. Only ratios whose interval excludes 1 for every "
            "pair of launches are shown. Each time was first divided by that of a baseline in the same rounds, because "
            "times alone depend more on the machine's load than on the code.</p>\n")
    for before, after in pairs:
        found, counts = changes_of(before, after)
        versions = " to ".join(f"{safe(v.version)} ({plural(len(v.launches), 'file')})" for v in (before, after))
        few = f", {counts['few']} have too few samples" if counts["few"] else ""
        html += (f"<h3>{safe(after.name)}</h3><p>From {versions}: {len(found)} of {counts['compared']} results changed. "
                 f"{counts['alone']} more have no baseline in their rounds{few}.</p>\n")
        rows = [[name_of(measurement), text(display_name(backend)),
                 ("text bad", "slower") if ratio[0] > 1 else ("text good", "faster"), brief(ratio[0]),
                 ("ci", brief_interval(ratio[1])), text(f"time / {reference}"), text(standing_of(launches))]
                for measurement, backend, reference, ratio, launches in found]
        html += table([text("Result"), text("By"), "", "Ratio", "95 %", text("Compared"), text("Standing")],
                      rows) if rows else ""
    return html


def experiment_html(dataset, experiment):
    number = f"{experiment['figure']}: " if experiment["figure"] else ""
    html = f"<h3 id=\"{experiment['id']}\">{safe(number + experiment['title'])}</h3>\n"
    if experiment["finding"]:
        html += f"<p><em>The paper:</em> {safe(experiment['finding'])}</p>\n"
    good = "Less is better." if experiment["good"] == "low" else "More is better."
    html += f"<p><em>Here:</em> {safe(experiment['here'])} {good}</p>\n"
    drawn = ""
    for part in experiment["parts"]:
        missing = []
        for panel in part["panels"]:
            figures = charts.panel_html(dataset, panel)
            drawn += figures
            if not (charts.is_measured(dataset, panel) if panel["kind"] == "needed" else figures):
                missing.append(charts.what_of(panel))
        if missing and part["command"]:
            drawn += (f"<p class=\"later\">Not in these files: {safe(', '.join(missing))}. {code(part['command'])}, with "
                      f"{code('--json FILE')}, measures it. {safe(part['needs'])}</p>\n")
    return html + (f"<div class=\"figures\">{drawn}</div>\n" if drawn else "")


def paper(dataset, name):
    return "".join(experiment_html(dataset, each) for each in EXPERIMENTS if each["paper"] == name)


def names_of(variant):
    """(bench, op) in the order in which they were measured."""
    return dict.fromkeys((each.bench, each.op) for each in variant.measurements)


def of_each(dataset, content):
    found = [(variant, content(variant)) for variant in dataset.shown()]
    return "".join(f"<h3>{safe(variant.name)}, version {safe(variant.version)}</h3>\n{html}"
                   for variant, html in found if html) or "<p>These files have no such results.</p>\n"


def operations(dataset):
    """The curves of every operation that was measured in more than one size."""
    def curves(variant):
        html = ""
        for bench, op in names_of(variant):
            for sweep in charts.sweeps_of(variant, bench, op):
                if len(sweep[2]) > 1:
                    figures = "".join(charts.sweep_chart(sweep, show).html() for show in charts.AXES)
                    html += f"<h4>{safe(sweep[0])}</h4>\n<div class=\"figures\">{figures}</div>\n"
        return html
    return ("<p>Medians, with their 95 % intervals as bands; with several launches, the median of their medians, and an "
            "interval that contains all of theirs. Percent of a baseline: 100 × the baseline's time / Tessera's, in the "
            "same rounds.</p>\n" + of_each(dataset, curves))


def comparison_rows(measurement):
    """The subject compared with each other candidate, or alone."""
    subject = measurement.subject() or next(iter(measurement.entries.values()))
    others = [each for each in measurement.entries.values()
              if each is not subject and kind_of(each.backend) != "yardstick"]

    def times(entry):
        return [text(display_name(entry.backend)), label(entry.median, "time"),
                ("ci", f"{brief_interval(entry.ci95)} µs")]
    for i, other in enumerate(others or [None]):
        ratio = subject.ratio_to(other.backend) if other else None
        yield [name_of(measurement) if i == 0 else "", *(times(subject) if i == 0 else ["", "", ""]),
               *(times(other) if other else ["", "", ""]),
               *([brief(ratio[0]), ("ci", brief_interval(ratio[1]))] if ratio else ["", ""])]


def single_results(dataset):
    """Operations of one size, and results that are not times."""
    def tables(variant):
        alone = [sweep[2][0][1] for bench, op in names_of(variant) for sweep in charts.sweeps_of(variant, bench, op)
                 if len(sweep[2]) == 1]
        rows = [row for measurement in alone for row in comparison_rows(measurement)]
        html = table([text("Operation"), text("By"), "Time", "95 %", text("Compared with"), "Time", "95 %", "Ratio",
                      "95 %"], rows) if rows else ""
        rows = []
        for each in variant.measurements:
            def value(number, unit=each.unit):
                return label(number, "bytes") if unit == "bytes" else brief(number)
            for entry in each.entries.values() if each.unit != "us" else ():
                rows.append([name_of(each), text(display_name(entry.backend)), value(entry.median),
                             ("ci", f"[{', '.join(map(value, entry.ci95))}]"),
                             text("" if each.unit == "bytes" else each.unit)])
        return html + (table([text("What"), text("By"), "Value", "95 %", text("Unit")], rows) if rows else "")
    return ("<p>Ratio: the first candidate's time / the second's, in the same rounds; below 1, the first is faster.</p>\n"
            + of_each(dataset, tables))


def page(dataset):
    sections = [("machines", "Machine and runs", machines), ("targets", "Targets", targets),
                ("changes", "Changes", changes),
                *((name or "more", f"[{name}] {title}" if name else title, lambda d, name=name: paper(d, name))
                  for name, title in PAPERS.items()),
                ("operations", "Time and bandwidth of each operation", operations),
                ("single", "Operations of one size", single_results)]
    links = "".join(f"<li><a href=\"#{key}\">{safe(title)}</a></li>" for key, title, _ in sections)
    content = "".join(f"<section><h2 id=\"{key}\">{safe(title)}</h2>\n{make(dataset)}</section>\n"
                      for key, title, make in sections)
    nothing = "" if any(run["results"] for run in dataset.runs) else (
        "<p class=\"box\">These files have no results.</p>\n")
    return ("<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\"><head><meta charset=\"utf-8\"/>"
            "<meta name=\"viewport\" content=\"width=device-width\"/><title>Tessera benchmark report</title>"
            f"<style>{charts.STYLE}</style></head>\n<body>\n<h1>Tessera benchmark report</h1><p class=\"faint\">From "
            f"{safe(', '.join(run['file'] for run in dataset.runs))}.</p>\n{objections(dataset)}{nothing}"
            f"<nav><ul>{links}</ul></nav>\n{content}</body></html>\n")


# --- the command ----------------------------------------------------------------------------------

COLUMNS = ("bench", "backend", "op", "shape", "size", "samples_n", "unit", "mean", "min", "p25", "median", "p75", "p95",
           "p99", "max", "ci95_lo", "ci95_hi", "bytes_per_s", "gib_per_s", "operations_per_s", "ratio_to", "ratio",
           "ratio_lo", "ratio_hi", "valid", "notes")


def as_csv(files):
    """A line for each result, with the names of the JSON."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(COLUMNS)
    for file in files:
        for result in json.loads(Path(file).read_text(encoding="utf-8", errors="replace"))["results"]:
            ratio = result.get("ratio", {})
            more = {"ci95_lo": result["ci95_median"][0], "ci95_hi": result["ci95_median"][1],
                    "operations_per_s": result.get("operations_per_s", 0), "ratio_to": ratio.get("to"),
                    "ratio": ratio.get("value"), "ratio_lo": ratio.get("ci95", [""])[0],
                    "ratio_hi": ratio.get("ci95", [""])[-1], "notes": "; ".join(result["notes"]),
                    "valid": "false" if not result["valid"] else
                             "true" if result.get("checked", True) else "unchecked"}
            lines.writerow([(result | more).get(column, "") for column in COLUMNS])
    return out.getvalue()


def refuse(reason):
    print(f"bench/report.py: {reason}", file=sys.stderr)
    sys.exit(2)


def write(path, content):
    """All of the file, or nothing."""
    part = Path(path + ".part") if not os.path.exists(path) or os.path.isfile(path) else Path(path)
    try:
        part.write_text(content, encoding="utf-8")
        if part != Path(path):
            part.replace(path)
    except OSError as error:
        if part != Path(path):
            part.unlink(missing_ok=True)
        refuse(f"cannot write {path}: {error.strerror}")


def is_same(a, b):
    return a == b or os.path.exists(a) and os.path.exists(b) and os.path.samefile(a, b)


def parse_arguments():
    parser = argparse.ArgumentParser(prog="bench/report.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE", help="files that --json wrote")
    parser.add_argument("-o", "--output", metavar="PAGE", help="the page")
    parser.add_argument("--csv", metavar="TABLE", help="a table with a line for each result")
    parser.add_argument("--baseline", nargs="+", default=[], metavar="FILE", help="files to compare the others with")
    parser.add_argument("--quiet", action="store_true", help="print nothing")
    arguments = parser.parse_args()
    if not (arguments.output or arguments.csv):
        parser.error("name a page with --output or a table with --csv")
    # The baseline's files first; each file once: a launch given twice would count twice.
    files = arguments.baseline + [file for file in arguments.files
                                  if not any(is_same(file, base) for base in arguments.baseline)]
    for i, file in enumerate(files):
        if any(is_same(file, other) for other in files[i + 1:]):
            parser.error(f"{file} is given twice; give each file once")
        if any(output and is_same(file, output) for output in (arguments.output, arguments.csv)):
            parser.error(f"{file} is both an input and an output; choose another name for the output")
    return arguments, files


def main():
    arguments, files = parse_arguments()
    try:
        runs = [read_run(file) for file in files]
    except BadFile as error:
        refuse(error)
    if arguments.csv:
        write(arguments.csv, as_csv(files))
    if arguments.output:
        if importlib.util.find_spec("matplotlib") is None:
            refuse(NO_MATPLOTLIB)
        write(arguments.output, page(Dataset(runs, arguments.baseline)))
    if not any(run["results"] for run in runs):
        print("bench/report.py: the files have no results; the page says so", file=sys.stderr)
    if not arguments.quiet:
        print(f"{arguments.output or arguments.csv}: {plural(len(files), 'file')}")


if __name__ == "__main__":
    main()
