// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/gather.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "arrays/detail/block_cache.hpp"
#include "arrays/distribution.hpp"
#include "rma/base/catch_bad_alloc.hpp"
#include "rma/transfer.hpp"

namespace tessera::arrays {

using rma::Code;
using rma::Fragment;
using rma::Handle;
using rma::Status;

namespace {

// The number of elements that are located together, and whose transfers are started together.
constexpr std::int64_t batch_elements = 16 << 10;

std::string_view verb_of(Transfer::Kind kind) {
  return kind == Transfer::Kind::get   ? "gather"
         : kind == Transfer::Kind::put ? "scatter"
                                       : "scatter_accumulate";
}

Status explain_index(const ArrayBase& array, const IndexList& indices, std::int64_t number) {
  const int given = indices.ndims(number);
  // An Index has no room for more numbers than the dimensions of any array.
  Status status =
      given > max_dims
          ? Status::error(Code::invalid_argument,
                          fmt::format("it has {} numbers, but the array has {} dimension{}", given,
                                      array.ndims(), array.ndims() == 1 ? "" : "s"))
          : check_inside(
                Index(std::span(indices[number], static_cast<std::size_t>(std::max(given, 0)))),
                array.extents());
  return std::move(status).context(fmt::format("entry {} of the list", number));
}

// Checks all entries first, so that nothing has moved if one of them is wrong.
Status check_indices(const ArrayBase& array, const IndexList& indices) {
  const int ndims = array.ndims();
  const Extents& extents = array.extents();
  for (std::int64_t i = 0; i < indices.count(); ++i) {
    const std::int64_t* const at = indices[i];
    bool is_inside = indices.ndims(i) == ndims;
    for (int dim = 0; dim < ndims && is_inside; ++dim) {
      is_inside = static_cast<std::uint64_t>(at[dim]) < static_cast<std::uint64_t>(extents[dim]);
    }
    if (!is_inside) [[unlikely]] {
      return explain_index(array, indices, i);
    }
  }
  return {};
}

// One element in this node's memory. Words of up to 8 bytes never tear, on any path.
template <std::size_t Bytes>
struct Word;
template <>
struct Word<1> {
  using type [[gnu::may_alias]] = std::uint8_t;
};
template <>
struct Word<2> {
  using type [[gnu::may_alias]] = std::uint16_t;
};
template <>
struct Word<4> {
  using type [[gnu::may_alias]] = std::uint32_t;
};
template <>
struct Word<8> {
  using type [[gnu::may_alias]] = std::uint64_t;
};

template <std::size_t Bytes>
void load(std::byte* to, const std::byte* from) {
  const auto word =
      __atomic_load_n(reinterpret_cast<const typename Word<Bytes>::type*>(from), __ATOMIC_RELAXED);
  std::memcpy(to, &word, Bytes);
}
template <std::size_t Bytes>
void store(std::byte* to, const std::byte* from) {
  typename Word<Bytes>::type word;
  std::memcpy(&word, from, Bytes);
  __atomic_store_n(reinterpret_cast<typename Word<Bytes>::type*>(to), word, __ATOMIC_RELAXED);
}

// Fragments of elements on other nodes, until they are sent.
struct RemoteElement {
  rma::TeamRank owner;
  Fragment fragment;
};

// Elements on this node that are added to, as one list for each owner: a list is added with few
// locks, but element by element takes one lock for each.
class LocalNodeSums {
 public:
  void add(rma::TeamRank owner, const Fragment& fragment) {
    list_of(owner).fragments.push_back(fragment);
  }
  // Calls `work(owner, fragments)` for each list and empties it.
  template <class Work>
  Status take(Work&& work) {
    Status first;
    for (List& each : lists_) {
      if (!each.fragments.empty() && first.ok()) {
        first = work(each.owner, rma::Fragments(each.fragments));
      }
      each.fragments.clear();
    }
    return first;
  }

 private:
  struct List {
    rma::TeamRank owner;
    std::vector<Fragment> fragments;
  };

  List& list_of(rma::TeamRank owner) {
    std::size_t& recent = recent_[static_cast<std::size_t>(owner.value) % recent_.size()];
    if (recent < lists_.size() && lists_[recent].owner == owner) [[likely]] {
      return lists_[recent];
    }
    const auto found = std::find_if(lists_.begin(), lists_.end(),
                                    [&](const List& each) { return each.owner == owner; });
    recent = static_cast<std::size_t>(found - lists_.begin());
    return found != lists_.end() ? *found : lists_.emplace_back(List{owner, {}});
  }

