// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/rank_group.hpp"

#include <algorithm>
#include <barrier>
#include <cstring>
#include <exception>
#include <thread>
#include <vector>

namespace tessera::bench {
namespace {

/// What the threads of one run_threads() share.
struct SharedState {
  explicit SharedState(int ranks) : gate(ranks), values(static_cast<std::size_t>(ranks)) {}
  std::barrier<> gate;
  std::vector<double> values;
  std::span<std::byte> message;
};

class ThreadRankGroup : public RankGroup {
 public:
  ThreadRankGroup(SharedState& meeting, int rank) : shared_(meeting), rank_(rank) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(shared_.values.size()); }
  void barrier() override { shared_.gate.arrive_and_wait(); }

  void broadcast(std::span<std::byte> bytes, int root) override {
    if (rank_ == root) {
      shared_.message = bytes;
    }
    barrier();
    if (rank_ != root) {
      std::memcpy(bytes.data(), shared_.message.data(), bytes.size());
    }
    barrier();
  }

  double maximum(double value) override {
    shared_.values[static_cast<std::size_t>(rank_)] = value;
    barrier();
    const double result = *std::max_element(shared_.values.begin(), shared_.values.end());
    barrier();
    return result;
  }

 private:
  SharedState& shared_;
  int rank_;
};

}  // namespace

void run_threads(int ranks, const std::function<void(RankGroup&)>& body) {
  SharedState meeting(ranks);
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&meeting, &failures, &body, rank] {
      try {
        ThreadRankGroup group(meeting, rank);
        body(group);
      } catch (...) {
        failures[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) {
      std::rethrow_exception(failure);
    }
  }
}

}  // namespace tessera::bench
