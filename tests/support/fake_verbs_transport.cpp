// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/fake_verbs_transport.hpp"

#include <memory>

#include "rma/server/transport.hpp"
#include "rma/transport/verbs/device_discovery.hpp"
#include "tests/support/fake_verbs.hpp"

namespace tessera::rma::test {

TransportFactory fake_verbs_transport() {
  static const auto network = std::make_shared<FakeVerbs>(soft_roce_devices(1));
  return server::factory("fake_verbs", [](const detail::RdmaProviderContext& context) {
    return verbs::find_rdma_provider(network, context);
  });
}

}  // namespace tessera::rma::test
