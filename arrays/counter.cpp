// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/counter.hpp"

#include <fmt/format.h>

#include <utility>

#include "rma/atomic.hpp"
#include "rma/transfer.hpp"

namespace tessera::arrays {

using rma::Result;
using rma::Status;

Result<Counter> Counter::create(const rma::Job& job, rma::Team& team, rma::TeamRank owner) {
  const Status mine =
      owner.value >= 0 && owner.value < team.size()
          ? Status()
          : Status::error(rma::Code::invalid_argument,
                          fmt::format("member {} cannot own a counter: the team has {} members",
                                      owner.value, team.size()));
  TESSERA_RETURN_IF_ERROR(team.agree(mine));
  // Only the owner's slice has the word, but equal slices keep every rank on the short path.
  TESSERA_ASSIGN_OR_RETURN(auto region, rma::Region::allocate(team, sizeof(std::int64_t)));
  return Counter(job, std::move(region), owner);
}

Result<std::int64_t> Counter::next(std::int64_t count) const {
  return rma::fetch_add(job_, region_.at(owner_), count);
}

Status Counter::reset(std::int64_t value) {
  TESSERA_RETURN_IF_ERROR(region_.team().barrier());
  Status put;
  if (region_.team().rank() == owner_) {
    put = rma::put_value(job_, region_.at(owner_), value);
  }
  TESSERA_RETURN_IF_ERROR(region_.fence());
  return region_.team().agree(put);
}

}  // namespace tessera::arrays
