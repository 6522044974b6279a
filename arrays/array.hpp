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
// A box has global indices and may cover blocks of any number of owners. Local memory is either a
// span, which has the box's elements contiguously in row-major order, or a LocalView whose extents
// are those of the box. An empty box is legal; nothing is moved then.
//
// Any trivially copyable T can be put and got. accumulate and arithmetic need an rma::Element.
//
// Besides boxes there are sections (every step-th element), boxes that extend past the ends of
// periodic dimensions, and single fields of elements that are structures:
//
//     a.get(Section(a.box(), {2, 2}), coarse);
//     a.get(Box({-1, 0}, {3, 4}), PeriodicDims().set(), block);
//     particles.put(box, &Particle::mass, masses);
//
// Completion is that of rma/transfer.hpp. A blocking put or accumulate returns when its source may
// be reused; get returns when the data has arrived. fence() and sync() complete writes at their
// owners. The *_async functions start a transfer and return a handle; local memory must stay
// untouched until its wait() returns.
//
// Errors of all transfers: out_of_range (the box is not inside the array; nothing was sent),
// invalid_argument (the local memory is too short, has other extents, or is null), closed,
// peer_lost. Each message names the array, the box, the extents and what to do.
//
// Cost: none of these functions takes time or memory that grows with the number of ranks. A box
// takes one transfer for each block that it touches.
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
#include "arrays/periodic.hpp"
#include "arrays/section.hpp"
#include "arrays/view.hpp"
#include "arrays/within_memory.hpp"
#include "rma/atomic.hpp"
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

/// Local. A vector of `count` zeros. Errors: no_memory.
template <class T>
rma::Result<std::vector<T>> zeros(std::int64_t count) {
  return catch_bad_alloc([&]() -> rma::Result<std::vector<T>> {
    return std::vector<T>(static_cast<std::size_t>(count));
  });
}

