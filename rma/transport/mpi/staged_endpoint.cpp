// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/staged_endpoint.hpp"

#include <algorithm>

#include "rma/kernels/walk.hpp"

namespace tessera::rma::mpi {
namespace {

// The local side of a shape, packed, in memory outside of all windows.
class PackedShape {
 public:
  PackedShape(const LocalWindowMap& local_windows, const CopyShape& shape)
      : local_windows_(local_windows), shape_(shape), packed_(shape), bytes_(shape.total_bytes()) {
    auto stride = static_cast<std::int64_t>(shape.run_bytes);
    for (std::size_t i = 0; i < static_cast<std::size_t>(shape.levels); ++i) {
      packed_.level[i].local_stride = stride;
      stride *= shape.level[i].count;
    }
  }

  [[nodiscard]] const CopyShape& shape() const noexcept { return packed_; }
  [[nodiscard]] std::byte* data() noexcept { return bytes_.data(); }

  Status load(const void* local) {
    const auto* const from = static_cast<const std::byte*>(local);
    return for_each_run([&](std::byte* packed, std::int64_t offset) {
      return local_windows_.copy(packed, from + offset, shape_.run_bytes, from + offset);
    });
  }
  Status store(void* local) {
    auto* const to = static_cast<std::byte*>(local);
    return for_each_run([&](std::byte* packed, std::int64_t offset) {
      return local_windows_.copy(to + offset, packed, shape_.run_bytes, to + offset);
    });
  }

 private:
  template <class Copy>
  Status for_each_run(const Copy& copy) {
    Status status;
    std::byte* packed = bytes_.data();
    kernels::for_each_run(shape_, [&](std::int64_t local, std::int64_t) {
      status = status.ok() ? copy(packed, local) : std::move(status);
      packed += shape_.run_bytes;
    });
    return status;
  }

  const LocalWindowMap& local_windows_;
  const CopyShape& shape_;
  CopyShape packed_;
  std::vector<std::byte> bytes_;
};

// The same for a list.
class PackedList {
 public:
  PackedList(const LocalWindowMap& local_windows, Fragments list)
      : local_windows_(local_windows),
        list_(list),
        packed_(list.begin(), list.end()),
        bytes_(total_bytes(list)) {
    std::byte* at = bytes_.data();
    for (Fragment& each : packed_) {
      each.local = at;
      at += each.bytes;
    }
  }

  [[nodiscard]] Fragments list() const noexcept { return packed_; }

  Status load() const {
    for (std::size_t i = 0; i < list_.size(); ++i) {
      auto* const local = static_cast<const std::byte*>(list_[i].local);
      TESSERA_RETURN_IF_ERROR(local_windows_.copy(static_cast<std::byte*>(packed_[i].local), local,
                                                  list_[i].bytes, local));
    }
    return {};
  }
  Status store() const {
    for (std::size_t i = 0; i < list_.size(); ++i) {
      auto* const local = static_cast<std::byte*>(list_[i].local);
      TESSERA_RETURN_IF_ERROR(local_windows_.copy(local, static_cast<std::byte*>(packed_[i].local),
                                                  list_[i].bytes, local));
    }
    return {};
  }

