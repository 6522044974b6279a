// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/team/team_registry.hpp"

#include "rma/engine/team/background_collectives.hpp"

namespace tessera::rma::detail {

void TeamRegistry::add(const std::shared_ptr<BackgroundCollectives>& background) {
  const std::lock_guard guard(mutex_);
  std::erase_if(backgrounds_, [](const auto& each) { return each.expired(); });
  backgrounds_.push_back(background);
}

void TeamRegistry::stop_threads() noexcept {
  std::vector<std::weak_ptr<BackgroundCollectives>> backgrounds;
  {
    const std::lock_guard guard(mutex_);
    backgrounds.swap(backgrounds_);
  }
  for (const auto& each : backgrounds) {
    if (const auto background = each.lock()) {
      background->stop();
    }
  }
}

}  // namespace tessera::rma::detail