  std::vector<List> lists_;               // one for each owner on this node that occurred
  std::array<std::size_t, 64> recent_{};  // indices of lists, by a hash of their owners
};

// The implementation of transfer_elements().
class ElementMover {
 public:
  ElementMover(const ArrayBase& array, const Transfer& transfer, std::byte* values)
      : array_(array),
        transfer_(transfer),
        values_(values),
        bytes_(static_cast<std::int64_t>(array.element_bytes())),
        job_(array.job()),
        blocks_(array) {}

  Status run(const IndexList& indices) {
    for (std::int64_t first = 0; first < indices.count(); first += batch_elements) {
      const std::int64_t last = std::min(first + batch_elements, indices.count());
      remote_fragments_.clear();
      TESSERA_RETURN_IF_ERROR(transfer_.kind == Transfer::Kind::accumulate
                                  ? add_on_node(indices, first, last)
                                  : transfer_on_node(indices, first, last));
      // The previous batch was on its way while this one was located.
      TESSERA_RETURN_IF_ERROR(travelling_.wait());
      travelling_ = send_remote();
    }
    return travelling_.wait();
  }

 private:
  // In two steps, for some elements at a time. Memory that is accessed at random is slow to load,
  // so all of it is prefetched before the first element is moved.
  Status transfer_on_node(const IndexList& indices, std::int64_t first, std::int64_t last) {
    std::array<Near, prefetch_batch> near;
    for (std::int64_t at = first; at < last; at += prefetch_batch) {
      const std::int64_t count = std::min(prefetch_batch, last - at);
      for (std::int64_t i = 0; i < count; ++i) {
        near[static_cast<std::size_t>(i)] = find(indices[at + i]);
      }
      for (std::int64_t i = 0; i < count; ++i) {
        TESSERA_RETURN_IF_ERROR(
            take(near[static_cast<std::size_t>(i)], values_ + (at + i) * bytes_));
      }
    }
    return {};
  }

  static constexpr std::int64_t prefetch_batch = 64;

  struct Near {
    ElementLocation location;
    std::byte* element = nullptr;  // null: it is on another node
  };

  Near find(const std::int64_t* numbers) {
    const detail::BlockCache::Found found = blocks_.find(numbers);
    Near near{{found.owner, found.offset}};
    if (found.slice != nullptr) {
      near.element = found.slice + found.offset * bytes_;
      __builtin_prefetch(near.element);
    }
    return near;
  }

  Status take(const Near& near, std::byte* value) {
    if (near.element != nullptr) {
      return move_on_node(near.location, near.element, value);
    }
    remote_fragments_.push_back({near.location.owner, fragment(near.location.offset, value)});
    return {};
  }

  // In groups that are small enough that their fragments stay in a cache until they are added.
  Status add_on_node(const IndexList& indices, std::int64_t first, std::int64_t last) {
    for (std::int64_t at = first; at < last; at += added_together) {
      const std::int64_t end = std::min(at + added_together, last);
      for (std::int64_t i = at; i < end; ++i) {
        const detail::BlockCache::Found found = blocks_.find(indices[i]);
        const Fragment piece = fragment(found.offset, values_ + i * bytes_);
        if (found.slice != nullptr) {
          local_node_sums_.add(found.owner, piece);
        } else {
          remote_fragments_.push_back({found.owner, piece});
        }
      }
      TESSERA_RETURN_IF_ERROR(
          local_node_sums_.take([&](rma::TeamRank owner, rma::Fragments fragments) {
            return rma::accumulate(job_, address(owner, 0), fragments, *transfer_.scale);
          }));
    }
    return {};
  }

  static constexpr std::int64_t added_together = 4096;

  [[nodiscard]] Fragment fragment(std::int64_t offset, std::byte* value) const noexcept {
    return {value, static_cast<std::uint64_t>(offset * bytes_), static_cast<std::size_t>(bytes_)};
  }

  Status move_on_node(const ElementLocation& location, std::byte* element, std::byte* value) {
    const bool is_get = transfer_.kind == Transfer::Kind::get;
    switch (bytes_) {
      case 1:
        is_get ? load<1>(value, element) : store<1>(element, value);
        break;
      case 2:
        is_get ? load<2>(value, element) : store<2>(element, value);
        break;
      case 4:
        is_get ? load<4>(value, element) : store<4>(element, value);
        break;
      case 8:
        is_get ? load<8>(value, element) : store<8>(element, value);
        break;
      default:
        // Larger elements may tear; rma moves them, so that this is not a data race.
        return is_get ? rma::get(job_, address(location.owner, location.offset), value,
                                 static_cast<std::size_t>(bytes_))
                      : rma::put(job_, address(location.owner, location.offset), value,
                                 static_cast<std::size_t>(bytes_));
    }
    return {};
  }

