// SPDX-License-Identifier: BSD-3-Clause
//
// LocalView: a multi-dimensional view of memory of this process. GlobalView: the same, indexed by
// the global indices of the array that the memory belongs to. LocalMemory: the local side of a
// transfer, a view or contiguous elements.
//
// A view is a pointer, extents and strides. It owns nothing and is cheap to copy. Strides may have
// any value, including negative ones and zero. The names are those of std::mdspan.
//
// The caller must keep indices inside the extents. A program that is compiled without NDEBUG, as
// debug builds are, checks them: their number, their range, and that the array was not freed. A
// violation prints an error with the array's name and aborts the process, as assert() does. Define
// TESSERA_CHECK_VIEWS as 1 or 0 to check in all builds or in none. A view of an array is checked as
// long as the array, or the LocalAccess that made the view, exists.
//
//     LocalView<double> a(pointer, {3, 4});          // row-major: a(i, j) is pointer[4 * i + j]
//     auto b = a.sub(Box({1, 1}, {3, 3}));           // b(0, 0) is a(1, 1)
//     GlobalView<double> g(a, {100, 200});           // g(101, 202) is a(1, 2)
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "arrays/box.hpp"
#include "arrays/index.hpp"

#ifndef TESSERA_CHECK_VIEWS
#ifdef NDEBUG
#define TESSERA_CHECK_VIEWS 0
#else
#define TESSERA_CHECK_VIEWS 1
#endif
#endif

namespace tessera::arrays {

namespace detail {

class RaceLog;

/// State that an array shares with its local accesses and its other handles.
struct ArrayState {
  std::string name;
  std::atomic<bool> is_freed{false};
  std::atomic<bool> is_grown{
      false};                      ///< the reason why it is freed: the array has other memory now
  std::shared_ptr<RaceLog> races;  ///< null unless TESSERA_CHECK=races is set
};

// All code that depends on it is always inlined: parts of a program may be compiled either way.
constexpr bool checks_views = TESSERA_CHECK_VIEWS != 0;

/// Prints what is wrong with an index, or a box, of a view of `covered`, and aborts the process.
/// `state` may be null.
[[noreturn]] void fail_view(const Index& index, const Box& covered,
                            const ArrayState* state) noexcept;
[[noreturn]] void fail_view(const Box& box, const Box& covered, const ArrayState* state) noexcept;

/// Checks that `used`, an index or a box, is inside `covered`.
template <class Used>
[[gnu::always_inline]] constexpr void check_view(const Used& used, const Box& covered,
                                                 const ArrayState* state) noexcept {
  if (used.ndims() != covered.ndims() || !covered.contains(used) ||
      (state != nullptr && state->is_freed.load(std::memory_order_relaxed))) [[unlikely]] {
    fail_view(used, covered, state);
  }
}

template <std::integral... Indices>
[[gnu::always_inline]] constexpr std::int64_t offset_of(const Strides& strides,
                                                        Indices... indices) noexcept {
  std::int64_t offset = 0;
  int dim = 0;
  ((offset += static_cast<std::int64_t>(indices) * strides[dim++]), ...);
  return offset;
}

}  // namespace detail

/// A view of memory by local indices from 0. T may be const.
template <class T>
class LocalView {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;

  constexpr LocalView() noexcept = default;
  /// A view of memory without gaps. Requires: `data` has room for volume(extents) elements.
  constexpr LocalView(T* data, const Extents& extents,
                      MemoryOrder order = MemoryOrder::row_major) noexcept
      : data_(data), extents_(extents), strides_(dense_strides(extents, order)) {}
  /// A view with strides; `data` is the element with all indices zero. Requires: as many strides as
  /// extents.
  constexpr LocalView(T* data, const Extents& extents, const Strides& strides) noexcept
      : data_(data), extents_(extents), strides_(strides) {}
  /// For this layer: a view of memory of an array.
  constexpr LocalView(T* data, const Extents& extents, const Strides& strides,
                      const detail::ArrayState* state) noexcept
      : data_(data), extents_(extents), strides_(strides), state_(state) {}
  /// Conversion of a view that may write into one that only reads.
  // NOLINTBEGIN(google-explicit-constructor): as T* becomes const T*
  template <class U>
  requires(std::is_same_v<const U, T> && !std::is_same_v<U, T>) constexpr LocalView(
      const LocalView<U>& other) noexcept  // NOLINTEND(google-explicit-constructor)
      : LocalView(other.data_handle(), other.extents(), other.strides(), other.state()) {}

