// SPDX-License-Identifier: BSD-3-Clause
//
// Mirrored<T>: an array with a copy on each node, which the members on that node have together.
//
//     auto m = Mirrored<double>::create(job, {n, n}, {.name = "fock"}).value();
//     m.load(density);                       // every copy has the elements of a distributed array
//     m.here().accumulate(box, values);      // stays on the node: here() is an ordinary array
//     m.merge();                             // every copy is the sum of all
//     m.merge_into(m.here().box(), fock);    // or the sum goes to a distributed array
//
// It is for what everybody reads or adds to all the time, and what a node has room for: between two
// merges nothing goes over the network (mirrored arrays of Global Arrays). For reading alone,
// or adding alone, ArrayBase::set_access_mode with a copy on each node is simpler.
//
// A sum adds the copies in an order that the number of nodes determines: all nodes, and all runs of
// as many, have the same bits.
//
// Threads: collectives by one thread at a time of the team; here() as any array. Ownership:
// move-only; frees its copies collectively. Errors: each names the array.
#pragma once

#include <utility>

#include "arrays/array.hpp"
#include "arrays/part.hpp"

namespace tessera::arrays {

namespace detail {

/// Collective over the team of `options`, which is set to all ranks where it is empty. An array of
/// zeros on the members that share a node.
rma::Result<ArrayBase> create_copy_on_node(const rma::Job& job, const Extents& extents,
                                           const ElementKind& element, ArrayOptions& options);
/// Collective over `team`, of which `copy` is this node's. As Mirrored's functions.
rma::Status merge_copies(rma::Team& team, const ArrayBase& copy);
rma::Status merge_copies_into(rma::Team& team, const ArrayBase& copy, const Box& from,
                              const ArrayBase& to, const Box& to_box);
rma::Status load_copies(rma::Team& team, const ArrayBase& copy, const Box& to,
                        const ArrayBase& from, const Box& from_box);
/// Collective over `team`. As Mirrored::free() and its destructor.
rma::Status free_copies(rma::Team& team, ArrayBase& copy);
void drop_copies(rma::Team& team, const ArrayBase& copy) noexcept;

}  // namespace detail

template <rma::Element T>
class Mirrored {
 public:
  using value_type = T;

  /// Collective over the team of `options`. Copies of zeros, each cut evenly over the members on
  /// its node. `process_grid` and `holders` must not be given: they would be others on each node.
  /// Errors: those of Array<T>::create.
  /// Cost: the array's size on each node.
  static rma::Result<Mirrored> create(const rma::Job& job, const Extents& extents,
                                      ArrayOptions options = {}) {
    auto made = detail::create_copy_on_node(job, extents, ElementKind::of<T>(), options);
    if (!made.ok()) {
      return std::move(made).status();
    }
    auto copy = Array<T>::of(std::move(made).take());
    return Mirrored(std::move(copy).take(), *options.team);
  }

  /// This node's copy, an array on the team of this node's members.
  [[nodiscard]] Array<T>& here() noexcept { return here_; }
  [[nodiscard]] const Array<T>& here() const noexcept { return here_; }
  /// All members, of all nodes.
  [[nodiscard]] rma::Team& team() noexcept { return team_; }

  /// Collective over team(). Each element of every copy becomes the sum of those of all copies;
  /// what members did to their copies before is complete. Complete: everywhere at return. Cost: an
  /// array of this size over all members, for as long as it takes; each node sends and receives its
  /// copy once, and all meet as often as there are nodes.
  rma::Status merge() { return detail::merge_copies(team_, here_); }

  /// Collective over team(). Each element of `to` becomes the sum of those at its place in the box
  /// `from` of all copies (GA's merge_distr_patch). The copies stay as they are.
  /// Errors: also invalid_argument when extents differ, or the team of `to` has other members.
  template <class To>
  rma::Status merge_into(const Box& from, const To& to) {
    const Part<T> target = part(to);
    return detail::merge_copies_into(team_, here_, from, target.array(), target.box());
  }

  /// Collective over team(). The box `to` of every copy becomes what `from` has; what members wrote
  /// there before is complete. Nobody writes it meanwhile.
  /// Errors: also invalid_argument when extents differ, or a member is not in the team of `from`.
  template <class From>
  rma::Status load(const Box& to, const From& from) {
    const Part<T> source = part(from);
    return detail::load_copies(team_, here_, to, source.array(), source.box());
  }
  template <class From>
  rma::Status load(const From& from) {
    return load(here_.box(), from);
  }

  /// Collective over team(). Gives the memory back. Idempotent. Errors: also invalid_argument if
  /// another member called something else; then nothing is freed.
  rma::Status free() { return detail::free_copies(team_, here_); }

  Mirrored(Mirrored&& other) noexcept = default;
  Mirrored& operator=(Mirrored&& other) noexcept {
    if (this != &other) {
      detail::drop_copies(team_, here_);
      here_ = std::move(other.here_);
      team_ = std::move(other.team_);
    }
    return *this;
  }
  /// Collective over team(), as free().
  ~Mirrored() { detail::drop_copies(team_, here_); }

 private:
  Mirrored(Array<T> here, rma::Team team) : here_(std::move(here)), team_(std::move(team)) {}

  Array<T> here_;
  rma::Team team_;
};

}  // namespace tessera::arrays
