// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <utility>

#include "rma/engine/startup.hpp"
#include "rma/server/transport.hpp"
#include "rma/transport/loopback/transport.hpp"
#include "rma/transport/mpi/transport.hpp"
#include "rma/transport/shm/transport.hpp"

namespace tessera::rma::detail {

// "verbs" exists by name, so that a list of transports may name it where it was not built.
std::vector<TransportFactory> own_transports() {
  constexpr const char* reason = "this library was built without libibverbs";
  TransportFactory by_verbs = server::factory("verbs", [](const RdmaProviderContext&) {
    return Result<std::shared_ptr<RdmaProvider>>(Status::error(Code::unsupported, reason));
  });
  by_verbs.describe = [](const Settings&) { return std::string("not used: ") + reason; };
  return {shm::factory(), loopback::factory(), server::factory(), std::move(by_verbs),
          mpi::factory()};
}

}  // namespace tessera::rma::detail