 private:
  const LocalWindowMap& local_windows_;
  Fragments list_;
  std::vector<Fragment> packed_;
  std::vector<std::byte> bytes_;
};

// A get whose data is stored afterwards: it has its own completion, as the caller's must not end
// before the store.
template <class Get, class Store>
Status get_and_store(Completion& done, const Get& get, const Store& store) {
  Completion got;
  got.begin();
  TESSERA_RETURN_IF_ERROR(get(got));
  TESSERA_RETURN_IF_ERROR(got.take_error());
  TESSERA_RETURN_IF_ERROR(store());
  done.end({});
  return {};
}

}  // namespace

bool StagedEndpoint::is_staged(const void* local, const CopyShape& shape) const noexcept {
  const CopyShape::Extent extent = shape.local_extent();
  return local_windows_->overlaps(static_cast<const std::byte*>(local) + extent.lowest,
                                  static_cast<std::size_t>(extent.highest - extent.lowest));
}

bool StagedEndpoint::is_staged(Fragments fragments) const noexcept {
  return std::any_of(fragments.begin(), fragments.end(), [&](const Fragment& each) {
    return local_windows_->overlaps(static_cast<const std::byte*>(each.local), each.bytes);
  });
}

Status StagedEndpoint::put(const Target& to, const void* from, const CopyShape& shape,
                           Completion& done) {
  if (!is_staged(from, shape)) {
    return inner_->put(to, from, shape, done);
  }
  PackedShape packed(*local_windows_, shape);
  TESSERA_RETURN_IF_ERROR(packed.load(from));
  return inner_->put(to, packed.data(), packed.shape().normalised(), done);
}

Status StagedEndpoint::get(void* to, const Target& from, const CopyShape& shape, Completion& done) {
  if (!is_staged(to, shape)) {
    return inner_->get(to, from, shape, done);
  }
  PackedShape packed(*local_windows_, shape);
  return get_and_store(
      done,
      [&](Completion& got) {
        return inner_->get(packed.data(), from, packed.shape().normalised(), got);
      },
      [&] { return packed.store(to); });
}

Status StagedEndpoint::accumulate(const Target& to, const void* from, const CopyShape& shape,
                                  const Scale& scale, Completion& done) {
  if (!is_staged(from, shape)) {
    return inner_->accumulate(to, from, shape, scale, done);
  }
  PackedShape packed(*local_windows_, shape);
  TESSERA_RETURN_IF_ERROR(packed.load(from));
  return inner_->accumulate(to, packed.data(), packed.shape().normalised(), scale, done);
}

Status StagedEndpoint::put_fragments(const Target& to, Fragments fragments, Completion& done) {
  if (!is_staged(fragments)) {
    return inner_->put_fragments(to, fragments, done);
  }
  const PackedList packed(*local_windows_, fragments);
  TESSERA_RETURN_IF_ERROR(packed.load());
  return inner_->put_fragments(to, packed.list(), done);
}

Status StagedEndpoint::get_fragments(const Target& from, Fragments fragments, Completion& done) {
  if (!is_staged(fragments)) {
    return inner_->get_fragments(from, fragments, done);
  }
  const PackedList packed(*local_windows_, fragments);
  return get_and_store(
      done, [&](Completion& got) { return inner_->get_fragments(from, packed.list(), got); },
      [&] { return packed.store(); });
}

Status StagedEndpoint::accumulate_fragments(const Target& to, Fragments fragments,
                                            const Scale& scale, Completion& done) {
  if (!is_staged(fragments)) {
    return inner_->accumulate_fragments(to, fragments, scale, done);
  }
  const PackedList packed(*local_windows_, fragments);
  TESSERA_RETURN_IF_ERROR(packed.load());
  return inner_->accumulate_fragments(to, packed.list(), scale, done);
}

// A staged operation uses the general path.
Result<bool> StagedEndpoint::put_now(const Target& to, const void* from, std::size_t bytes) {
  if (local_windows_->overlaps(static_cast<const std::byte*>(from), bytes)) {
    return false;
  }
  return inner_->put_now(to, from, bytes);
}
Result<bool> StagedEndpoint::get_now(void* to, const Target& from, std::size_t bytes) {
  if (local_windows_->overlaps(static_cast<const std::byte*>(to), bytes)) {
    return false;
  }
  return inner_->get_now(to, from, bytes);
}
Result<bool> StagedEndpoint::accumulate_now(const Target& to, const void* from, std::size_t bytes,
                                            const Scale& scale) {
  if (local_windows_->overlaps(static_cast<const std::byte*>(from), bytes)) {
    return false;
  }
  return inner_->accumulate_now(to, from, bytes, scale);
}

}  // namespace tessera::rma::mpi
