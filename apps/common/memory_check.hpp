// SPDX-License-Identifier: BSD-3-Clause
//
// Whether a run fits the memory of its machines, and its processes the limit on their address space
// (ulimit -v), asked before it takes any; and what is said where it doesn't, after all.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "rma/job.hpp"

namespace tessera::apps {

struct MemoryNeed {
  double bytes_per_rank = 0.0;  ///< of this rank
  std::string what;             ///< what needs them, as a sentence begins: "class D"
  std::string hint;             ///< what may be done where it is too much
  double own_bytes = 0.0;       ///< those of bytes_per_rank that don't lie in distributed arrays
  bool multiplies = true;       ///< by OpenBLAS, if the program has that: each rank has a buffer
};

/// Collective over all ranks. Adds up what the ranks of each machine need, whatever nodes these
/// are on, and what those of each process need of its address space where that is limited: arrays
/// have theirs from the start. Errors, on all ranks: no_memory when that is more than 90 % of what
/// a machine has left, or more than a limit leaves.
rma::Status check_memory(rma::Job& job, const MemoryNeed& need);

/// Whether users can help it by asking for less or by raising a limit: programs end with
/// exit_usage.
bool lacks_memory(const rma::Status& status) noexcept;

/// Local. Returns what `body` does, the exit code of a run. Where this rank gets no memory for what
/// its program works on by itself, that is said, and exit_usage is returned. The other ranks don't
/// know: they find this one gone.
int within_memory(std::string_view program, const rma::Job& job, const std::function<int()>& body);

}  // namespace tessera::apps
