// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <utility>

#include "rma/bootstrap.hpp"

namespace tessera::rma {

// Where the threads synchronise: a buffer per rank, filled under one mutex, read after all have
// come.
class ThreadGroup::Rendezvous {
 public:
  explicit Rendezvous(std::int32_t ranks)
      : ranks_(ranks), parts_(static_cast<std::size_t>(ranks)) {}

  [[nodiscard]] std::int32_t size() const noexcept { return ranks_; }

  Result<std::vector<std::byte>> allgather(WorldRank rank, std::span<const std::byte> own,
                                           std::chrono::milliseconds timeout) {
    std::unique_lock guard(mutex_);
    parts_[static_cast<std::size_t>(rank.value)].assign(own.begin(), own.end());
    const std::uint64_t round = round_;
    if (++arrived_ == ranks_) {
      finish_round();
      return gathered_;
    }
    const bool done =
        changed_.wait_for(guard, timeout, [&] { return round_ != round || lost_ >= 0; });
    if (round_ != round) {
      return gathered_;
    }
    --arrived_;
    if (done) {
      return Status::error_at(WorldRank{lost_}, Code::peer_lost,
                              fmt::format("rank {} gave up while the job was starting", lost_));
    }
    return Status::error(Code::timed_out,
                         fmt::format("only {} of {} threads reached the start of the job within "
                                     "{} ms",
                                     arrived_ + 1, ranks_, timeout.count()));
  }

  void leave(WorldRank rank) noexcept {
    const std::lock_guard guard(mutex_);
    lost_ = rank.value;
    changed_.notify_all();
  }

 private:
  void finish_round() {
    gathered_.clear();
    for (const auto& each : parts_) {
      gathered_.insert(gathered_.end(), each.begin(), each.end());
    }
    arrived_ = 0;
    ++round_;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::int32_t ranks_;
  std::int32_t arrived_ = 0;
  std::int32_t lost_ = -1;
  std::uint64_t round_ = 0;
  std::vector<std::vector<std::byte>> parts_;
  std::vector<std::byte> gathered_;
};

namespace {

class Member final : public Bootstrap {
 public:
  Member(ThreadGroup::Rendezvous& rendezvous, WorldRank rank)
      : rendezvous_(rendezvous), rank_(rank) {}
  ~Member() override { rendezvous_.leave(rank_); }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  [[nodiscard]] std::string_view name() const noexcept override { return "threads"; }
  [[nodiscard]] WorldRank rank() const noexcept override { return rank_; }
  [[nodiscard]] std::int32_t size() const noexcept override { return rendezvous_.size(); }
  [[nodiscard]] bool is_one_process() const noexcept override { return true; }
  Result<std::vector<std::byte>> allgather(std::span<const std::byte> own,
                                           std::chrono::milliseconds timeout) override {
    return rendezvous_.allgather(rank_, own, timeout);
  }

 private:
  ThreadGroup::Rendezvous& rendezvous_;
  WorldRank rank_;
};

}  // namespace

ThreadGroup::ThreadGroup(std::int32_t ranks)
    : rendezvous_(std::make_unique<Rendezvous>(std::max(ranks, 1))) {}
ThreadGroup::~ThreadGroup() = default;

std::int32_t ThreadGroup::size() const noexcept {
  return rendezvous_->size();
}

std::shared_ptr<Bootstrap> ThreadGroup::member(WorldRank rank) {
  return std::make_shared<Member>(*rendezvous_, rank);
}

}  // namespace tessera::rma
