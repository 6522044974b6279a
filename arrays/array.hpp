// SPDX-License-Identifier: BSD-3-Clause
//
// Array<T>: an N-dimensional array whose elements are spread over the ranks of a team.
//
//     auto a = Array<double>::create(job, {1000, 1000}, {.name = "A"}).value();
//     a.put(Box({0, 0}, {64, 256}), values);         // any rank, any box, whoever owns it
//     a.accumulate(Box({0, 0}, {64, 256}), values, 2.0);
//     a.sync();
//     a.get(Box({10, 10}, {20, 20}), LocalView<double>(block, {10, 10}, Strides{64, 1}));
//
// A box is given by global indices and may span any number of owners. Local memory is contiguous in
// row-major order (a span), or any LocalView whose extents are the box's. An empty box is legal and
// does nothing.
//
// Any trivially copyable T can be put and got; accumulate and arithmetic want an rma::Element.
//
// Besides boxes there are sections (every step-th element), boxes that reach over the ends of
// periodic dimensions, and single fields of elements that are structures:
//
//     a.get(Section(a.box(), {2, 2}), coarse);
//     a.get(Box({-1, 0}, {3, 4}), PeriodicDims().set(), block);
//     particles.put(box, &Particle::mass, masses);
//
// What is complete when: as in rma/transfer.hpp. A blocking put or accumulate returns when its
// source may be reused, get when the data is here; fence() and sync() make writes complete at their
// owners. Errors: out_of_range (the box is not inside; nothing was sent), invalid_argument (buffer
// too short, of other extents, or null), closed, peer_lost. Each names the array, the box, the
// extents and what to do.
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

/// T, where numbers of that type can be computed with; else the compiler says which can.
template <class T>
struct Computable {
  static_assert(rma::Element<T>,
                "accumulate and arithmetic are for std::int8_t to std::int64_t, std::uint8_t to "
                "std::uint64_t, float, double, std::complex<float> and std::complex<double>; of "
                "long and long long only one is std::int64_t, and char is none of them");
  using type = T;
};

/// Local. So many zeros. Errors: no_memory.
template <class T>
rma::Result<std::vector<T>> zeros(std::int64_t count) {
  return within_memory([&]() -> rma::Result<std::vector<T>> {
    return std::vector<T>(static_cast<std::size_t>(count));
  });
}

/// A number of the language, of a type that can't be computed with.
template <class T>
concept OtherNumber = std::is_arithmetic_v<T> && !rma::Element<T>;

}  // namespace detail

/// A std::vector of bool has no memory that elements could be moved to.
template <class T>
concept IsNotBool = !std::same_as<T, bool>;

/// Whole numbers that can be changed in one step at their owner.
template <class T>
concept AtomicElement = rma::IntegerElement<T> && sizeof(T) >= 4;

template <class T>
requires std::is_trivially_copyable_v<T>
class Array : public ArrayBase {
 public:
  using value_type = T;

  /// An empty one: no elements, no job, no team, until another is assigned to it. What is asked of
  /// it fails with `closed`.
  Array() noexcept = default;

