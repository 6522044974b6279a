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
// What is complete when: as in rma/transfer.hpp. A blocking put or accumulate returns when its
// source may be reused, get when the data is here; fence() and sync() make writes complete at their
// owners. Errors: out_of_range (the box is not inside; nothing was sent), invalid_argument (buffer
// too short, of other extents, or null), closed, peer_lost. Each names the array, the box, the
// extents and what to do.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "arrays/access.hpp"
#include "arrays/array_base.hpp"
#include "arrays/view.hpp"
#include "rma/element.hpp"

namespace tessera::arrays {

template <class T>
requires std::is_trivially_copyable_v<T>
class Array : public ArrayBase {
 public:
  using value_type = T;

  /// Collective over the team of `options`. Makes an array of zeros, cut evenly into one block a
  /// rank (see arrays/process_grid.hpp for how). All members succeed, or none.
  /// Errors: invalid_argument (bad extents or options, or not the same on all members), no_memory.
  static rma::Result<Array> create(const rma::Job& job, const Extents& extents,
                                   const ArrayOptions& options = {}) {
    return finish(job, ArrayBase::make(job, extents, element_kind(), options), options);
  }
  /// Collective. As above with any distribution over as many ranks as the team has; its ghosts and
  /// order count, not those of `options`.
  static rma::Result<Array> create(const rma::Job& job, const Distribution& distribution,
                                   const ArrayOptions& options = {}) {
    return finish(job, ArrayBase::make(job, distribution, element_kind(), options), options);
  }

  /// One-sided. Writes the elements of `box`. Complete: locally at return.
  rma::Status put(const Box& box, std::span<const T> from) const {
    TESSERA_RETURN_IF_ERROR(check_room("put", box, std::ssize(from)));
    return put_box(box, dense(box, from.data()));
  }
  rma::Status put(const Box& box, const LocalView<const T>& from) const {
    TESSERA_RETURN_IF_ERROR(check_view("put", box, from.extents(), from.strides()));
    return put_box(box, buffer(from));
  }

  /// One-sided. Reads the elements of `box`. Complete: the data is here at return.
  rma::Status get(const Box& box, std::span<T> to) const {
    TESSERA_RETURN_IF_ERROR(check_room("get", box, std::ssize(to)));
    return get_box(box, dense(box, to.data()));
  }
  rma::Status get(const Box& box, const LocalView<T>& to) const {
    TESSERA_RETURN_IF_ERROR(check_view("get", box, to.extents(), to.strides()));
    return get_box(box, buffer(LocalView<const T>(to)));
  }

  /// One-sided. element += alpha * source, atomic for each element against other accumulates.
  /// Complete: locally at return.
  rma::Status accumulate(const Box& box, std::span<const T> from,
                         T alpha = T{1}) const requires rma::Element<T> {
    TESSERA_RETURN_IF_ERROR(check_room("accumulate", box, std::ssize(from)));
    return accumulate_box(box, dense(box, from.data()), rma::Scale::of(alpha));
  }
  rma::Status accumulate(const Box& box, const LocalView<const T>& from,
                         T alpha = T{1}) const requires rma::Element<T> {
    TESSERA_RETURN_IF_ERROR(check_view("accumulate", box, from.extents(), from.strides()));
    return accumulate_box(box, buffer(from), rma::Scale::of(alpha));
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

  /// One-sided. One element; a whole round trip when it lies elsewhere.
  rma::Result<T> get_element(const Index& index) const {
    TESSERA_RETURN_IF_ERROR(check_element("get", index));
    T value;
    const Box box = Box::at(index);
    TESSERA_RETURN_IF_ERROR(get_box(box, dense(box, &value)));
    return value;
  }

  /// Local. The scoped right to load and store this rank's own elements.
  /// Errors: closed, unsupported for several blocks a rank (use blocks of the distribution).
  rma::Result<LocalAccess<T>> local() { return LocalAccess<T>::begin(*this); }

 private:
  using ArrayBase::ArrayBase;

  static rma::Result<Array> finish(const rma::Job& job, rma::Result<Made> made,
                                   const ArrayOptions& options) {
    if (!made.ok()) {
      return std::move(made).status();
    }
    Made parts = std::move(made).take();
    return Array(job, options.name, std::move(parts.distribution), std::move(parts.region),
                 element_kind());
  }
  static ElementKind element_kind() {
    if constexpr (rma::Element<T>) {
      return {sizeof(T), std::string(rma::to_string(rma::element_type<T>()))};
    } else {
      return {sizeof(T), std::to_string(sizeof(T)) + "-byte elements"};
    }
  }

  // Sources are only read; one type serves both directions.
  static LocalBuffer buffer(const LocalView<const T>& view) {
    return {const_cast<T*>(view.data_handle()), view.strides()};
  }
  static LocalBuffer dense(const Box& box, const T* data) {
    return {const_cast<T*>(data), dense_strides(box.extents())};
  }
  template <class Start>
  rma::Handle checked(rma::Status status, Start&& start) const {
    return status.ok() ? start() : rma::Handle::failed(job(), std::move(status));
  }
};

}  // namespace tessera::arrays
