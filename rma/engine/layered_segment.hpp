// SPDX-License-Identifier: BSD-3-Clause
//
// LayeredSegment: a segment of one transport that another transport made reachable
// (DataTransport::allocate_over).
#pragma once

#include "rma/transport/transport.hpp"

namespace tessera::rma::detail {

class LayeredSegment : public Segment {
 public:
  /// The segment of the transport below; null if the memory is not of another transport.
  [[nodiscard]] virtual Segment* below() const noexcept = 0;
};

/// The segment on which an endpoint of `transport` works, if `between_nodes` made `segment`.
[[nodiscard]] inline Segment* segment_for(const Transport* transport,
                                          const Transport* between_nodes,
                                          Segment& segment) noexcept {
  const auto* const layered =
      transport == between_nodes ? nullptr : dynamic_cast<const LayeredSegment*>(&segment);
  Segment* const below = layered == nullptr ? nullptr : layered->below();
  return below == nullptr ? &segment : below;
}

}  // namespace tessera::rma::detail
