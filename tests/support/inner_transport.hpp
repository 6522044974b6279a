// SPDX-License-Identifier: BSD-3-Clause
//
// Jobs whose transport is FaultyTransport on top of the program's own, and memory that is reached
// through the endpoints of each.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rma/transport/loopback/transport.hpp"
#include "rma/transport/shm/transport.hpp"
#include "tests/support/faulty_transport.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/toy_transport.hpp"

namespace tessera::rma::test {

/// Jobs of `mpi` consist of processes, and windows can't be a transport within one node.
inline bool inner_is_shm() {
  return transport_name() == "shm" || transport_name() == "mpi";
}

inline TransportFactory inner_transport() {
  const std::string name = transport_name();
  return inner_is_shm() ? shm::factory() : name == "toy" ? toy_transport() : loopback::factory();
}

/// Options of a job with that `plan`; `change` is applied last.
inline RunOptions faulty_job(std::shared_ptr<FaultPlan> plan,
                             std::function<void(Settings&)> change = {}) {
  return {.change =
              [change = std::move(change)](Settings& settings) {
                settings.transport = "faulty";
                settings.ranks_per_node = 0;  // it does not connect nodes
                if (change) {
                  change(settings);
                }
              },
          .transports = {faulty_transport(inner_transport(), std::move(plan))},
          .on_one_machine = true};
}

/// A region of equal slices that is reached through endpoints: attached memory, if allocated memory
/// would be mapped.
class EndpointMemory {
 public:
  EndpointMemory(Team& team, std::size_t bytes) : own_(bytes + 64) {
    if (inner_is_shm()) {
      const auto misaligned = reinterpret_cast<std::uintptr_t>(own_.data()) % 64;
      region_ = Region::attach(team, own_.data() + (64 - misaligned) % 64, bytes).value();
    } else {
      region_ = Region::allocate(team, bytes).value();
    }
  }
  [[nodiscard]] Region& region() noexcept { return region_; }
  [[nodiscard]] RemoteAddress at(TeamRank rank, std::uint64_t offset = 0) const {
    return region_.at(rank, offset);
  }

 private:
  std::vector<std::byte> own_;
  Region region_;
};

}  // namespace tessera::rma::test
