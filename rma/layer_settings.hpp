// SPDX-License-Identifier: BSD-3-Clause
//
// Settings of layers above rma: TESSERA_* variables whose values are words. rma does not read them.
// It knows their names, so that a misspelled one gets advice and a right one no warning, and
// `tessera info` lists them beside the table of tuning.hpp.
//
// Threads: all functions may run at once.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "rma/base/result.hpp"

namespace tessera::rma {

struct LayerSetting {
  std::string_view name;   ///< TESSERA_GA_ERRORS
  std::string_view words;  ///< "abort, return": the allowed values; the first one is the default
  std::string_view meaning;

  [[nodiscard]] constexpr std::string_view default_word() const noexcept {
    return words.substr(0, words.find(','));
  }
};

/// Local. Adds the settings of a layer, before a job starts: the layer's library does it when it is
/// loaded. `settings` must exist until the process ends.
void add_layer_settings(std::span<const LayerSetting> settings);

/// Local. All that were added.
std::vector<LayerSetting> layer_settings();

/// Local. Its value in this process's environment, or its default; one of its words.
/// Errors: invalid_argument for a value that is not one of them.
Result<std::string_view> read_layer_setting(const LayerSetting& setting);

}  // namespace tessera::rma
