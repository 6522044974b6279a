// SPDX-License-Identifier: BSD-3-Clause
//
// Array<T>: an N-dimensional array whose elements are distributed over the ranks of a team.
//
//     auto a = Array<double>::create(job, {1000, 1000}, {.name = "A"}).value();
//     a.put(Box({0, 0}, {64, 256}), values);         // any rank, any box, any owners
//     a.accumulate(Box({0, 0}, {64, 256}), values, 2.0);
//     a.sync();
//     a.get(Box({10, 10}, {20, 20}), LocalView<double>(block, {10, 10}, Strides{64, 1}));
//
// A transfer moves a selection: a box, a section (every step-th element), a box that may extend
// past the ends of periodic dimensions, or one field of elements that are structures
// (selection.hpp):
//
//     a.get(Section(a.box(), {2, 2}), coarse);
//     a.get(periodic(Box({-1, 0}, {3, 4})), block);
//     particles.put(field(box, &Particle::mass), masses);
//
// Selections have global indices and may cover blocks of any number of owners. Local memory is
// either contiguous (a span, a vector, a C array) and has the elements in row-major order, or a
// LocalView whose extents are those of the selection. An empty selection is legal; nothing is moved
// then.
//
// Any trivially copyable T can be put and got. accumulate and arithmetic need an rma::Element.
//
// Completion is that of rma/transfer.hpp. A blocking put or accumulate returns when its source may
// be reused; get returns when the data has arrived. fence() and sync() complete writes at their
// owners. The *_async functions start a transfer and return a handle; local memory must stay
// untouched until its wait() returns.
//
// Errors of all transfers: out_of_range (the selection is not inside the array; nothing was sent),
// invalid_argument (the local memory is too short, has other extents, or is null; a get into a view
// whose strides put two elements at one address), closed, peer_lost. Each message names the array,
// the selection, the extents and what to do.
//
// Cost: none of these functions takes time or memory that grows with the number of ranks. A
// selection takes one transfer for each block that it has elements of.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrays/access.hpp"
#include "arrays/array_base.hpp"
#include "arrays/selection.hpp"
#include "arrays/view.hpp"
#include "rma/atomic.hpp"
#include "rma/base/catch_bad_alloc.hpp"
#include "rma/element.hpp"

namespace tessera::arrays {

namespace detail {

/// T, if numbers of that type can be computed with; else a compile-time error that lists the types
/// that can.
template <class T>
struct Computable {
  static_assert(rma::Element<T>,
                "accumulate and arithmetic are for std::int8_t to std::int64_t, std::uint8_t to "
                "std::uint64_t, float, double, std::complex<float> and std::complex<double>; of "
                "long and long long only one is std::int64_t, and char is none of them");
  using type = T;
};

}  // namespace detail

/// False for bool: a std::vector<bool> has no memory to which elements could be moved.
template <class T>
concept IsNotBool = !std::same_as<T, bool>;

/// Integers of 32 or 64 bits: types that the owner's side can change in one atomic step.
template <class T>
concept AtomicElement = rma::IntegerElement<T> && sizeof(T) >= 4;

template <class T>
requires std::is_trivially_copyable_v<T>
class Array : public ArrayBase {
 public:
  using value_type = T;

  /// An empty array: no elements, no job and no team, until another array is assigned to it.
  /// Operations on it fail with `closed`.
  Array() noexcept = default;

  /// Collective over the team of `options`. Makes an array of zeros, cut evenly into one block for
  /// each rank; arrays/process_grid.hpp says how. All members succeed, or all fail. Errors:
  /// invalid_argument (bad extents or options, or members that give different ones), no_memory.
  static rma::Result<Array> create(const rma::Job& job, const Extents& extents,
                                   const ArrayOptions& options = {}) {
    return typed(ArrayBase::create(job, extents, ElementKind::of<T>(), options));
  }
  /// Collective. As above, with any distribution over as many ranks as the team has. The ghosts,
  /// order and holders of the distribution are used; those of `options` are ignored.
  static rma::Result<Array> create(const rma::Job& job, const Distribution& distribution,
                                   const ArrayOptions& options = {}) {
    return typed(ArrayBase::create(job, distribution, ElementKind::of<T>(), options));
  }
  /// Collective. As create(), in memory that each member already has: `memory` becomes its slice,
  /// keeps its contents, and must outlive the array. Errors: also invalid_argument (`memory` is too
  /// short), unsupported (no transport can reach such memory).
  static rma::Result<Array> attach(const rma::Job& job, const Distribution& distribution,
                                   std::span<T> memory, const ArrayOptions& options = {}) {
    return typed(ArrayBase::attach(job, distribution, ElementKind::of<T>(), memory.data(),
                                   memory.size_bytes(), options));
  }
  /// Collective over the team of `base`. Makes an array in the memory of another one, which may
  /// have any element type: a write to one changes the other. `base` must outlive the array, and
  /// each rank's slice must have room for it. Freeing the overlay leaves the memory as it is.
  /// Errors: also invalid_argument (`base` has too little memory on some rank).
  static rma::Result<Array> overlay(const ArrayBase& base, const Distribution& distribution,
                                    // NOLINTNEXTLINE(performance-unnecessary-value-param): is moved
                                    std::string name = "unnamed") {
    return typed(ArrayBase::overlay(base, distribution, ElementKind::of<T>(), std::move(name)));
  }
  /// Collective. Makes an array of zeros with the same distribution, team and region options.
  /// Errors: as create(); closed.
  [[nodiscard]] rma::Result<Array> duplicate(std::string name = "unnamed") const {
    return typed(ArrayBase::duplicate(std::move(name)));
  }
  /// Local. Turns an untyped array into an array of its element type. Errors: invalid_argument (its
  /// elements have another type).
  static rma::Result<Array> of(ArrayBase untyped) {
    const ElementKind kind = ElementKind::of<T>();
    if (untyped.element().name != kind.name) {
      return untyped.name_rank(
          rma::Status::error(rma::Code::invalid_argument,
                             untyped.describe() + " has no elements of type " + kind.name));
    }
    return Array(std::move(untyped));
  }

