// SPDX-License-Identifier: BSD-3-Clause
#include "apps/tool/settings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "rma/job.hpp"

namespace tessera::tool {
namespace {

std::vector<std::string> names_in(const std::string& list) {
  std::istringstream text(list);
  std::vector<std::string> names;
  for (std::string name; std::getline(text, name, ',');) {
    if (!name.empty()) {
      names.push_back(name);
    }
  }
  return names;
}

// As Job::start does, which has a transport for each name.
rma::Status check_transports(const std::string& list) {
  const std::vector<std::string> known = rma::transport_names();
  const std::vector<std::string> names = names_in(list);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return rma::Status::error(rma::Code::invalid_argument,
                                fmt::format("TESSERA_TRANSPORT names '{}'; the transports are {}",
                                            name, fmt::join(known, ", ")));
    }
  }
  return names.empty() ? rma::Status::error(rma::Code::invalid_argument,
                                            "TESSERA_TRANSPORT names no transport")
                       : rma::Status();
}

}  // namespace

rma::Result<rma::Settings> read_settings(std::vector<std::string>& warnings) {
  std::vector<std::string> lines;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    lines.emplace_back(*entry);
  }
  TESSERA_ASSIGN_OR_RETURN(auto settings, rma::Settings::from(lines, &warnings));
  TESSERA_RETURN_IF_ERROR(check_transports(settings.transport));
  return settings;
}

bool names_transport(const rma::Settings& settings, const std::string& name) {
  const std::vector<std::string> names = names_in(settings.transport);
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace tessera::tool
