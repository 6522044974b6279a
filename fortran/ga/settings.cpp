// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/ga/settings.hpp"

#include <array>

#include "rma/layer_settings.hpp"

namespace tessera::ga {

namespace {

using rma::LayerSetting;

constexpr LayerSetting errors{
    "TESSERA_GA_ERRORS", "abort, return",
    "an error of Global Arrays ends the job, or the function returns 0, .false. or nothing"};
constexpr LayerSetting grid{
    "TESSERA_GA_GRID", "ga, surface",
    "how ga_create cuts arrays: as Global Arrays does, or with the least surface"};
constexpr LayerSetting strict{
    "TESSERA_GA_STRICT", "0, 1",
    "1: operations of Global Arrays fail if processes give different scalars"};
constexpr std::array table{errors, grid, strict};

// Before main(), so that a job of any layer knows the names.
[[maybe_unused]] const bool is_added = [] {
  rma::add_layer_settings(table);
  return true;
}();

bool has_value(const LayerSetting& setting, std::string_view word) {
  const auto value = rma::read_layer_setting(setting);
  return value.ok() && *value == word;
}

}  // namespace

const EnvironmentOptions& environment_options() {
  static const EnvironmentOptions options{.returns_errors = has_value(errors, "return"),
                                          .compares_scalars = has_value(strict, "1"),
                                          .cuts_for_surface = has_value(grid, "surface")};
  return options;
}

rma::Status check_environment() {
  for (const LayerSetting& setting : table) {
    TESSERA_RETURN_IF_ERROR(rma::read_layer_setting(setting).status());
  }
  return {};
}

}  // namespace tessera::ga