  [[nodiscard]] constexpr T* data_handle() const noexcept { return data_; }
  [[nodiscard]] constexpr int ndims() const noexcept { return extents_.ndims(); }
  [[nodiscard]] constexpr const Extents& extents() const noexcept { return extents_; }
  [[nodiscard]] constexpr const Strides& strides() const noexcept { return strides_; }
  [[nodiscard]] constexpr std::int64_t extent(int dim) const noexcept { return extents_[dim]; }
  /// The distance in memory between neighbours along a dimension, in elements.
  [[nodiscard]] constexpr std::int64_t stride(int dim) const noexcept { return strides_[dim]; }
  [[nodiscard]] constexpr std::int64_t size() const noexcept { return volume(extents_); }
  [[nodiscard]] constexpr bool is_empty() const noexcept { return size() == 0; }

  /// True if the elements are contiguous in this order, so that data_handle() can be used as an
  /// ordinary array of size() elements.
  [[nodiscard]] constexpr bool is_dense(MemoryOrder order = MemoryOrder::row_major) const noexcept {
    const Strides dense = dense_strides(extents_, order);
    for (int dim = 0; dim < ndims(); ++dim) {
      if (extents_[dim] > 1 && strides_[dim] != dense[dim]) {
        return is_empty();
      }
    }
    return true;
  }
  /// True if the elements fill a contiguous run of memory, in any order of dimensions.
  [[nodiscard]] constexpr bool is_exhaustive() const noexcept {
    // Sorted by stride, each dimension must begin where the faster ones end.
    std::int64_t filled = 1;
    bool is_taken[max_dims] = {};  // NOLINT(modernize-avoid-c-arrays)
    for (int round = 0; round < ndims(); ++round) {
      for (int dim = 0; dim < ndims(); ++dim) {
        if (!is_taken[dim] && (extents_[dim] == 1 || strides_[dim] == filled)) {
          is_taken[dim] = true;
          filled *= extents_[dim];
        }
      }
    }
    return filled == size() || is_empty();
  }

  /// Requires: as many indices as dimensions, each from 0 to below the extent.
  template <std::integral... Indices>
  [[gnu::always_inline]] constexpr T& operator()(Indices... indices) const noexcept {
    static_assert(sizeof...(Indices) >= 1 && sizeof...(Indices) <= max_dims);
    if constexpr (detail::checks_views) {
      detail::check_view(Index{static_cast<std::int64_t>(indices)...}, covered(), state_);
    }
    return data_[detail::offset_of(strides_, indices...)];
  }
  [[gnu::always_inline]] constexpr T& operator[](const Index& index) const noexcept {
    if constexpr (detail::checks_views) {
      detail::check_view(index, covered(), state_);
    }
    std::int64_t offset = 0;
    for (int dim = 0; dim < strides_.ndims(); ++dim) {
      offset += index[dim] * strides_[dim];
    }
    return data_[offset];
  }

  /// The part inside `box`; the lower corner of the box becomes index zero. Requires: it lies
  /// inside the view.
  [[nodiscard, gnu::always_inline]] constexpr LocalView sub(const Box& box) const noexcept {
    if constexpr (detail::checks_views) {
      detail::check_view(box, covered(), state_);
    }
    std::int64_t offset = 0;
    for (int dim = 0; dim < ndims(); ++dim) {
      offset += box.lo(dim) * strides_[dim];
    }
    return LocalView(data_ + offset, box.extents(), strides_, state_);
  }

  /// For this layer: the state of the array that the memory belongs to; null for other memory.
  [[nodiscard]] constexpr const detail::ArrayState* state() const noexcept { return state_; }

 private:
  [[nodiscard]] constexpr Box covered() const noexcept { return Box::whole(extents_); }

  T* data_ = nullptr;
  Extents extents_;
  Strides strides_;
  const detail::ArrayState* state_ = nullptr;
};

/// A view of memory by the global indices of its array. T may be const.
template <class T>
class GlobalView {
 public:
  constexpr GlobalView() noexcept = default;
  /// `origin` is the global index of the first element of `view`.
  constexpr GlobalView(const LocalView<T>& view, const Index& origin) noexcept
      : view_(view),
        origin_(origin),
        origin_offset_(distance(Index::zeros(view.ndims()), origin, view.strides())) {}
  /// Conversion of a view that may write into one that only reads.
  // NOLINTBEGIN(google-explicit-constructor): as T* becomes const T*
  template <class U>
  requires(std::is_same_v<const U, T> && !std::is_same_v<U, T>) constexpr GlobalView(
      const GlobalView<U>& other) noexcept  // NOLINTEND(google-explicit-constructor)
      : GlobalView(LocalView<T>(other.local()), other.box().lo()) {}

