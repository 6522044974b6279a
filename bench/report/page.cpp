// SPDX-License-Identifier: BSD-3-Clause
#include "bench/report/page.hpp"

#include <vector>

#include <fmt/format.h>

#include "bench/report/drawing.hpp"
#include "bench/report/experiments.hpp"
#include "bench/report/sections.hpp"

namespace tessera::bench::report {
namespace {

struct Section {
  std::string id;
  std::string title;
  std::string content;
};

std::vector<Section> sections_of(const Dataset& dataset) {
  std::vector<Section> sections = {{"machines", "Machine and runs", machines(dataset)},
                                   {"targets", "Targets", targets(dataset)},
                                   {"changes", "Changes", changes(dataset)}};
  for (const Paper& each :
       {armci_paper(), protocols_paper(), armci_mpi_paper(), clustering_paper()}) {
    sections.push_back({each.id, each.title, paper(dataset, each)});
  }
  sections.push_back({"operations", "Time and bandwidth of each operation", operations(dataset)});
  sections.push_back({"single", "Operations of one size", single_results(dataset)});
  return sections;
}

std::string heading_of(const Dataset& dataset) {
  std::string names;
  for (const RunFile& run : dataset.runs()) {
    names += (names.empty() ? "" : ", ") + run.file;
  }
  return fmt::format("<h1>Tessera benchmark report</h1><p class=\"faint\">From {}.</p>\n",
                     escape(names));
}

}  // namespace

std::string page(const Dataset& dataset) {
  std::string body = heading_of(dataset) + objections_box(dataset);
  if (!dataset.has_results()) {
    body += "<p class=\"box\">These files have no results.</p>\n";
  }
  std::string links;
  std::string content;
  for (const Section& section : sections_of(dataset)) {
    links += fmt::format("<li><a href=\"#{}\">{}</a></li>", section.id, escape(section.title));
    content += fmt::format("<section><h2 id=\"{}\">{}</h2>\n{}</section>\n", section.id,
                           escape(section.title), section.content);
  }
  return fmt::format(
      "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\"><head>"
      "<meta charset=\"utf-8\"/><meta name=\"viewport\" content=\"width=device-width\"/>"
      "<title>Tessera benchmark report</title><style>{}</style></head>\n<body>\n{}"
      "<nav><ul>{}</ul></nav>\n{}</body></html>\n",
      style_sheet(), body, links, content);
}

}  // namespace tessera::bench::report
