// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "rma/engine/startup.hpp"
#include "rma/server/transport.hpp"
#include "rma/transport/loopback/transport.hpp"
#include "rma/transport/mpi/transport.hpp"
#include "rma/transport/shm/transport.hpp"
#include "rma/transport/verbs/device_discovery.hpp"

namespace tessera::rma::detail {

// To add a transport, add a folder and a line here.
std::vector<TransportFactory> own_transports() {
  TransportFactory by_verbs = server::factory("verbs", [](const RdmaProviderContext& context) {
    return verbs::find_rdma_provider(verbs::real_library(), context);
  });
  by_verbs.describe = [](const Settings& settings) {
    return verbs::describe_device(verbs::real_library(), settings);
  };
  return {shm::factory(), loopback::factory(), server::factory(), std::move(by_verbs),
          mpi::factory()};
}

}  // namespace tessera::rma::detail
