// SPDX-License-Identifier: BSD-3-Clause
//
// --repeat-launch: starts this program several times by a launcher, and summarises what all
// launches show.
#pragma once

#include <string>
#include <vector>

namespace tessera::bench {

struct Relaunch {
  int launches = 0;                    ///< 0: not requested
  std::string launcher;                ///< "mpirun -n 2", as in a shell; empty: no launcher
  std::vector<std::string> arguments;  ///< of this program, without these two and --json
  std::string json;                    ///< "out.json": launches write out.1.json, out.2.json, …
};

/// Runs the launches one after the other and prints the summary. Returns the exit code: 2 if a
/// launch can't be started, the code of the first launch that fails, otherwise 0.
int relaunch(const Relaunch& relaunch);

/// The arguments without `names` and their values, written "--name value" or "--name=value".
std::vector<std::string> without_options(const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& names);

/// "out.json" → "out.3.json", "out" → "out.3".
std::string numbered_file(const std::string& path, int number);

}  // namespace tessera::bench
