// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/counting.hpp"

namespace tessera::rma::detail {
namespace {

// Where the calling thread's block is emptied to; a job that is gone is skipped.
struct ThreadStore {
  std::weak_ptr<CounterStore> store;
  ~ThreadStore() { empty(); }
  void empty() {
    if (thread_block.slice == nullptr) {
      return;
    }
    if (const auto target = store.lock()) {
      target->add(thread_block.peer, thread_block.tallies());
    }
    thread_block = ThreadBlock{};
  }
};

ThreadStore& thread_store() {
  static thread_local ThreadStore store;
  return store;
}

}  // namespace

constinit thread_local ThreadBlock thread_block;

OpTallies ThreadBlock::tallies() const noexcept {
  OpTallies result{};
  for (std::size_t op = 0; op < op_count; ++op) {
    result[op] = {operations[op] + words[op], bytes[op] + sizeof(std::uint64_t) * words[op]};
  }
  return result;
}

void turn_thread_block(const std::shared_ptr<CounterStore>& store, WorldRank peer,
                       const void* slice) {
  ThreadStore& current = thread_store();
  current.empty();
  current.store = store;
  thread_block.slice = slice;
  thread_block.peer = peer;
}

void flush_thread_block() {
  thread_store().empty();
}

void CounterStore::add(WorldRank peer, const OpTallies& tallies) {
  const std::lock_guard guard(mutex_);
  OpTallies& sums = by_peer_[peer];
  for (std::size_t op = 0; op < op_count; ++op) {
    sums[op] += tallies[op];
  }
}

Traffic CounterStore::traffic() const {
  const std::lock_guard guard(mutex_);
  Traffic traffic;
  traffic.peers.reserve(by_peer_.size());
  for (const auto& [peer, tallies] : by_peer_) {
    traffic.peers.push_back({peer, tallies});
  }
  return traffic;
}

}  // namespace tessera::rma::detail
