// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/team/staging_window.hpp"

#include <algorithm>
#include <utility>

#include "rma/engine/job_state.hpp"
#include "rma/engine/region_state.hpp"
#include "rma/engine/team_state.hpp"

namespace tessera::rma::detail {
namespace {

constexpr std::size_t window_bytes = std::size_t{1} << 20U;
constexpr std::size_t min_half_bytes = 448;  // with the word, a lane has 15 cache lines

std::size_t half_bytes_for(std::int32_t members) {
  const std::size_t share = window_bytes / static_cast<std::size_t>(members) / 2;
  return std::max(share / cache_line * cache_line, min_half_bytes);
}

}  // namespace

Result<std::shared_ptr<StagingWindow>> StagingWindow::create(TeamState& team) {
  return team.do_together([&]() -> Result<std::shared_ptr<StagingWindow>> {
    std::shared_ptr<StagingWindow> window(new StagingWindow(team, half_bytes_for(team.size())));
    const std::size_t bytes = static_cast<std::size_t>(team.size()) * window->lane_bytes();
    RegionOptions options;
    options.name = "collectives";
    Team owning(team.shared_from_this());
    TESSERA_ASSIGN_OR_RETURN(window->region_,
                             RegionState::create(owning, nullptr, bytes, options, false));
    window->region_->disown_team();
    return window;
  });
}

StagingWindow::~StagingWindow() {
  if (region_ != nullptr) {
    region_->release();
  }
}

RemoteAddress StagingWindow::at(TeamRank member, std::uint64_t offset) const noexcept {
  return {team_.members()[static_cast<std::size_t>(member.value)], region_->id(), offset};
}

std::byte* StagingWindow::direct(TeamRank member, std::uint64_t offset) const noexcept {
  std::byte* const start = region_->direct(member);
  return start == nullptr ? nullptr : start + offset;
}

Status StagingWindow::fence() {
  return region_->fence();
}

Status StagingWindow::begin_access() {
  return region_->segment().begin_access();
}

Status StagingWindow::end_access() {
  return region_->segment().end_access();
}

const std::byte* StagingWindow::own(std::uint64_t offset) const noexcept {
  return region_->segment().local() + offset;
}

}  // namespace tessera::rma::detail