  [[nodiscard]] rma::RemoteAddress address(rma::TeamRank owner, std::int64_t offset) const {
    return array_.region().at(owner, static_cast<std::uint64_t>(offset * bytes_));
  }

  // One list for each owner, in ascending order of addresses; if an element is put twice, the value
  // listed last stays.
  Handle send_remote() {
    std::stable_sort(remote_fragments_.begin(), remote_fragments_.end(),
                     [](const RemoteElement& a, const RemoteElement& b) {
                       return a.owner != b.owner
                                  ? a.owner < b.owner
                                  : a.fragment.remote_offset < b.fragment.remote_offset;
                     });
    Handle all;
    for (auto at = remote_fragments_.begin(); at != remote_fragments_.end();) {
      const rma::TeamRank owner = at->owner;
      fragments_.clear();
      for (; at != remote_fragments_.end() && at->owner == owner; ++at) {
        const bool is_put_again = transfer_.kind == Transfer::Kind::put && !fragments_.empty() &&
                                  fragments_.back().remote_offset == at->fragment.remote_offset;
        if (is_put_again) {
          fragments_.back() = at->fragment;
        } else {
          fragments_.push_back(at->fragment);
        }
      }
      all.collect(send(owner));
    }
    return all;
  }

  Handle send(rma::TeamRank owner) {
    const rma::RemoteAddress slice = address(owner, 0);
    switch (transfer_.kind) {
      case Transfer::Kind::get:
        return rma::get_async(job_, slice, fragments_);
      case Transfer::Kind::put:
        return rma::put_async(job_, slice, fragments_);
      case Transfer::Kind::accumulate:
        break;
    }
    return rma::accumulate_async(job_, slice, fragments_, *transfer_.scale);
  }

  const ArrayBase& array_;
  const Transfer& transfer_;
  std::byte* values_;
  std::int64_t bytes_;
  rma::Job& job_;
  detail::BlockCache blocks_;
  LocalNodeSums local_node_sums_;
  std::vector<RemoteElement> remote_fragments_;
  std::vector<Fragment> fragments_;
  Handle travelling_;
};

// Logs the elements for the race check, if it is on.
void note(const ArrayBase& array, const IndexList& indices, Transfer::Kind kind) {
  detail::RaceLog* const log = array.state()->races.get();
  if (log == nullptr) {
    return;
  }
  std::vector<Index> elements;
  for (std::int64_t i = 0; i < indices.count(); ++i) {
    elements.emplace_back(std::span(indices[i], static_cast<std::size_t>(array.ndims())));
  }
  log->note(kind == Transfer::Kind::put   ? detail::AccessKind::put
            : kind == Transfer::Kind::get ? detail::AccessKind::get
                                          : detail::AccessKind::accumulate,
            std::move(elements));
}

}  // namespace

Status transfer_elements(const ArrayBase& array, const IndexList& indices, void* values,
                         std::int64_t count_values, const Transfer& transfer) {
  const auto attempt = [&](Status status) {
    return array.name_rank(std::move(status).context(fmt::format(
        "{} of {} elements of {}", verb_of(transfer.kind), indices.count(), array.describe())));
  };
  Status status = array.check_transfer(transfer);
  if (status.ok()) {
    status = array.check_operation(transfer);
  }
  if (status.ok() && count_values < indices.count()) {
    status = Status::error(Code::invalid_argument,
                           fmt::format("{} values for {} elements", count_values, indices.count()));
  }
  if (status.ok() && values == nullptr && indices.count() > 0) {
    status = Status::error(Code::invalid_argument, "the local buffer is null");
  }
  if (status.ok()) {
    status = check_indices(array, indices);
  }
  if (status.ok()) {
    status = rma::detail::catch_bad_alloc([&] {
      note(array, indices, transfer.kind);
      return ElementMover(array.server(), transfer, static_cast<std::byte*>(values)).run(indices);
    });
  }
  return status.ok() ? Status() : attempt(std::move(status));
}

}  // namespace tessera::arrays
