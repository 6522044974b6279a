// SPDX-License-Identifier: BSD-3-Clause
//
// The source that these programs were built from; the definitions are written at each build.
#pragma once

#include <string_view>

namespace tessera::bench {

/// The project's version, for example "0.1.0".
std::string_view suite_version();
/// `git describe --always --dirty` when it was built; "unknown" outside a repository.
std::string_view git_description();

}  // namespace tessera::bench
