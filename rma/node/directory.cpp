// SPDX-License-Identifier: BSD-3-Clause
#include "rma/node/directory.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace tessera::rma::detail {
namespace {

constexpr std::uint64_t min_capacity = 1024;
constexpr std::uint64_t removed = ~std::uint64_t{0};

// Region numbers start at 1, so no key is 0; ranks are not negative, so no key equals `removed`.
std::uint64_t key_of(RegionId region, WorldRank owner) noexcept {
  return std::uint64_t{region.value} << 32U | static_cast<std::uint32_t>(owner.value);
}

// Fibonacci hashing: the keys are numbers that were assigned consecutively.
std::uint64_t hash(std::uint64_t key) noexcept {
  return key * 0x9e37'79b9'7f4a'7c15 >> 20U;
}

}  // namespace

struct Directory::Entry {
  std::atomic<std::uint64_t> key;  // 0: never used; `removed`: probes continue
  DirectorySlice slice;
};

// Excludes all readers for a scope.
class Directory::WriteLock {
 public:
  WriteLock(DirectoryHeader& header, const LockContext& context) noexcept : shards_(header.shards) {
    for (DirectoryHeader::Shard& shard : shards_) {
      shard.lock.lock(context);
    }
  }
  ~WriteLock() {
    for (DirectoryHeader::Shard& shard : shards_) {
      shard.lock.unlock();
    }
  }
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;

 private:
  std::span<DirectoryHeader::Shard> shards_;
};

DirectoryHeader& Directory::header() const noexcept {
  return arena_.memory().header().directory;
}

std::span<Directory::Entry> Directory::entries() const noexcept {
  const std::uint64_t offset = header().offset;
  if (offset == 0) {
    return {};
  }
  // The table starts with its capacity, so that one store replaces both.
  std::byte* const table = arena_.at(offset);
  return {reinterpret_cast<Entry*>(table + cache_line), *reinterpret_cast<std::uint64_t*>(table)};
}

// The entry of `key`, or the entry at which a search for it ends. Requires: an entry that was never
// used exists.
Directory::Entry& Directory::slot_for(std::span<Entry> entries, std::uint64_t key) noexcept {
  const std::uint64_t mask = entries.size() - 1;
  std::uint64_t at = hash(key) & mask;
  while (true) {
    const std::uint64_t found = entries[at].key.load(std::memory_order_relaxed);
    if (found == key || found == 0) {
      return entries[at];
    }
    at = (at + 1) & mask;
  }
}

Status Directory::insert(RegionId region, std::span<const DirectorySlice> slices) {
  const WriteLock change(header(), context_);
  TESSERA_RETURN_IF_ERROR(make_room(slices.size()));
  for (const DirectorySlice& slice : slices) {
    const std::uint64_t key = key_of(region, slice.owner);
    Entry& entry = slot_for(entries(), key);
    entry.slice = slice;
    header().used += entry.key.load(std::memory_order_relaxed) == 0 ? 1U : 0U;
    entry.key.store(key, std::memory_order_release);
  }
  return {};
}

void Directory::remove(RegionId region, std::span<const DirectorySlice> slices) noexcept {
  const WriteLock change(header(), context_);
  for (const DirectorySlice& slice : slices) {
    const std::uint64_t key = key_of(region, slice.owner);
    const std::span<Entry> all = entries();
    if (all.empty()) {
      return;
    }
    Entry& entry = slot_for(all, key);
    if (entry.key.load(std::memory_order_relaxed) == key) {
      entry.key.store(removed, std::memory_order_release);
    }
  }
}

bool Directory::change(RegionId region, WorldRank owner,
                       const std::function<void(DirectorySlice&)>& action) noexcept {
  const WriteLock change(header(), context_);
  DirectorySlice* const slice = const_cast<DirectorySlice*>(find_locked(region, owner));
  if (slice == nullptr) {
    return false;
  }
  action(*slice);
  return true;
}

std::optional<DirectorySlice> Directory::find(RegionId region, WorldRank owner) const noexcept {
  std::optional<DirectorySlice> found;
  visit(region, owner, [&](const DirectorySlice& slice) { found = slice; });
  return found;
}

// Requires: the caller holds the lock of a shard.
const DirectorySlice* Directory::find_locked(RegionId region, WorldRank owner) const noexcept {
  const std::span<Entry> all = entries();
  if (region.value == 0 || owner.value < 0 || all.empty()) {
    return nullptr;
  }
  const std::uint64_t key = key_of(region, owner);
  const Entry& entry = slot_for(all, key);
  return entry.key.load(std::memory_order_relaxed) == key ? &entry.slice : nullptr;
}

Status Directory::make_room(std::size_t more) {
  const std::span<Entry> all = entries();
  if ((header().used + more) * 2 <= all.size()) {
    return {};
  }
  // Removed entries stay in the old table, so the new one may not need to be larger.
  std::uint64_t live = 0;
  for (const Entry& entry : all) {
    const std::uint64_t key = entry.key.load(std::memory_order_relaxed);
    live += key != 0 && key != removed ? 1U : 0U;
  }
  return grow(std::bit_ceil(std::max(min_capacity, (live + more) * 4)));
}

Status Directory::grow(std::uint64_t capacity) {
  const std::uint64_t bytes = cache_line + capacity * sizeof(Entry);
  TESSERA_ASSIGN_OR_RETURN(const std::uint64_t offset, arena_.allocate(bytes));
  if (Status backed = arena_.back(offset, bytes); !backed.ok()) {
    arena_.free(offset, bytes);
    return std::move(backed).context("enlarging the node's directory of regions");
  }
  new (arena_.at(offset)) std::uint64_t(capacity);
  const std::span<Entry> larger(reinterpret_cast<Entry*>(arena_.at(offset) + cache_line), capacity);
  const std::span<Entry> old = entries();
  std::uint64_t used = 0;
  for (const Entry& entry : old) {
    const std::uint64_t key = entry.key.load(std::memory_order_relaxed);
    if (key != 0 && key != removed) {
      Entry& copy = slot_for(larger, key);
      copy.slice = entry.slice;
      copy.key.store(key, std::memory_order_relaxed);
      ++used;
    }
  }
  const std::uint64_t old_offset = header().offset;
  // A rank that dies between the two stores leaves the new table with the old count, which is
  // larger; at worst the table then grows too early. The old table with the new count could be
  // filled completely, and a search for a missing key would never end.
  header().offset = offset;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  header().used = used;
  if (old_offset != 0) {
    arena_.free(old_offset, cache_line + old.size() * sizeof(Entry));
  }
  return {};
}

}  // namespace tessera::rma::detail