  /// Collective over the team of `options`. Makes an array of zeros, cut evenly into one block a
  /// rank (see arrays/process_grid.hpp for how). All members succeed, or none.
  /// Errors: invalid_argument (bad extents or options, or not the same on all members), no_memory.
  static rma::Result<Array> create(const rma::Job& job, const Extents& extents,
                                   const ArrayOptions& options = {}) {
    return typed(ArrayBase::create(job, extents, ElementKind::of<T>(), options));
  }
  /// Collective. As above with any distribution over as many ranks as the team has; its ghosts,
  /// order and holders count, not those of `options`.
  static rma::Result<Array> create(const rma::Job& job, const Distribution& distribution,
                                   const ArrayOptions& options = {}) {
    return typed(ArrayBase::create(job, distribution, ElementKind::of<T>(), options));
  }
  /// Collective. The same in memory that each member has already: `memory` becomes its slice, keeps
  /// its contents, and must outlive the array.
  /// Errors: also invalid_argument when it is too short; unsupported where no transport can reach
  /// such memory.
  static rma::Result<Array> attach(const rma::Job& job, const Distribution& distribution,
                                   std::span<T> memory, const ArrayOptions& options = {}) {
    return typed(ArrayBase::attach(job, distribution, ElementKind::of<T>(), memory.data(),
                                   memory.size_bytes(), options));
  }
  /// Collective over the team of `base`. An array in the memory of another one, which may have any
  /// element type and must outlive it: what one writes is the other's. Each rank's slice must have
  /// room. Freeing it leaves the memory as it is.
  /// Errors: also invalid_argument when `base` has too little memory on some rank.
  static rma::Result<Array> overlay(const ArrayBase& base, const Distribution& distribution,
                                    // NOLINTNEXTLINE(performance-unnecessary-value-param): is moved
                                    std::string name = "unnamed") {
    return typed(ArrayBase::overlay(base, distribution, ElementKind::of<T>(), std::move(name)));
  }
  /// Collective. A new array of zeros with the same distribution, team and region options.
  [[nodiscard]] rma::Result<Array> duplicate(std::string name = "unnamed") const {
    return typed(ArrayBase::duplicate(std::move(name)));
  }
  /// Local. Gives an array that was made without a type the one that its elements have.
  /// Errors: invalid_argument when they have another.
  static rma::Result<Array> of(ArrayBase untyped) {
    const ElementKind kind = ElementKind::of<T>();
    if (untyped.element().name != kind.name) {
      return untyped.name_rank(
          rma::Status::error(rma::Code::invalid_argument,
                             untyped.describe() + " has no elements of type " + kind.name));
    }
    return Array(std::move(untyped));
  }

  /// One-sided. Writes the elements of `box`. Complete: locally at return.
  rma::Status put(const Box& box, std::span<const T> from) const {
    return put_dense(box, from.data(), std::ssize(from));
  }
  rma::Status put(const Box& box, const LocalView<const T>& from) const {
    TESSERA_RETURN_IF_ERROR(check_view("put", box, from.extents(), from.strides()));
    return put_box(box, buffer(from));
  }

  /// One-sided. Reads the elements of `box`. Complete: the data is here at return. Errors: also
  /// invalid_argument when strides of the view put two elements into one place.
  rma::Status get(const Box& box, std::span<T> to) const {
    return get_dense(box, to.data(), std::ssize(to));
  }
  rma::Status get(const Box& box, const LocalView<T>& to) const {
    TESSERA_RETURN_IF_ERROR(check_view("get", box, to.extents(), to.strides()));
    return get_box(box, buffer(LocalView<const T>(to)));
  }

  /// One-sided. The elements of `box`, or of a section, without gaps and row by row.
  /// Errors: also no_memory.
  [[nodiscard]] rma::Result<std::vector<T>> get(const Box& box) const requires IsNotBool<T> {
    return fetched(box);
  }
  [[nodiscard]] rma::Result<std::vector<T>> get(
      const Section& section) const requires IsNotBool<T> {
    return fetched(section);
  }
  /// Local. Zeros, as many as `box` has elements, wherever it lies.
  /// Errors: invalid_argument when 63 bits don't count them, no_memory.
  [[nodiscard]] rma::Result<std::vector<T>> buffer(const Box& box) const requires IsNotBool<T> {
    std::int64_t count = 0;
    if (!box.checked_volume(count)) {
      return check_periodic_room("buffer", box, 0);
    }
    return detail::zeros<T>(count);
  }

