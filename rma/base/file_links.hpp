// SPDX-License-Identifier: BSD-3-Clause
//
// Where symbolic links lead, also links to a file that does not exist yet;
// std::filesystem::canonical resolves only existing paths.
#pragma once

#include <filesystem>
#include <system_error>

#include "rma/base/cxx20.hpp"

namespace tessera::rma {

/// Local. The path of the file that opening `path` for writing would create. Sets `error` for a
/// cycle of links; the result is then one of these links.
inline std::filesystem::path resolve_links(std::filesystem::path path, std::error_code& error) {
  namespace fs = std::filesystem;
  constexpr int most = 40;  // the system's own limit
  for (int followed = 0; fs::is_symlink(fs::symlink_status(path, error)); ++followed) {
    if (followed == most) {
      error = std::make_error_code(std::errc::too_many_symbolic_link_levels);
      return path;
    }
    path = path.parent_path() / fs::read_symlink(path, error);
  }
  error.clear();  // from a file that does not exist yet
  return path;
}

}  // namespace tessera::rma
