// SPDX-License-Identifier: BSD-3-Clause
//
// Rank groups of one rank and of threads, for tests of the method.
#pragma once

#include <algorithm>
#include <barrier>
#include <cstring>
#include <exception>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "bench/support/measure.hpp"

namespace tessera::bench {

/// One rank alone.
class SingleRankGroup : public RankGroup {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  void barrier() override {}
  void broadcast(std::span<std::byte>, int) override {}
  double maximum(double value) override { return value; }
};

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

/// Runs `body` on `ranks` threads of this process, each with its own group, and returns when all
/// have returned. Throws the first exception of a body again, after all threads have ended.
/// Requires: a body that throws does so on every rank; otherwise the others wait for ever.
inline void run_threads(int ranks, const std::function<void(RankGroup&)>& body) {
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
