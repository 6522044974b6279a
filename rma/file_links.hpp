// SPDX-License-Identifier: BSD-3-Clause
//
// Where symbolic links lead, also those that lead to a file that is still to be made: canonical
// paths are of what is there only.
#pragma once

#include <filesystem>
#include <system_error>

#include "rma/cxx20.hpp"

namespace tessera::rma {

/// Local. Where a file comes to be that is made by this name. `error` is set for links in a circle,
/// and the result is one of them then.
inline std::filesystem::path behind_links(std::filesystem::path path, std::error_code& error) {
  namespace fs = std::filesystem;
  constexpr int most = 40;  // as the system itself
  for (int followed = 0; fs::is_symlink(fs::symlink_status(path, error)); ++followed) {
    if (followed == most) {
      error = std::make_error_code(std::errc::too_many_symbolic_link_levels);
      return path;
    }
    path = path.parent_path() / fs::read_symlink(path, error);
  }
  error.clear();  // of what is not there yet
  return path;
}

}  // namespace tessera::rma
