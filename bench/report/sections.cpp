// SPDX-License-Identifier: BSD-3-Clause
#include "bench/report/sections.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/report/backends.hpp"
#include "bench/report/changes.hpp"
#include "bench/report/drawing.hpp"
#include "bench/report/sweep.hpp"

namespace tessera::bench::report {
namespace {

std::string list(const std::set<std::string>& entries) {
  std::string items;
  for (const std::string& entry : entries) {
    items += "<li>" + escape(entry) + "</li>";
  }
  return "<ul>" + items + "</ul>";
}

std::set<std::string> wrong_results(const Dataset& dataset) {
  std::set<std::string> found;
  for (const RunFile& run : dataset.runs()) {
    for (const Result& result : run.results) {
      if (!result.valid) {
        found.insert(fmt::format("{}: {} {} {} {} B by {}: {}", run.file, result.bench, result.op,
                                 result.shape, result.size, result.backend,
                                 fmt::join(result.notes, "; ")));
      }
    }
  }
  return found;
}

/// Why runs ended early, in a box; empty if all runs ended normally.
std::string unfinished_box(const Dataset& dataset) {
  std::set<std::string> found;
  for (const RunFile& run : dataset.runs()) {
    if (run.is_unfinished()) {
      found.insert(fmt::format("{}: {}", run.file, run.unfinished));
    }
  }
  return found.empty()
             ? ""
             : "<div class=\"box\"><strong>Incomplete.</strong> These runs ended early. This page "
               "has their results until then; the rest is missing, and so are their "
               "targets:" +
                   list(found) + "</div>\n";
}

/// The files for which `says` is true, in a box; empty if there are none.
std::string box_of(const Dataset& dataset, const std::string& words,
                   bool (RunFile::*says)() const) {
  std::set<std::string> found;
  for (const RunFile& run : dataset.runs()) {
    if ((run.*says)()) {
      found.insert(run.file);
    }
  }
  return found.empty() ? "" : "<div class=\"box\">" + words + list(found) + "</div>\n";
}

using Facts = std::vector<std::pair<std::string, std::string>>;

/// The facts of one file, as rows of names and values.
Facts facts_of(const RunFile& run) {
  Facts facts = {{"version", run.suite_version},
                 {"git", run.git},
                 {"ranks", std::to_string(run.ranks)},
                 {"nodes", std::to_string(run.nodes)},
                 {"binding", run.binding},
                 {"oversubscribed", run.is_oversubscribed ? "yes" : "no"}};
  for (const auto& [name, value] : run.host) {
    constexpr std::size_t most_digits = 18;
    const bool is_bytes =
        name.ends_with("_bytes") && !value.empty() && value.size() <= most_digits &&
        std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
    facts.emplace_back(is_bytes ? name.substr(0, name.size() - 6) : name,
                       is_bytes ? label(std::stod(value), Unit::bytes) : value);
  }
  std::copy_if(run.env.begin(), run.env.end(), std::back_inserter(facts),
               [](const auto& variable) { return variable.first != launcher_variable; });
  return facts;
}

/// The facts of all launches of a variant: each value that any launch has, once.
Facts facts_of(const Variant& variant) {
  Facts all = {{"files", std::to_string(variant.launches.size())}};
  std::set<std::pair<std::string, std::string>> seen;
  for (const RunFile* const run : variant.launches) {
    for (const auto& [name, value] : facts_of(*run)) {
      if (!seen.emplace(name, value).second) {
        continue;
      }
      const auto found = std::find_if(
          all.begin(), all.end(),
          [name = std::string_view(name)](const auto& fact) { return fact.first == name; });
      if (found == all.end()) {
        all.emplace_back(name, value);
      } else {
        found->second += "; " + value;
      }
    }
  }
  return all;
}

/// All names, in the order in which they first appear.
std::vector<std::string> names_of(const std::vector<Facts>& columns) {
  std::vector<std::string> names;
  for (const auto& column : columns) {
    for (const auto& fact : column) {
      if (std::find(names.begin(), names.end(), fact.first) == names.end()) {
        names.push_back(fact.first);
      }
    }
  }
  return names;
}

std::string facts_table(const Dataset& dataset) {
  std::string head = "<th class=\"text\">Setting</th>";
  std::vector<Facts> columns;
  for (const Variant& variant : dataset.variants()) {
    head += fmt::format("<th class=\"text\">{}{}</th>", escape(variant.setting),
                        variant.is_baseline && !dataset.pairs().empty() ? ", baseline" : "");
    columns.push_back(facts_of(variant));
  }
  std::string body;
  for (const std::string& name : names_of(columns)) {
    body += fmt::format("<tr><th>{}</th>", escape(name));
    for (const auto& column : columns) {
      const auto found = std::find_if(column.begin(), column.end(),
                                      [&name](const auto& fact) { return fact.first == name; });
      body += fmt::format("<td class=\"long\">{}</td>",
                          found == column.end() ? "" : escape(found->second));
    }
    body += "</tr>\n";
  }
  return table(head, body);
}

std::string files_table(const Dataset& dataset) {
  std::string body;
  for (const RunFile& run : dataset.runs()) {
    body +=
        fmt::format("<tr><th>{}</th><td>{}</td><td>{:.1f} %</td><td class=\"long\">{}</td></tr>\n",
                    escape(run.file), run.results.size(), run.noise_percent,
                    code(fmt::format("{}", fmt::join(run.argv, " "))));
  }
  return table(
      "<th class=\"text\">File</th><th>Results</th><th>Time of fixed work varies by</th>"
      "<th class=\"text\">Command</th>",
      body);
}

std::string_view verdict_on(const RatingLine& rating, const RunFile& run) {
  if (!rating.valid) {
    return "wrong";
  }
  if (run.is_unchecked()) {
    return "data not checked; not a headline";
  }
  return run.objections.empty() ? "verified" : "verified; not a headline";
}

std::string_view class_of(const RatingLine& rating, const RunFile& run) {
  if (!rating.valid) {
    return "bad";
  }
  return run.is_unchecked() ? "faint" : "good";
}

std::string ratings_table(const Dataset& dataset) {
  std::string body;
  for (const RunFile& run : dataset.runs()) {
    for (const RatingLine& rating : run.ratings) {
      body += fmt::format(
          "<tr><th>{}</th><td>{}</td><td class=\"text\">{}</td><td class=\"text {}\">{}</td>"
          "<td class=\"text\">{}</td></tr>\n",
          escape(rating.name), brief(rating.value), escape(rating.unit), class_of(rating, run),
          verdict_on(rating, run), escape(run.file));
    }
  }
  return body.empty() ? ""
                      : "<h3>Ratings</h3>" +
                            table(
                                "<th class=\"text\">Application</th><th>Rating</th><th></th>"
                                "<th></th><th class=\"text\">File</th>",
                                body);
}

std::string direction_of(const Change& change) {
  const bool is_slower = change.ratio.value > 1;
  return fmt::format("<td class=\"text {}\">{}</td>", is_slower ? "bad" : "good",
                     is_slower ? "slower" : "faster");
}

std::string claim_of(std::size_t launches) {
  if (launches >= launches_for_a_public_claim) {
    return "may be claimed";
  }
  return launches >= launches_for_a_claim
             ? "may be said; public claims need 10 launches"
             : fmt::format("a hint: {} of at least 5 launches", launches);
}

std::string changes_table(const Changes& changes) {
  std::vector<Ratio> ratios;
  for (const Change& change : changes.found) {
    ratios.push_back(change.ratio);
  }
  const Interval range = range_of(ratios);
  std::string body;
  for (const Change& change : changes.found) {
    body += fmt::format(
        "<tr><th>{}</th><td class=\"text\">{}</td>{}<td>{}</td><td class=\"ci\">{}</td><td>{}</td>"
        "<td class=\"text\">{}</td><td class=\"text\">{}</td></tr>\n",
        escape(change.measurement->name()), escape(display_name(change.backend)),
        direction_of(change), brief(change.ratio.value), brief(change.ratio.ci95),
        draw_interval(change.ratio, range), "time / " + escape(change.reference),
        claim_of(change.launches));
  }
  return table(
      "<th class=\"text\">Result</th><th class=\"text\">By</th><th></th><th>Ratio</th>"
      "<th>95 %</th><th>" +
          draw_interval_axis(range) +
          "</th><th class=\"text\">Compared</th><th class=\"text\">Standing</th>",
      body);
}

std::string version_and_launches(const Variant& variant) {
  const std::size_t launches = variant.launches.size();
  return fmt::format("{} ({} file{})", escape(variant.version), launches, launches == 1 ? "" : "s");
}

std::string changes_of_pair(const Dataset::Pair& pair) {
  const Changes changes = changes_of(*pair.before, *pair.after);
  const std::string text = fmt::format(
      "<h3>{}</h3><p>From {} to {}: {} of {} results changed. {} more have no baseline in their "
      "rounds{}.</p>\n",
      escape(pair.after->setting), version_and_launches(*pair.before),
      version_and_launches(*pair.after), changes.found.size(), changes.compared, changes.alone,
      changes.with_few_samples == 0
          ? ""
          : fmt::format(", {} have too few samples", changes.with_few_samples));
  return changes.found.empty() ? text : text + changes_table(changes);
}

/// Stands in place of results that the files don't have, and says how to make them.
std::string hint(const Part& part, const std::vector<std::string>& missing) {
  return fmt::format(
      "<p class=\"later\">Not in these files: {}. {}, with {}, measures it.{}{}</p>\n",
      escape(fmt::format("{}", fmt::join(missing, ", "))), code(part.command), code("--json FILE"),
      part.takes.empty() ? "" : " ", escape(part.takes));
}

struct Drawn {
  std::string figures;
  std::string hints;
};

Drawn draw(const Dataset& dataset, const Part& part) {
  Drawn drawn;
  std::vector<std::string> missing;
  for (const Panel& panel : part.panels) {
    const std::string figures = panel(dataset);
    drawn.figures += figures;
    if (panel.is_measured ? !panel.is_measured(dataset) : figures.empty()) {
      missing.push_back(panel.what);
    }
  }
  if (!missing.empty() && !part.command.empty()) {
    drawn.hints = hint(part, missing);
  }
  return drawn;
}

std::string draw(const Dataset& dataset, const std::vector<Part>& parts) {
  std::string all;
  bool has_figures = false;
  for (const Part& part : parts) {
    const Drawn drawn = draw(dataset, part);
    has_figures = has_figures || !drawn.figures.empty();
    all += drawn.figures + drawn.hints;
  }
  return has_figures ? "<div class=\"figures\">" + all + "</div>\n" : all;
}

std::string experiment(const Dataset& dataset, const Experiment& experiment) {
  std::string text =
      fmt::format("<h3>{}: {}</h3>\n<p><em>The paper:</em> {}</p>\n", escape(experiment.number),
                  escape(experiment.title), escape(experiment.shown));
  if (!experiment.here.empty()) {
    text += fmt::format("<p><em>Here:</em> {}</p>\n", escape(experiment.here));
  }
  text += draw(dataset, experiment.parts);
  if (!experiment.later.empty()) {
    text += fmt::format("<p class=\"later\">{}</p>\n", escape(experiment.later));
  }
  return text;
}

}  // namespace

std::string objections_box(const Dataset& dataset) {
  std::string box;
  if (const auto wrong = wrong_results(dataset); !wrong.empty()) {
    box +=
        "<div class=\"box\"><strong>Wrong data.</strong> Do not draw conclusions from these "
        "results:" +
        list(wrong) + "</div>\n";
  }
  box += unfinished_box(dataset);
  box += box_of(
      dataset,
      "<strong>Not checked.</strong> These runs did not check whether their data were right:",
      &RunFile::is_unchecked);
  box += box_of(
      dataset,
      fmt::format("<strong>Few samples.</strong> Some results of these files have fewer "
                  "than {}: their intervals are the range of all samples, with a confidence below "
                  "95 %:",
                  samples_for_an_interval),
      &RunFile::has_few_samples);
  std::map<std::string, std::string> files;  // files by objection
  for (const RunFile& run : dataset.runs()) {
    for (const std::string& objection : run.objections) {
      std::string& names = files[objection];
      names += (names.empty() ? "" : ", ") + run.file;
    }
  }
  std::set<std::string> objections;
  for (const auto& [objection, names] : files) {
    objections.insert(fmt::format("{} ({})", objection, names));
  }
  if (!objections.empty()) {
    box +=
        "<div class=\"box\"><strong>No headlines.</strong> Absolute numbers of these runs must "
        "not be quoted; ratios remain valid:" +
        list(objections) + "</div>\n";
  }
  return box;
}

std::string machines(const Dataset& dataset) {
  return files_table(dataset) + facts_table(dataset) + ratings_table(dataset);
}

std::string changes(const Dataset& dataset) {
  const auto pairs = dataset.pairs();
  if (const auto reasons = dataset.mismatches(); pairs.empty() && !reasons.empty()) {
    return "<p>Nothing can be compared with the given baseline: only runs under the same setting "
           "are compared.</p>" +
           list({reasons.begin(), reasons.end()}) + "\n";
  }
  if (pairs.empty()) {
    return "<p>No comparison is possible: under each setting, all files with the same results "
           "are of one version. To compare, add files of another version, or name a baseline "
           "with " +
           code("--baseline FILE") + ".</p>\n";
  }
  std::string text =
      "<p>Ratios are after / before; above 1 means slower now. Only ratios whose interval excludes "
      "1 for every pair of launches are shown. Each time was first divided by that of a baseline "
      "in the same rounds, because times alone depend more on the machine's load than on the "
      "code.</p>\n";
  for (const Dataset::Pair& pair : pairs) {
    text += changes_of_pair(pair);
  }
  return text;
}

std::string paper(const Dataset& dataset, const Paper& paper) {
  std::string text;
  for (const Experiment& each : paper.experiments) {
    text += experiment(dataset, each);
  }
  return text;
}

}  // namespace tessera::bench::report
