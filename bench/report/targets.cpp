// SPDX-License-Identifier: BSD-3-Clause
//
// The section of targets.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bench/report/drawing.hpp"
#include "bench/report/sections.hpp"

namespace tessera::bench::report {
namespace {

std::string verdict_of(const TargetVerdict& verdict) {
  if (verdict.has_few_samples) {
    return "<td class=\"text faint\">too few samples</td>";
  }
  if (verdict.worst) {
    return verdict.is_met() ? "<td class=\"text good\">met</td>"
                            : "<td class=\"text bad\">missed</td>";
  }
  return fmt::format("<td class=\"text faint\">no reference: {}</td>",
                     escape(verdict.line.reference));
}

/// The factor by which a target is exceeded: 1 if it is just met, more if there is room.
Ratio margin_of(const TargetVerdict& verdict) {
  const double limit = verdict.line.limit > 0 ? verdict.line.limit : 1;
  const Ratio& worst = *verdict.worst;
  if (!verdict.line.is_at_most) {
    return {worst.value / limit, {worst.ci95.lo / limit, worst.ci95.hi / limit}};
  }
  const auto inverse = [limit](double value) { return value > 0 ? limit / value : limit; };
  return {inverse(worst.value), {inverse(worst.ci95.hi), inverse(worst.ci95.lo)}};
}

std::string cases_of(const TargetVerdict& verdict) {
  return verdict.launches > 1
             ? fmt::format("{} in {} launches", verdict.line.cases, verdict.launches)
             : std::to_string(verdict.line.cases);
}

std::string target_line(const TargetVerdict& verdict, Interval range) {
  const TargetLine& line = verdict.line;
  std::string measured = "<td></td><td></td><td></td><td></td>";
  if (verdict.worst) {
    measured =
        fmt::format("<td>{}</td><td class=\"ci\">{}</td><td>{}</td><td class=\"text\">{}</td>",
                    brief(verdict.worst->value), brief(verdict.worst->ci95),
                    draw_interval(margin_of(verdict), range), escape(line.where));
  }
  return fmt::format("<tr><th>{}</th>{}<td>{} {}</td>{}<td>{}</td></tr>\n", escape(line.name),
                     verdict_of(verdict), line.is_at_most ? "≤" : "≥", brief(line.limit), measured,
                     cases_of(verdict));
}

std::string targets_table(const std::vector<TargetVerdict>& verdicts) {
  std::vector<Ratio> rooms;
  for (const TargetVerdict& verdict : verdicts) {
    if (verdict.worst) {
      rooms.push_back(margin_of(verdict));
    }
  }
  const Interval range = range_of(rooms);
  std::string body;
  for (const TargetVerdict& verdict : verdicts) {
    body += target_line(verdict, range);
  }
  return table(
      "<th class=\"text\">Target</th><th class=\"text\">Verdict</th><th>Limit</th>"
      "<th>Worst</th><th>95 %</th><th>" +
          draw_interval_axis(range) + "</th><th class=\"text\">At</th><th>Cases</th>",
      body);
}

/// The names of targets for which nothing was measured, folded away.
std::string unmeasured(const std::vector<TargetVerdict>& verdicts) {
  std::string names;
  for (const TargetVerdict& verdict : verdicts) {
    names += "<li>" + escape(verdict.line.name) + "</li>";
  }
  return fmt::format("<details><summary>{} not measured</summary><ul>{}</ul></details>\n",
                     verdicts.size(), names);
}

std::string targets_of(const Variant& variant) {
  std::vector<TargetVerdict> verdicts = variant.targets();
  const auto is_told = [](const TargetVerdict& verdict) {
    return verdict.worst || verdict.cases_without_reference > 0;
  };
  const auto told = std::stable_partition(verdicts.begin(), verdicts.end(), is_told);
  const std::vector<TargetVerdict> silent(told, verdicts.end());
  verdicts.erase(told, verdicts.end());
  std::string text = fmt::format("<h3>{}</h3>\n", escape(variant.setting));
  text += verdicts.empty() ? "" : targets_table(verdicts);
  return silent.empty() ? text : text + unmeasured(silent);
}

}  // namespace

std::string targets(const Dataset& dataset) {
  std::string text;
  for (const Variant* const variant : dataset.shown()) {
    text += variant->targets().empty() ? "" : targets_of(*variant);
  }
  return text.empty()
             ? "<p>These files have no targets.</p>\n"
             : "<p>The limits that the design sets for ratios, and the worst measured case; with "
               "several launches, the median of their worst cases. The line shows how far that is "
               "from the limit: right of the mark at 1, the target is met.</p>\n" +
                   text;
}

}  // namespace tessera::bench::report