/// An arithmetic type of C++ that arrays can't compute with.
template <class T>
concept OtherNumber = std::is_arithmetic_v<T> && !rma::Element<T>;

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

  /// One-sided. Writes the elements of `box`. Complete: at return `from` may be reused; the
  /// elements are at their owners after a fence() or sync(). Errors: see above.
  rma::Status put(const Box& box, std::span<const T> from) const {
    return put_dense(box, from.data(), std::ssize(from));
  }
  rma::Status put(const Box& box, const LocalView<const T>& from) const {
    TESSERA_RETURN_IF_ERROR(check_view("put", box, from.extents(), from.strides()));
    return put_box(box, buffer(from));
  }

  /// One-sided. Reads the elements of `box`. Complete: the data is in `to` at return. Errors: see
  /// above; also invalid_argument if the view's strides put two elements at one address.
  rma::Status get(const Box& box, std::span<T> to) const {
    return get_dense(box, to.data(), std::ssize(to));
  }
  rma::Status get(const Box& box, const LocalView<T>& to) const {
    TESSERA_RETURN_IF_ERROR(check_view("get", box, to.extents(), to.strides()));
    return get_box(box, buffer(LocalView<const T>(to)));
  }

  /// One-sided. Returns the elements of `box`, or of a section, contiguously in row-major order.
  /// Errors: as above; also no_memory.
  [[nodiscard]] rma::Result<std::vector<T>> get(const Box& box) const requires IsNotBool<T> {
    return fetched(box);
  }
  [[nodiscard]] rma::Result<std::vector<T>> get(
      const Section& section) const requires IsNotBool<T> {
    return fetched(section);
  }
  /// Local. Returns a vector of zeros with as many elements as `box` has. The box may lie outside
  /// the array. Errors: invalid_argument (the number of elements does not fit 63 bits), no_memory.
  [[nodiscard]] rma::Result<std::vector<T>> buffer(const Box& box) const requires IsNotBool<T> {
    std::int64_t count = 0;
    if (!box.checked_volume(count)) {
      return check_periodic_room("buffer", box, 0);
    }
    return detail::zeros<T>(count);
  }

  /// One-sided. element += alpha · source for each element of `box`; atomic for each element with
  /// respect to other accumulates. Complete: as put().
  rma::Status accumulate(const Box& box, std::span<const T> from,
                         T alpha = T{1}) const requires rma::Element<T> {
    return accumulate_dense(box, from.data(), std::ssize(from), rma::Scale::of(alpha));
  }
  rma::Status accumulate(const Box& box, const LocalView<const T>& from,
                         T alpha = T{1}) const requires rma::Element<T> {
    TESSERA_RETURN_IF_ERROR(check_view("accumulate", box, from.extents(), from.strides()));
    return accumulate_box(box, buffer(from), rma::Scale::of(alpha));
  }

  /// Compile-time error for a T that arrays can't compute with: one sentence lists the types that
  /// can.
  template <class... Arguments>
  rma::Status accumulate(const Arguments&...) const requires detail::OtherNumber<T> {
    using Number [[maybe_unused]] = typename detail::Computable<T>::type;
    return {};
  }
  template <class... Arguments>
  rma::Handle accumulate_async(const Arguments&...) const requires detail::OtherNumber<T> {
    using Number [[maybe_unused]] = typename detail::Computable<T>::type;
    return {};
  }

  /// Start a put, get or accumulate of a box. Complete: locally after wait() of the handle. Errors:
  /// reported by wait().
  rma::Handle put_async(const Box& box, std::span<const T> from) const {
    return checked(check_room("put", box, std::ssize(from)),
                   [&] { return put_box_async(box, dense(box, from.data())); });
  }
  rma::Handle put_async(const Box& box, const LocalView<const T>& from) const {
    return checked(check_view("put", box, from.extents(), from.strides()),
                   [&] { return put_box_async(box, buffer(from)); });
  }
  rma::Handle get_async(const Box& box, std::span<T> to) const {
    return checked(check_room("get", box, std::ssize(to)),
                   [&] { return get_box_async(box, dense(box, to.data())); });
  }
  rma::Handle get_async(const Box& box, const LocalView<T>& to) const {
    return checked(check_view("get", box, to.extents(), to.strides()),
                   [&] { return get_box_async(box, buffer(LocalView<const T>(to))); });
  }
  rma::Handle accumulate_async(const Box& box, std::span<const T> from,
                               T alpha = T{1}) const requires rma::Element<T> {
    return checked(check_room("accumulate", box, std::ssize(from)), [&] {
      return accumulate_box_async(box, dense(box, from.data()), rma::Scale::of(alpha));
    });
  }
  rma::Handle accumulate_async(const Box& box, const LocalView<const T>& from,
                               T alpha = T{1}) const requires rma::Element<T> {
    return checked(check_view("accumulate", box, from.extents(), from.strides()),
                   [&] { return accumulate_box_async(box, buffer(from), rma::Scale::of(alpha)); });
  }

  /// One-sided. Transfers of a section, every step-th element of a box. Local memory has its
  /// elements as a box of section.extents(). Complete and errors: as for boxes.
  rma::Status put(const Section& section, const LocalView<const T>& from) const {
    return put_async(section, from).wait();
  }
  rma::Status get(const Section& section, const LocalView<T>& to) const {
    return get_async(section, to).wait();
  }
  rma::Status accumulate(const Section& section, const LocalView<const T>& from,
                         T alpha = T{1}) const requires rma::Element<T> {
    return accumulate_async(section, from, alpha).wait();
  }
  rma::Status put(const Section& section, std::span<const T> from) const {
    return put_async(section, from).wait();
  }
  rma::Status get(const Section& section, std::span<T> to) const {
    return get_async(section, to).wait();
  }
  rma::Status accumulate(const Section& section, std::span<const T> from,
                         T alpha = T{1}) const requires rma::Element<T> {
    return accumulate_async(section, from, alpha).wait();
  }
  rma::Handle put_async(const Section& section, const LocalView<const T>& from) const {
    return checked(check_view("put", section, from.extents(), from.strides()),
                   [&] { return transfer_async(section, buffer(from), Transfer::put()); });
  }
  rma::Handle get_async(const Section& section, const LocalView<T>& to) const {
    return checked(check_view("get", section, to.extents(), to.strides()), [&] {
      return transfer_async(section, buffer(LocalView<const T>(to)), Transfer::get());
    });
  }
  rma::Handle accumulate_async(const Section& section, const LocalView<const T>& from,
                               T alpha = T{1}) const requires rma::Element<T> {
    return checked(check_view("accumulate", section, from.extents(), from.strides()), [&] {
      return transfer_async(section, buffer(from), Transfer::accumulate(rma::Scale::of(alpha)));
    });
  }

  rma::Handle put_async(const Section& section, std::span<const T> from) const {
    return checked(check_room("put", section, std::ssize(from)), [&] {
      return put_async(section, LocalView<const T>(from.data(), section.extents()));
    });
  }
  rma::Handle get_async(const Section& section, std::span<T> to) const {
    return checked(check_room("get", section, std::ssize(to)),
                   [&] { return get_async(section, LocalView<T>(to.data(), section.extents())); });
  }
  rma::Handle accumulate_async(const Section& section, std::span<const T> from,
                               T alpha = T{1}) const requires rma::Element<T> {
    return checked(check_room("accumulate", section, std::ssize(from)), [&] {
      return accumulate_async(section, LocalView<const T>(from.data(), section.extents()), alpha);
    });
  }

  /// One-sided. Transfers of a box that may extend past the ends of the dimensions in `periodic`,
  /// by any distance; the array repeats there. If a put writes an element twice, the element has
  /// either value afterwards.
  rma::Status put(const Box& box, PeriodicDims periodic, const LocalView<const T>& from) const {
    return put_async(box, periodic, from).wait();
  }
  rma::Status get(const Box& box, PeriodicDims periodic, const LocalView<T>& to) const {
    return get_async(box, periodic, to).wait();
  }
  rma::Status accumulate(const Box& box, PeriodicDims periodic, const LocalView<const T>& from,
                         T alpha = T{1}) const requires rma::Element<T> {
    return accumulate_async(box, periodic, from, alpha).wait();
  }
  rma::Status put(const Box& box, PeriodicDims periodic, std::span<const T> from) const {
    return put_async(box, periodic, from).wait();
  }
  rma::Status get(const Box& box, PeriodicDims periodic, std::span<T> to) const {
    return get_async(box, periodic, to).wait();
  }
  rma::Status accumulate(const Box& box, PeriodicDims periodic, std::span<const T> from,
                         T alpha = T{1}) const requires rma::Element<T> {
    return accumulate_async(box, periodic, from, alpha).wait();
  }
  rma::Handle put_async(const Box& box, PeriodicDims periodic,
                        const LocalView<const T>& from) const {
    return checked(check_shape("put", box, from.extents(), from.strides()),
                   [&] { return transfer_async(box, periodic, buffer(from), Transfer::put()); });
  }
  rma::Handle get_async(const Box& box, PeriodicDims periodic, const LocalView<T>& to) const {
    return checked(check_shape("get", box, to.extents(), to.strides()), [&] {
      return transfer_async(box, periodic, buffer(LocalView<const T>(to)), Transfer::get());
    });
  }
  rma::Handle accumulate_async(const Box& box, PeriodicDims periodic,
                               const LocalView<const T>& from,
                               T alpha = T{1}) const requires rma::Element<T> {
    return checked(check_shape("accumulate", box, from.extents(), from.strides()), [&] {
      return transfer_async(box, periodic, buffer(from),
                            Transfer::accumulate(rma::Scale::of(alpha)));
    });
  }
  rma::Handle put_async(const Box& box, PeriodicDims periodic, std::span<const T> from) const {
    return checked(check_periodic_room("put", box, std::ssize(from)), [&] {
      return put_async(box, periodic, LocalView<const T>(from.data(), box.extents()));
    });
  }
  rma::Handle get_async(const Box& box, PeriodicDims periodic, std::span<T> to) const {
    return checked(check_periodic_room("get", box, std::ssize(to)), [&] {
      return get_async(box, periodic, LocalView<T>(to.data(), box.extents()));
    });
  }
  rma::Handle accumulate_async(const Box& box, PeriodicDims periodic, std::span<const T> from,
                               T alpha = T{1}) const requires rma::Element<T> {
    return checked(check_periodic_room("accumulate", box, std::ssize(from)), [&] {
      return accumulate_async(box, periodic, LocalView<const T>(from.data(), box.extents()), alpha);
    });
  }

  /// One-sided. Transfers of one member of each element of `box`: array.get(box, &Particle::mass,
  /// masses). Local memory has the members contiguously, or with strides that count members.
  template <std::same_as<T> Structure, class Member>
  rma::Status put(const Box& box, Member Structure::*member,
                  const LocalView<const std::type_identity_t<Member>>& from) const {
    return put_async(box, member, from).wait();
  }
  template <std::same_as<T> Structure, class Member>
  rma::Status get(const Box& box, Member Structure::*member,
                  const LocalView<std::type_identity_t<Member>>& to) const {
    return get_async(box, member, to).wait();
  }
  template <std::same_as<T> Structure, class Member>
  rma::Status accumulate(
      const Box& box, Member Structure::*member,
      const LocalView<const std::type_identity_t<Member>>& from,
      std::type_identity_t<Member> alpha = 1) const requires rma::Element<Member> {
    return accumulate_async(box, member, from, alpha).wait();
  }
  template <std::same_as<T> Structure, class Member>
  rma::Status put(const Box& box, Member Structure::*member,
                  std::span<const std::type_identity_t<Member>> from) const {
    return put_async(box, member, from).wait();
  }
  template <std::same_as<T> Structure, class Member>
  rma::Status get(const Box& box, Member Structure::*member,
                  std::span<std::type_identity_t<Member>> to) const {
    return get_async(box, member, to).wait();
  }
  template <std::same_as<T> Structure, class Member>
  rma::Status accumulate(
      const Box& box, Member Structure::*member, std::span<const std::type_identity_t<Member>> from,
      std::type_identity_t<Member> alpha = 1) const requires rma::Element<Member> {
    return accumulate_async(box, member, from, alpha).wait();
  }
  template <std::same_as<T> Structure, class Member>
  rma::Handle put_async(const Box& box, Member Structure::*member,
                        const LocalView<const std::type_identity_t<Member>>& from) const {
    return checked(check_view("put", box, from.extents(), from.strides()), [&] {
      return transfer_async(box, field(member), buffer(from), Transfer::put());
    });
  }
  template <std::same_as<T> Structure, class Member>
  rma::Handle get_async(const Box& box, Member Structure::*member,
                        const LocalView<std::type_identity_t<Member>>& to) const {
    return checked(check_view("get", box, to.extents(), to.strides()), [&] {
      return transfer_async(box, field(member), buffer(LocalView<const Member>(to)),
                            Transfer::get());
    });
  }
  template <std::same_as<T> Structure, class Member>
  rma::Handle accumulate_async(
      const Box& box, Member Structure::*member,
      const LocalView<const std::type_identity_t<Member>>& from,
      std::type_identity_t<Member> alpha = 1) const requires rma::Element<Member> {
    return checked(check_view("accumulate", box, from.extents(), from.strides()), [&] {
      return transfer_async(box, field(member), buffer(from),
                            Transfer::accumulate(rma::Scale::of(alpha)));
    });
  }
  template <std::same_as<T> Structure, class Member>
  rma::Handle put_async(const Box& box, Member Structure::*member,
                        std::span<const std::type_identity_t<Member>> from) const {
    return checked(check_room("put", box, std::ssize(from)), [&] {
      return put_async(box, member, LocalView<const Member>(from.data(), box.extents()));
    });
  }
  template <std::same_as<T> Structure, class Member>
  rma::Handle get_async(const Box& box, Member Structure::*member,
                        std::span<std::type_identity_t<Member>> to) const {
    return checked(check_room("get", box, std::ssize(to)), [&] {
      return get_async(box, member, LocalView<Member>(to.data(), box.extents()));
    });
  }
  template <std::same_as<T> Structure, class Member>
  rma::Handle accumulate_async(
      const Box& box, Member Structure::*member, std::span<const std::type_identity_t<Member>> from,
      std::type_identity_t<Member> alpha = 1) const requires rma::Element<Member> {
    return checked(check_room("accumulate", box, std::ssize(from)), [&] {
      return accumulate_async(box, member, LocalView<const Member>(from.data(), box.extents()),
                              alpha);
    });
  }

  /// One-sided. Reads one element. Complete: at return. Cost: a round trip if the owner is on
  /// another node.
  rma::Result<T> get_element(const Index& index) const {
    TESSERA_RETURN_IF_ERROR(check_element("get", index));
    T value;
    const Box box = Box::at(index);
    TESSERA_RETURN_IF_ERROR(get_box(box, dense(box, &value)));
    return value;
  }

  /// One-sided. Writes one element. Complete: as put().
  rma::Status put_element(const Index& index, T value) const {
    TESSERA_RETURN_IF_ERROR(check_element("put", index));
    const Box box = Box::at(index);
    return put_box(box, dense(box, &value));
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

  template <class Place>
  rma::Result<std::vector<T>> fetched(const Place& place) const {
    if (!check_inside(place, extents()).ok()) {
      return get(place, std::span<T>());  // which returns the error
    }
    TESSERA_ASSIGN_OR_RETURN(std::vector<T> values, detail::zeros<T>(place.volume()));
    TESSERA_RETURN_IF_ERROR(get(place, std::span<T>(values)));
    return values;
  }

  using Word = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  static Word to_word(T value) noexcept { return static_cast<Word>(value); }
  static rma::Result<T> from_word(rma::Result<Word> word) {
    if (!word.ok()) {
      return std::move(word).status();
    }
    return static_cast<T>(*word);
  }

  template <class Structure, class Member>
  static Field field(Member Structure::*member) noexcept {
    // Never read: only the address of the member is needed.
    alignas(T) const std::byte element[sizeof(T)] = {};  // NOLINT(modernize-avoid-c-arrays)
    const auto* const at = &(reinterpret_cast<const T*>(element)->*member);
    return {static_cast<std::size_t>(reinterpret_cast<const std::byte*>(at) - element),
            sizeof(Member)};
  }

  // Sources are only read; one type is used for both directions.
  template <class Value>
  static LocalBuffer buffer(const LocalView<const Value>& view) {
    return {const_cast<Value*>(view.data_handle()), view.strides()};
  }
  static LocalBuffer dense(const Box& box, const T* data) {
    return {const_cast<T*>(data), dense_strides(box.extents())};
  }
  template <class Start>
  rma::Handle checked(rma::Status status, Start&& start) const {
    return status.ok() ? start() : failed(std::move(status));
  }
};

}  // namespace tessera::arrays
