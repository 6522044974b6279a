// SPDX-License-Identifier: BSD-3-Clause
//
// --repeat-launch: starts this program again, several times, by a launcher, and says what all
// launches together show.
#pragma once

#include <string>
#include <vector>

namespace tessera::bench {

struct Relaunch {
  int launches = 0;                    ///< 0: not asked for
  std::string launcher;                ///< "mpirun -n 2", as in a shell; empty: none
  std::vector<std::string> arguments;  ///< of this program, without these two and --json
  std::string json;                    ///< "out.json": launches write out.1.json, out.2.json, …
};

/// Starts them one after the other, and prints. Returns the exit code: 2 where launches can't be
/// started, that of the first launch that fails, else 0.
int relaunch(const Relaunch& relaunch);

/// The arguments without `names` and their values, whether "--name value" or "--name=value".
std::vector<std::string> without_options(const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& names);

/// "out.json" → "out.3.json", "out" → "out.3".
std::string numbered_file(const std::string& path, int number);

}  // namespace tessera::bench
