// SPDX-License-Identifier: BSD-3-Clause
//
// ExposedSlices: a region's slices on this node as the node's agent knows them
// (node/directory.hpp). The team's first member on the node exposes the slices of all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "rma/base/status.hpp"
#include "rma/node/directory.hpp"
#include "rma/node/node.hpp"
#include "rma/region.hpp"

namespace tessera::rma::detail {

class ExposedSlices {
 public:
  explicit ExposedSlices(Node& node) noexcept : node_(node) {}

  /// On the first member. Errors: as Directory::insert().
  Status expose(RegionId region, std::vector<DirectorySlice> slices) {
    region_ = region;
    slices_ = std::move(slices);
    return directory().insert(region_, slices_);
  }
  /// Reverses expose(). Must not come before all members have arrived to free the region: others
  /// may still be working on it.
  void hide() {
    if (!slices_.empty()) {
      directory().remove(region_, slices_);
      slices_.clear();
    }
  }
  /// On the first member: for the slices of all members on the node.
  void set_access(AccessMode mode, Conflicts conflicts) {
    for (const DirectorySlice& each : slices_) {
      directory().change(region_, each.owner, [&](DirectorySlice& slice) {
        slice.access_mode = mode;
        slice.conflicts = conflicts;
      });
    }
  }
  /// On any member: for its own slice, which the first member has exposed.
  void set_in_use(RegionId region, WorldRank owner, std::uint64_t bytes) const noexcept {
    directory().change(region, owner, [&](DirectorySlice& slice) {
      slice.in_use = std::max(slice.in_use, std::min(bytes, slice.bytes));
    });
  }

 private:
  [[nodiscard]] Directory directory() const noexcept {
    return Directory(node_.arena(), node_.lock_context());
  }

  Node& node_;
  RegionId region_;
  std::vector<DirectorySlice> slices_;
};

}  // namespace tessera::rma::detail