  /// The type of the elements of a selection: T, or that of a field.
  template <SelectionOf<T> S>
  using ElementIn = typename SelectedElement<S, T>::type;

  /// One-sided. Writes the elements of a selection. Complete: at return `from` may be reused; the
  /// elements are at their owners after a fence() or sync(). Errors: see above.
  template <SelectionOf<T> S = Box>
  rma::Status put(const S& where, const LocalMemory<const ElementIn<S>>& from) const {
    return transfer_as<Transfer::Kind::put>(untyped(where), from);
  }
  /// One-sided. Reads the elements of a selection. Complete: the data is in `to` at return. Errors:
  /// see above.
  template <SelectionOf<T> S = Box>
  rma::Status get(const S& where, const LocalMemory<ElementIn<S>>& to) const {
    return transfer_as<Transfer::Kind::get>(untyped(where), to);
  }
  /// One-sided. Returns the elements of a selection, contiguously in row-major order. Errors: as
  /// above; also no_memory.
  template <SelectionOf<T> S = Box>
  [[nodiscard]] rma::Result<std::vector<ElementIn<S>>> get(
      const S& where) const requires IsNotBool<ElementIn<S>> {
    TESSERA_ASSIGN_OR_RETURN(const std::int64_t elements, count(untyped(where)));
    TESSERA_ASSIGN_OR_RETURN(auto values, zeros<ElementIn<S>>(elements));
    TESSERA_RETURN_IF_ERROR(get(where, values));
    return values;
  }
  /// One-sided. element += alpha · source for each element of a selection; atomic for each element
  /// with respect to other accumulates. Complete: as put(). For types that arrays can't compute
  /// with, a compile-time error lists those that they can.
  template <SelectionOf<T> S = Box>
  rma::Status accumulate(const S& where, const LocalMemory<const ElementIn<S>>& from,
                         ElementIn<S> alpha = 1) const {
    using Number = typename detail::Computable<ElementIn<S>>::type;
    return transfer_as<Transfer::Kind::accumulate>(untyped(where), from,
                                                   rma::Scale::of<Number>(alpha));
  }

  /// One-sided. element = element op source for each element of a selection, such as the greater of
  /// the two; atomic for each element with respect to accumulates of any operation. Complete: as
  /// put(). Errors: also unsupported (complex numbers have no order, bitwise operations are for
  /// integers; each node keeps an array of sums).
  template <SelectionOf<T> S = Box>
  rma::Status accumulate(const S& where, const LocalMemory<const ElementIn<S>>& from,
                         rma::AccumulateOp op) const {
    using Number = typename detail::Computable<ElementIn<S>>::type;
    return transfer_as<Transfer::Kind::accumulate>(untyped(where), from,
                                                   rma::Scale::by(op, rma::element_type<Number>()));
  }
  template <SelectionOf<T> S = Box>
  rma::Handle accumulate_async(const S& where, const LocalMemory<const ElementIn<S>>& from,
                               rma::AccumulateOp op) const {
    using Number = typename detail::Computable<ElementIn<S>>::type;
    return transfer_async(untyped(where), from,
                          Transfer::accumulate(rma::Scale::by(op, rma::element_type<Number>())));
  }

  /// Start a put, get or accumulate. Complete: locally after wait() of the handle. Errors: reported
  /// by wait().
  template <SelectionOf<T> S = Box>
  rma::Handle put_async(const S& where, const LocalMemory<const ElementIn<S>>& from) const {
    return transfer_async(untyped(where), from, Transfer::put());
  }
  template <SelectionOf<T> S = Box>
  rma::Handle get_async(const S& where, const LocalMemory<ElementIn<S>>& to) const {
    return transfer_async(untyped(where), to, Transfer::get());
  }
  template <SelectionOf<T> S = Box>
  rma::Handle accumulate_async(const S& where, const LocalMemory<const ElementIn<S>>& from,
                               ElementIn<S> alpha = 1) const {
    using Number = typename detail::Computable<ElementIn<S>>::type;
    return transfer_async(untyped(where), from,
                          Transfer::accumulate(rma::Scale::of<Number>(alpha)));
  }

