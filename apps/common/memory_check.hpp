// SPDX-License-Identifier: BSD-3-Clause
//
// Checks, before a run allocates memory, that it fits the memory of its machines and the limit on
// address space (ulimit -v); and reports an allocation that fails later.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "rma/job.hpp"

namespace tessera::apps {

struct MemoryNeed {
  double bytes_per_rank = 0.0;  ///< of this rank
  std::string what;             ///< subject of the message: "class D"
  std::string hint;             ///< what to do if it is too much
  double own_bytes = 0.0;       ///< the part of bytes_per_rank that is not in distributed arrays
  bool multiplies = true;  ///< with OpenBLAS, if it is linked, which has a buffer for each rank
};

/// Collective over all ranks. Adds up the memory that the ranks of each machine need, and the
/// address space that the ranks of each process need if it is limited; arrays reserve theirs at
/// once. Errors, on all ranks: no_memory if the sum is more than 90 % of the machine's available
/// memory, or more than the limit leaves.
rma::Status check_memory(rma::Job& job, const MemoryNeed& need);

/// Whether users can avoid the error by asking for less or raising a limit: programs then end with
/// exit_usage.
bool is_no_memory(const rma::Status& status) noexcept;

/// Local. Returns the result of `body`, the exit code of a run. If this rank cannot allocate local
/// memory, prints that and returns exit_usage. The other ranks are not notified: they find this
/// rank gone.
int catch_bad_alloc(std::string_view program, const rma::Job& job,
                    const std::function<int()>& body);

}  // namespace tessera::apps
