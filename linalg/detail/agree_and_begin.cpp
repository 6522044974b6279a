// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/agree_and_begin.hpp"

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

Status agree_and_begin(const arrays::ArrayBase& target,
                       std::span<const arrays::ArrayBase* const> sources, Status own_status,
                       const CallSignature& signature) {
  if (own_status.ok()) {
    own_status = fence_all(target, sources);
  }
  rma::AgreedCall asked = signature.asked();
  asked.label = target.label(asked.label.verb);
  return target.team().agree(own_status, asked);
}

}  // namespace tessera::linalg::detail