  /// The global indices that the view covers.
  [[nodiscard]] constexpr Box box() const noexcept {
    return Box::whole(view_.extents()).shifted(origin_);
  }
  [[nodiscard]] constexpr const LocalView<T>& local() const noexcept { return view_; }
  [[nodiscard]] constexpr int ndims() const noexcept { return view_.ndims(); }

  /// Requires: the index lies in box().
  template <std::integral... Indices>
  [[gnu::always_inline]] constexpr T& operator()(Indices... indices) const noexcept {
    static_assert(sizeof...(Indices) >= 1 && sizeof...(Indices) <= max_dims);
    if constexpr (detail::checks_views) {
      detail::check_view(Index{static_cast<std::int64_t>(indices)...}, box(), view_.state());
    }
    return view_.data_handle()[detail::offset_of(view_.strides(), indices...) - origin_offset_];
  }
  [[gnu::always_inline]] constexpr T& operator[](const Index& index) const noexcept {
    if constexpr (detail::checks_views) {
      detail::check_view(index, box(), view_.state());
    }
    return view_.data_handle()[distance(origin_, index, view_.strides())];
  }

 private:
  LocalView<T> view_;
  Index origin_;
  std::int64_t origin_offset_ = 0;  // distance from global index zero to the first element
};

/// Local memory of a transfer, for code that isn't templated on the element type: the address of
/// the element at the lower corner, and strides in elements.
struct LocalBuffer {
  void* data = nullptr;
  Strides strides;
};

/// Local memory of a transfer, without the element type: contiguous elements in row-major order.
struct ContiguousMemory {
  void* data = nullptr;
  std::int64_t room = 0;  ///< for how many elements
};

/// Local memory of a transfer, without the element type: contiguous or not. It refers to the lists
/// that it is made from.
struct UntypedMemory {
  void* data = nullptr;
  std::int64_t room = std::numeric_limits<std::int64_t>::max();  ///< for how many elements
  const Extents* extents = nullptr;                              ///< null: those of the selection
  const Strides* strides = nullptr;  ///< null: contiguous elements in row-major order

  constexpr UntypedMemory() noexcept = default;
  // NOLINTBEGIN(google-explicit-constructor): any local memory converts to it
  constexpr UntypedMemory(const ContiguousMemory& memory) noexcept
      : data(memory.data), room(memory.room) {}
  constexpr UntypedMemory(const LocalBuffer& buffer) noexcept
      : data(buffer.data), strides(&buffer.strides) {}
  // NOLINTEND(google-explicit-constructor)
  constexpr UntypedMemory(void* first, const Extents& lengths, const Strides& steps) noexcept
      : data(first), extents(&lengths), strides(&steps) {}
};

/// The local side of a put, get or accumulate, as an argument: a view, or contiguous elements in
/// row-major order (a std::span, a std::vector, a C array). T is const if it is only read.
template <class T>
class LocalMemory : public UntypedMemory {
 public:
  constexpr LocalMemory() noexcept : UntypedMemory(ContiguousMemory()) {}
  constexpr LocalMemory(T* elements, std::size_t count) noexcept
      : UntypedMemory(ContiguousMemory{const_cast<std::remove_const_t<T>*>(elements),
                                       static_cast<std::int64_t>(count)}) {}
  // Any local memory converts to it.
  // NOLINTBEGIN(google-explicit-constructor,bugprone-forwarding-reference-overload)
  template <class Elements>
  requires std::convertible_to<Elements&&, std::span<T>>
  constexpr LocalMemory(Elements&& elements) noexcept
      : LocalMemory(std::span<T>(elements).data(), std::span<T>(elements).size()) {}
  template <class U>
  requires std::same_as<U, T> || std::same_as<const U, T>
  constexpr LocalMemory(const LocalView<U>& view) noexcept
      : UntypedMemory(const_cast<std::remove_const_t<T>*>(view.data_handle()), view.extents(),
                      view.strides()) {}
  // NOLINTEND(google-explicit-constructor,bugprone-forwarding-reference-overload)
};

}  // namespace tessera::arrays
