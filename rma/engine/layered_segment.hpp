// SPDX-License-Identifier: BSD-3-Clause
//
// LayeredSegment: memory of one transport that another one made reachable
// (Transport::allocate_over).
#pragma once

#include "rma/transport.hpp"

namespace tessera::rma::detail {

class LayeredSegment : public Segment {
 public:
  /// As the transport below knows it; null: it is not of another transport.
  [[nodiscard]] virtual Segment* below() const noexcept = 0;
};

/// What an endpoint of `transport` works on, where `between_nodes` made the segment.
[[nodiscard]] inline Segment* segment_for(const Transport* transport,
                                          const Transport* between_nodes,
                                          Segment& segment) noexcept {
  const auto* const layered =
      transport == between_nodes ? nullptr : dynamic_cast<const LayeredSegment*>(&segment);
  Segment* const below = layered == nullptr ? nullptr : layered->below();
  return below == nullptr ? &segment : below;
}

}  // namespace tessera::rma::detail
