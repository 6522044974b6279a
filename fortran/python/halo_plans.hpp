// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The planned exchanges of an array's ghost cells, one for each set of options.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "arrays/halo.hpp"
#include "fortran/python/job.hpp"

namespace tessera::python {

/// An exchange, and its update in progress.
struct PlannedHalo {
  explicit PlannedHalo(arrays::Halo planned) : halo(std::move(planned)) {}
  arrays::Halo halo;
  std::optional<arrays::HaloUpdate> update = {};

  rma::Status free() {
    update.reset();
    return halo.free();
  }
};

class HaloPlans {
 public:
  using Plan = std::shared_ptr<Owned<PlannedHalo>>;

  /// Null if there is none.
  [[nodiscard]] Plan find(const arrays::HaloOptions& options) const {
    for (const auto& [of, plan] : plans_) {
      if (of == options) {
        return plan;
      }
    }
    return nullptr;
  }
  void add(const arrays::HaloOptions& options, Plan plan) {
    plans_.emplace_back(options, std::move(plan));
  }
  /// Collective.
  rma::Status free() {
    rma::Status first;
    for (const auto& [of, plan] : plans_) {
      rma::Status freed = plan->free();
      first = first.ok() ? std::move(freed) : std::move(first);
    }
    plans_.clear();
    return first;
  }

 private:
  std::vector<std::pair<arrays::HaloOptions, Plan>> plans_;
};

}  // namespace tessera::python