  /// One-sided. element += alpha * source, atomic for each element against other accumulates.
  /// Complete: locally at return.
  rma::Status accumulate(const Box& box, std::span<const T> from,
                         T alpha = T{1}) const requires rma::Element<T> {
    return accumulate_dense(box, from.data(), std::ssize(from), rma::Scale::of(alpha));
  }
  rma::Status accumulate(const Box& box, const LocalView<const T>& from,
                         T alpha = T{1}) const requires rma::Element<T> {
    TESSERA_RETURN_IF_ERROR(check_view("accumulate", box, from.extents(), from.strides()));
    return accumulate_box(box, buffer(from), rma::Scale::of(alpha));
  }

  /// Not for this T, which the compiler says in one sentence.
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

  /// The same, started only. Complete: locally after wait() of the handle.
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

  /// One-sided. Every step-th element, as the box of section.extents() elements that they form.
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

  /// One-sided. A box that may reach over the ends of the dimensions in `periodic`, however far:
  /// there the array repeats itself. What is put twice to one element has the value of either.
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

  /// One-sided. One member of each element of `box`: array.get(box, &Particle::mass, masses).
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

  /// One-sided. One element; a whole round trip when it lies elsewhere.
  rma::Result<T> get_element(const Index& index) const {
    TESSERA_RETURN_IF_ERROR(check_element("get", index));
    T value;
    const Box box = Box::at(index);
    TESSERA_RETURN_IF_ERROR(get_box(box, dense(box, &value)));
    return value;
  }

  /// One-sided. Writes one element. Complete: locally at return.
  rma::Status put_element(const Index& index, T value) const {
    TESSERA_RETURN_IF_ERROR(check_element("put", index));
    const Box box = Box::at(index);
    return put_box(box, dense(box, &value));
  }

  /// One-sided. Adds `increment`, wrapping, and returns the value from before: a counter or a place
  /// in a list for each element (GA's read_inc). Atomic against the others of these functions.
  /// Complete: here and at the owner at return. Cost: a round trip where the owner is elsewhere.
  rma::Result<T> fetch_add(const Index& index, T increment) const requires AtomicElement<T> {
    TESSERA_ASSIGN_OR_RETURN(const rma::RemoteAddress at, atomic_address("fetch_add", index));
    return from_word(rma::fetch_add(job(), at, to_word(increment)));
  }
  /// One-sided. Stores `desired` and returns the value from before.
  rma::Result<T> swap(const Index& index, T desired) const requires AtomicElement<T> {
    TESSERA_ASSIGN_OR_RETURN(const rma::RemoteAddress at, atomic_address("swap", index));
    return from_word(rma::swap(job(), at, to_word(desired)));
  }
  /// One-sided. Stores `desired` if the element is `expected`; returns the value from before.
  rma::Result<T> compare_swap(const Index& index, T expected,
                              T desired) const requires AtomicElement<T> {
    TESSERA_ASSIGN_OR_RETURN(const rma::RemoteAddress at, atomic_address("compare_swap", index));
    return from_word(rma::compare_swap(job(), at, to_word(expected), to_word(desired)));
  }

  /// Local. The scoped right to load and store this rank's own elements.
  /// Errors: closed, unsupported for several blocks a rank (use local_blocks()).
  rma::Result<LocalAccess<T>> local() { return LocalAccess<T>::begin(*this); }
  /// Local. The same for any distribution, block by block. Errors: closed.
  rma::Result<LocalBlocks<T>> local_blocks() { return LocalBlocks<T>::begin(*this); }
  /// Local. The same of a const array, to load only.
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
      return get(place, std::span<T>());  // which says why
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
    // Of an element that is never read: only where its member lies is asked.
    alignas(T) const std::byte element[sizeof(T)] = {};  // NOLINT(modernize-avoid-c-arrays)
    const auto* const at = &(reinterpret_cast<const T*>(element)->*member);
    return {static_cast<std::size_t>(reinterpret_cast<const std::byte*>(at) - element),
            sizeof(Member)};
  }

  // Sources are only read; one type serves both directions.
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
