// SPDX-License-Identifier: BSD-3-Clause
//
// A transport as an external author would write it: from rma/transport/transport.hpp alone, with
// only the required functions. Ranks are threads, slices are on the heap, and there are contiguous
// put and get; the library composes everything else.
#pragma once

#include <atomic>
#include <memory>

#include "rma/transport/transport.hpp"

namespace tessera::rma::test {

/// What the toy counts, over all ranks that share it.
struct ToyCounts {
  std::atomic<int> begun_accesses{0};
  std::atomic<int> ended_accesses{0};
};

/// The transport "toy".
TransportFactory toy_transport(std::shared_ptr<ToyCounts> counts = nullptr);

}  // namespace tessera::rma::test
