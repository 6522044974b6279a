// SPDX-License-Identifier: BSD-3-Clause
//
// Requests: the transfers that GA's integer handles stand for.
//
// A handle is the number of a slot and of the slot's use; 0 stands for a transfer that was complete
// from the start, as all on one node are. The table grows. When it would, slots whose transfers
// have ended are used again: programs may drop handles. To wait for a handle that stands for
// nothing does nothing.
//
// Threads: one at a time.
#pragma once

#include <cstdint>

#include "fortran/ga/outputs.hpp"
#include "rma/handle.hpp"

namespace tessera::ga {

class Requests {
 public:
  /// Sets `request` to a handle of the transfer. Waits for it if `request` is a null pointer.
  static Status begin(const IntOut& request, rma::Handle transfer);
  static Status wait(const IntOut& request);
  /// True if wait would not block.
  static bool test(const IntOut& request);
  /// Waits for all; the end of the job reports their errors.
  static void clear() noexcept;
};

}  // namespace tessera::ga
