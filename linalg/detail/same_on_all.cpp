// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/same_on_all.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace tessera::linalg::detail {

using rma::Status;

namespace {

Status fence_all(const arrays::ArrayBase& target,
                 std::span<const arrays::ArrayBase* const> sources) {
  Status fenced = target.fence();
  for (const arrays::ArrayBase* const source : sources) {
    Status also = source->fence();
    if (fenced.ok()) {
      fenced = std::move(also);
    }
  }
  return fenced;
}

}  // namespace

Status begin_together(const arrays::ArrayBase& target,
                      std::span<const arrays::ArrayBase* const> sources, Status mine,
                      const Request& request) {
  rma::Team& team = target.team();
  if (mine.ok()) {
    mine = fence_all(target, sources);
  }
  TESSERA_RETURN_IF_ERROR(team.agree(mine));
  TESSERA_ASSIGN_OR_RETURN(const auto all, team.allgather_value(request.value()));
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i] != all[0]) {
      return Status::error(rma::Code::invalid_argument,
                           fmt::format("rank {} asked for something else than rank {}",
                                       team.members()[i].value, team.members()[0].value))
          .hint("all members must give the same boxes, dimensions, factors and options");
    }
  }
  return {};
}

}  // namespace tessera::linalg::detail
