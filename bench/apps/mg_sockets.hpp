// SPDX-License-Identifier: BSD-3-Clause
//
// MG's exchange over a bare TCP socket: the limit of the network and two processors. The kernels
// are those of apps/mg.
#pragma once

#include <memory>
#include <string>

#include "apps/mg/exchange.hpp"
#include "bench/support/rank_group.hpp"

namespace tessera::bench {

/// Collective. Null, with the reason in `missing`, if the number of ranks isn't two, or if they
/// can't connect.
std::unique_ptr<apps::mg::Exchange> make_socket_exchange(RankGroup& group, std::string& missing);

}  // namespace tessera::bench
