// SPDX-License-Identifier: BSD-3-Clause
//
// Requests: the transfers that GA's integer handles stand for.
//
// A handle has the number of a slot, and how often the slot was used. The handle 0 is a transfer
// that was complete from the start, as all transfers within a node are. Programs may drop handles:
// before the table grows, slots of completed transfers are used again. A wait for a handle without
// a transfer returns at once.
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
