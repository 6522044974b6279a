// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/byte_locks.hpp"

#include <mpi.h>

#include <algorithm>
#include <utility>

#include "rma/transport/mpi/error.hpp"

namespace tessera::rma::mpi {

using detail::LockOutcome;

Result<std::unique_ptr<detail::RemoteLocks>> ByteLocks::create(
    WindowLockContext context, WindowPool& pool, Team& team,
    const std::vector<std::int64_t>& counts) {
  std::uint64_t set = pool.draw_number();
  TESSERA_RETURN_IF_ERROR(team.broadcast_value(set, TeamRank{0}));
  const auto own = static_cast<std::size_t>(counts[static_cast<std::size_t>(team.rank().value)]);
  TESSERA_ASSIGN_OR_RETURN(
      auto segment, pool.allocate(nullptr, team, own * static_cast<std::size_t>(team.size()), {},
                                  WindowPool::Use::epoch_locks));
  return std::unique_ptr<detail::RemoteLocks>(
      new ByteLocks(std::move(context), team, set, std::move(segment)));
}

std::uint64_t ByteLocks::offset_of(const Key& key, std::size_t member) const noexcept {
  return segment_->displacement_at(key.first) +
         static_cast<std::uint64_t>(key.second) * static_cast<std::uint64_t>(team_.size()) + member;
}

Status ByteLocks::get_bytes(const Key& key, std::size_t from, std::span<std::uint8_t> into) const {
  if (into.empty()) {
    return {};
  }
  const auto count = static_cast<int>(into.size());
  return check("MPI_Get", MPI_Get(into.data(), count, MPI_BYTE, key.first,
                                  static_cast<MPI_Aint>(offset_of(key, from)), count, MPI_BYTE,
                                  segment_->window().handle()));
}

Status ByteLocks::put_byte(const Key& key, const std::uint8_t& own_byte) const {
  const auto own = static_cast<std::size_t>(team_.rank().value);
  return check("MPI_Put", MPI_Put(&own_byte, 1, MPI_BYTE, key.first,
                                  static_cast<MPI_Aint>(offset_of(key, own)), 1, MPI_BYTE,
                                  segment_->window().handle()));
}

// The epoch is exclusive: no other rank sees the bytes between the put and the gets.
Result<ByteLocks::Bytes> ByteLocks::get_others(const Key& key,
                                               std::optional<std::uint8_t> own_byte) {
  Bytes bytes(static_cast<std::size_t>(team_.size()));
  const auto own = static_cast<std::size_t>(team_.rank().value);
  const Window& window = segment_->window();
  const auto mpi_guard = window.world().lock_calls();
  TESSERA_RETURN_IF_ERROR(window.lock(MPI_LOCK_EXCLUSIVE, key.first));
  Status issued = own_byte ? put_byte(key, *own_byte) : Status();
  const std::span<std::uint8_t> all(bytes);
  Status before = get_bytes(key, 0, all.first(own));
  Status after = get_bytes(key, own + 1, all.subspan(own + 1));
  TESSERA_RETURN_IF_ERROR(window.unlock(key.first));
  TESSERA_RETURN_IF_ERROR(issued);
  TESSERA_RETURN_IF_ERROR(before);
  TESSERA_RETURN_IF_ERROR(after);
  return bytes;
}

Result<LockOutcome> ByteLocks::lock(TeamRank owner, std::int64_t index,
                                    const std::function<void()>& on_liveness_check) {
  TESSERA_RETURN_IF_ERROR(segment_->window().world().check_thread());
  const Key key{owner.value, index};
  wait_to_enter(key, on_liveness_check);
  if (Status taken = take(key, on_liveness_check); !taken.ok()) {
    leave(key);
    return taken;
  }
  return LockOutcome{};
}

Status ByteLocks::take(const Key& key, const std::function<void()>& on_liveness_check) {
  TESSERA_ASSIGN_OR_RETURN(const Bytes others, get_others(key, std::uint8_t{1}));
  const bool is_free =
      std::all_of(others.begin(), others.end(), [](std::uint8_t each) { return each == 0; });
  if (!is_free) {
    wait_for_message(key, on_liveness_check);
  }
  return {};
}

Result<LockOutcome> ByteLocks::try_lock(TeamRank owner, std::int64_t index) {
  TESSERA_RETURN_IF_ERROR(segment_->window().world().check_thread());
  const Key key{owner.value, index};
  const LockOutcome busy{.is_acquired = false, .is_busy = true};
  if (!enter(key)) {
    return busy;
  }
  const auto others = get_others(key, std::nullopt);
  const bool is_busy = others.ok() && std::any_of(others->begin(), others->end(),
                                                  [](std::uint8_t each) { return each != 0; });
  const Status taken = others.ok() && !is_busy ? take(key, [] {}) : others.status();
  if (!taken.ok() || is_busy) {
    leave(key);
  }
  TESSERA_RETURN_IF_ERROR(taken);
  return is_busy ? busy : LockOutcome{};
}

void ByteLocks::wait_for_message(const Key& key, const std::function<void()>& on_liveness_check) {
  const LockName name = name_of(key);
  context_.node->listen_until([&] { return context_.granted_locks->take(name); },
                              [&] {
                                on_liveness_check();
                                return false;
                              });
}

Status ByteLocks::unlock(TeamRank owner, std::int64_t index) {
  TESSERA_RETURN_IF_ERROR(context_.fence());
  const Key key{owner.value, index};
  const auto others = get_others(key, std::uint8_t{0});
  Status handed = others.ok() ? hand_over(key, *others) : others.status();
  leave(key);
  return handed;
}

// Hands the lock to the next waiting member after this one.
Status ByteLocks::hand_over(const Key& key, const Bytes& others) {
  const auto own = static_cast<std::size_t>(team_.rank().value);
  for (std::size_t step = 1; step < others.size(); ++step) {
    const std::size_t member = (own + step) % others.size();
    if (others[member] != 0) {
      const TeamRank next{static_cast<std::int32_t>(member)};
      return context_.hand_over(team_.world_rank(next), name_of(key));
    }
  }
  return {};
}

bool ByteLocks::enter(const Key& key) {
  const std::lock_guard guard(mutex_);
  return entered_.insert(key).second;
}

void ByteLocks::wait_to_enter(const Key& key, const std::function<void()>& on_liveness_check) {
  std::unique_lock guard(mutex_);
  while (!entered_.insert(key).second) {
    const auto period = context_.node->policy().liveness_interval;
    if (left_.wait_for(guard, period) == std::cv_status::timeout) {
      on_liveness_check();
    }
  }
}

void ByteLocks::release_all() {
  std::vector<Key> keys;
  {
    const std::lock_guard guard(mutex_);
    keys.assign(entered_.begin(), entered_.end());
  }
  for (const auto& [owner, index] : keys) {
    unlock(TeamRank{owner}, index).ignore("the rank leaves");
  }
}

void ByteLocks::leave(const Key& key) {
  const std::lock_guard guard(mutex_);
  entered_.erase(key);
  left_.notify_all();
}

}  // namespace tessera::rma::mpi