  /// Local. Returns a vector of zeros with as many elements as `box` has. The box may lie outside
  /// the array. Errors: invalid_argument (the number of elements does not fit 63 bits), no_memory.
  [[nodiscard]] rma::Result<std::vector<T>> buffer(const Box& box) const requires IsNotBool<T> {
    TESSERA_ASSIGN_OR_RETURN(const std::int64_t elements, count_anywhere(box));
    return zeros<T>(elements);
  }

  /// One-sided. Reads one element. Complete: at return. Cost: a round trip if the owner is on
  /// another node.
  rma::Result<T> get_element(const Index& index) const {
    TESSERA_RETURN_IF_ERROR(check_element("get", index));
    T value;
    TESSERA_RETURN_IF_ERROR(get(Box::at(index), LocalMemory<T>(&value, 1)));
    return value;
  }

  /// One-sided. Writes one element. Complete: as put().
  rma::Status put_element(const Index& index, T value) const {
    TESSERA_RETURN_IF_ERROR(check_element("put", index));
    return put(Box::at(index), LocalMemory<const T>(&value, 1));
  }

  /// One-sided. Adds `increment`, with wrap-around, and returns the value from before: a counter,
  /// or a position in a list, for each element (GA's read_inc). Atomic with respect to fetch_add,
  /// swap and compare_swap. Complete: here and at the owner at return. Errors: out_of_range,
  /// closed, invalid_argument (the access mode forbids it), peer_lost. Cost: a round trip if the
  /// owner is on another node.
  rma::Result<T> fetch_add(const Index& index, T increment) const requires AtomicElement<T> {
    TESSERA_ASSIGN_OR_RETURN(const rma::RemoteAddress at, atomic_address("fetch_add", index));
    return from_word(rma::fetch_add(job(), at, to_word(increment)));
  }
  /// One-sided. Stores `desired` and returns the value from before. Atomicity, completion and
  /// errors: as fetch_add().
  rma::Result<T> swap(const Index& index, T desired) const requires AtomicElement<T> {
    TESSERA_ASSIGN_OR_RETURN(const rma::RemoteAddress at, atomic_address("swap", index));
    return from_word(rma::swap(job(), at, to_word(desired)));
  }
  /// One-sided. Stores `desired` if the element equals `expected`, and returns the value from
  /// before. Atomicity, completion and errors: as fetch_add().
  rma::Result<T> compare_swap(const Index& index, T expected,
                              T desired) const requires AtomicElement<T> {
    TESSERA_ASSIGN_OR_RETURN(const rma::RemoteAddress at, atomic_address("compare_swap", index));
    return from_word(rma::compare_swap(job(), at, to_word(expected), to_word(desired)));
  }

  /// Local. The scoped right to load and store this rank's own elements. Errors: closed,
  /// invalid_argument (the access mode forbids it), unsupported (several blocks on a rank; use
  /// local_blocks()).
  rma::Result<LocalAccess<T>> local() { return LocalAccess<T>::begin(*this); }
  /// Local. As local(), for any distribution, block by block. Errors: closed, invalid_argument (the
  /// access mode forbids it).
  rma::Result<LocalBlocks<T>> local_blocks() { return LocalBlocks<T>::begin(*this); }
  /// Local. As local() for a const array, whose elements can only be loaded.
  [[nodiscard]] rma::Result<LocalAccess<const T>> local() const {
    return LocalAccess<const T>::begin(*this);
  }
  [[nodiscard]] rma::Result<LocalBlocks<const T>> local_blocks() const {
    return LocalBlocks<const T>::begin(*this);
  }

 private:
  explicit Array(ArrayBase&& untyped) noexcept : ArrayBase(std::move(untyped)) {}

  static rma::Result<Array> typed(rma::Result<ArrayBase> made) {
    if (!made.ok()) {
      return std::move(made).status();
    }
    return Array(std::move(made).take());
  }

  using Word = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  static Word to_word(T value) noexcept { return static_cast<Word>(value); }
  static rma::Result<T> from_word(rma::Result<Word> word) {
    if (!word.ok()) {
      return std::move(word).status();
    }
    return static_cast<T>(*word);
  }

  template <class S>
  static const S& untyped(const S& where) noexcept {
    return where;
  }
  template <class Structure, class Member>
  static const FieldBox& untyped(const MemberBox<Structure, Member>& where) noexcept {
    return where;
  }

  template <class Value>
  static rma::Result<std::vector<Value>> zeros(std::int64_t count) {
    return rma::detail::catch_bad_alloc([&]() -> rma::Result<std::vector<Value>> {
      return std::vector<Value>(static_cast<std::size_t>(count));
    });
  }
};

}  // namespace tessera::arrays
