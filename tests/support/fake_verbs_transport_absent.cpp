// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/fake_verbs_transport.hpp"

#include "rma/server/transport.hpp"

namespace tessera::rma::test {

TransportFactory fake_verbs_transport() {
  return server::factory("fake_verbs", [](const detail::RdmaProviderContext&) {
    return Result<std::shared_ptr<detail::RdmaProvider>>(
        Status::error(Code::unsupported, "this tree was built without libibverbs"));
  });
}

}  // namespace tessera::rma::test
