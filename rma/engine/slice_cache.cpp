// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/slice_cache.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace tessera::rma::detail {
namespace {

// Never written: an empty entry matches no epoch.
const CachedSlice empty_slices[cached_slices];
const RemoteSlice empty_remotes[cached_slices];

// Read by objects that outlive the thread's table. Trivially destroyed.
thread_local bool has_ended = false;

// The table of a thread, and what its entries refer to.
class ThreadSlices {
 public:
  ThreadSlices() {
    thread_slices = entries_.data();
    thread_remotes = remotes_.data();
  }
  ~ThreadSlices() {
    flush();
    thread_slices = const_cast<CachedSlice*>(empty_slices);
    thread_remotes = const_cast<RemoteSlice*>(empty_remotes);
    has_ended = true;
  }
  ThreadSlices(const ThreadSlices&) = delete;
  ThreadSlices& operator=(const ThreadSlices&) = delete;

  CachedSlice& fill(std::uint32_t index, const CachedSlice& entry,
                    std::shared_ptr<const RegionEpoch> epoch, std::shared_ptr<CounterStore> store,
                    WorldRank peer) {
    flush(index);
    owners_of_entries_[index] = {std::move(epoch), std::move(store), peer};
    entries_[index] = entry;
    remotes_[index] = {};
    return entries_[index];
  }

  void flush(const CachedSlice& entry) {
    flush(static_cast<std::uint32_t>(&entry - entries_.data()));
  }

  void flush() {
    for (std::uint32_t index = 0; index < cached_slices; ++index) {
      flush(index);
    }
  }

 private:
  struct EntryOwners {
    std::shared_ptr<const RegionEpoch> epoch;  // so that its address isn't reused meanwhile
    std::shared_ptr<CounterStore> store;
    WorldRank peer;
  };

  void flush(std::uint32_t index) {
    CachedSlice& entry = entries_[index];
    KindTallies tallies{};
    for (std::size_t kind = 0; kind < op_kinds; ++kind) {
      tallies[kind] = {entry.operations[kind], entry.moved_bytes[kind]};
    }
    const bool has_any = std::any_of(entry.operations.begin(), entry.operations.end(),
                                     [](std::uint64_t count) { return count != 0; });
    if (has_any) {
      owners_of_entries_[index].store->add(owners_of_entries_[index].peer, entry.region(), tallies);
      entry.operations.fill(0);
      entry.moved_bytes.fill(0);
    }
  }

  std::array<CachedSlice, cached_slices> entries_;
  std::array<RemoteSlice, cached_slices> remotes_;
  std::array<EntryOwners, cached_slices> owners_of_entries_;
};

// Null if there is no memory for the table. Then the thread counts elsewhere, and tries again each
// time.
ThreadSlices* slices_of_thread() noexcept {
  try {
    // On the heap: a library that is loaded late has little room for thread-local objects.
    static thread_local const auto slices = std::make_unique<ThreadSlices>();
    return slices.get();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

constinit thread_local CachedSlice* thread_slices = const_cast<CachedSlice*>(empty_slices);
constinit thread_local RemoteSlice* thread_remotes = const_cast<RemoteSlice*>(empty_remotes);

CachedSlice* fill_cached(std::shared_ptr<const RegionEpoch> epoch,
                         std::shared_ptr<CounterStore> store, WorldRank rank, RegionId region,
                         const MappedSlice& slice) noexcept {
  ThreadSlices* const slices = has_ended ? nullptr : slices_of_thread();
  if (slices == nullptr) {
    return nullptr;
  }
  CachedSlice entry{.epoch = epoch.get(), .key = key_of(rank, no_region)};
  entry.retarget(region, slice);
  return &slices->fill(cache_index(rank, region), entry, std::move(epoch), std::move(store), rank);
}

void flush_counts() noexcept {
  if (ThreadSlices* const slices = has_ended ? nullptr : slices_of_thread()) {
    slices->flush();
  }
}

void flush_counts(const CachedSlice& entry) noexcept {
  if (ThreadSlices* const slices = has_ended ? nullptr : slices_of_thread()) {
    slices->flush(entry);
  }
}

}  // namespace tessera::rma::detail
