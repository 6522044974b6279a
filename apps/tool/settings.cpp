// SPDX-License-Identifier: BSD-3-Clause
#include "apps/tool/settings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "rma/job.hpp"

namespace tessera::tool {
namespace {

// As Job::start does, which has a transport for each name.
rma::Status check_transports(const std::string& list) {
  const std::vector<std::string> known = rma::transport_names();
  const std::vector<std::string_view> names = rma::split_names(list);
  for (const std::string_view name : names) {
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

}  // namespace tessera::tool
