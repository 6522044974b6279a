// SPDX-License-Identifier: BSD-3-Clause
//
// MG's exchange over a bare TCP socket: what the network and two processors allow. The kernels are
// those of apps/mg.
#pragma once

#include <memory>
#include <string>

#include "apps/mg/exchange.hpp"
#include "bench/support/crew.hpp"

namespace tessera::bench {

/// Collective. Null, and the reason in `missing`, on other than two ranks and where they can't
/// connect.
std::unique_ptr<apps::mg::Exchange> make_socket_exchange(Crew& crew, std::string& missing);

}  // namespace tessera::bench
