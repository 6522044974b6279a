// SPDX-License-Identifier: BSD-3-Clause
//
// Mirrored<T>: an array with a copy on each node; the members on a node share that copy.
//
//     auto m = Mirrored<double>::create(job, {n, n}, {.name = "fock"}).value();
//     m.load(density);                          // copies a distributed array into every copy
//     m.node_copy().accumulate(box, values);    // an ordinary array; stays on the node
//     m.merge();                                // every copy becomes the sum of all copies
//     m.merge_into(m.node_copy().box(), fock);  // or the sum goes into a distributed array
//
// A copy may have any distribution over the members on its node, ghost cells too. An array that is
// a node's copy but not in a Mirrored is merged by merge_copies() and merge_copies_into().
//
// It is for data that all ranks read or add to frequently, if each node has memory for a copy.
// Between two merges nothing goes over the network (mirrored arrays of Global Arrays). If ranks
// only read, or only add, ArrayBase::set_access_mode with a copy on each node is simpler.
//
// A merge adds the copies in an order that only the number of nodes determines: all nodes, and all
// runs with that number of nodes, get the same bits.
//
// Threads: for each team, collectives from one thread at a time; node_copy() as any array.
// Ownership: move-only; frees its copies collectively. Errors: each message names the array.
#pragma once

#include <utility>

#include "arrays/array.hpp"
#include "arrays/subarray.hpp"

namespace tessera::arrays {

/// Collective over `team`. As Mirrored::merge() and Mirrored::merge_into(), for an array `copy` on
/// the team of the members on this node, and arrays of the same extents and elements on the other
/// nodes. Errors: also invalid_argument if the team of `copy` is not that of the members on this
/// node.
rma::Status merge_copies(rma::Team& team, const ArrayBase& copy);
rma::Status merge_copies_into(rma::Team& team, const ArrayBase& copy, const Box& from,
                              const ArrayBase& to, const Box& to_box);

namespace detail {

/// Collective over the team of `options`; if that is unset, it is set to all ranks. Makes an array
/// of zeros on the members that share a node, with a given distribution over them or an even one.
rma::Result<ArrayBase> create_copy_on_node(const rma::Job& job, const Extents& extents,
                                           const ElementKind& element, ArrayOptions& options);
rma::Result<ArrayBase> create_copy_on_node(const rma::Job& job, const Distribution& on_node,
                                           const ElementKind& element, ArrayOptions& options);
/// Collective over `team`; `copy` is this node's copy. As the function of Mirrored.
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

  /// Collective over the team of `options`. Makes copies of zeros, each cut evenly over the members
  /// on its node. `process_grid` and `holders` must not be given, since they would differ among
  /// nodes. Errors: those of Array<T>::create. Cost: memory of the array's size on each node.
  static rma::Result<Mirrored> create(const rma::Job& job, const Extents& extents,
                                      ArrayOptions options = {}) {
    return with_copy(detail::create_copy_on_node(job, extents, ElementKind::of<T>(), options),
                     options);
  }
  /// As above, with a distribution of this node's copy over the members on this node, in the order
  /// of their team. It may differ among nodes, but not among the members of one; the extents may
  /// not. Errors: also invalid_argument if it is for another number of ranks.
  static rma::Result<Mirrored> create(const rma::Job& job, const Distribution& on_node,
                                      ArrayOptions options = {}) {
    return with_copy(detail::create_copy_on_node(job, on_node, ElementKind::of<T>(), options),
                     options);
  }

  /// This node's copy: an array on the team of this node's members.
  [[nodiscard]] Array<T>& node_copy() noexcept { return node_copy_; }
  [[nodiscard]] const Array<T>& node_copy() const noexcept { return node_copy_; }
  /// The team of all members, on all nodes.
  [[nodiscard]] rma::Team& team() noexcept { return team_; }

  /// Collective over team(). Each element of every copy becomes the sum over all copies. What
  /// members did to their copies before is included. Complete: everywhere at return. Cost: a
  /// temporary array of this size over all members; each node sends and receives its copy once, in
  /// as many collective steps as there are nodes. Errors: no_memory, peer_lost.
  rma::Status merge() { return merge_copies(team_, node_copy_); }

  /// Collective over team(). Each element of `to` becomes the sum over all copies of the element at
  /// the same position in the box `from` (GA's merge_distr_patch). The copies keep their values.
  /// Errors: also invalid_argument if extents differ, or the team of `to` has other members.
  template <class To>
  rma::Status merge_into(const Box& from, const To& to) {
    const Subarray<T> target = part(to);
    return merge_copies_into(team_, node_copy_, from, target.array(), target.box());
  }

  /// Collective over team(). Copies `from` into the box `to` of every copy. What members wrote
  /// there before is complete; no rank may write it at the same time. Errors: also invalid_argument
  /// if extents differ, or a member is not in the team of `from`.
  template <class From>
  rma::Status load(const Box& to, const From& from) {
    const Subarray<T> source = part(from);
    return detail::load_copies(team_, node_copy_, to, source.array(), source.box());
  }
  template <class From>
  rma::Status load(const From& from) {
    return load(node_copy_.box(), from);
  }

  /// Collective over team(). Frees the memory. Idempotent. Errors: also invalid_argument if another
  /// member called another operation; then nothing is freed.
  rma::Status free() { return detail::free_copies(team_, node_copy_); }

  Mirrored(Mirrored&& other) noexcept = default;
  Mirrored& operator=(Mirrored&& other) noexcept {
    if (this != &other) {
      detail::drop_copies(team_, node_copy_);
      node_copy_ = std::move(other.node_copy_);
      team_ = std::move(other.team_);
    }
    return *this;
  }
  /// Collective over team(), as free().
  ~Mirrored() { detail::drop_copies(team_, node_copy_); }

 private:
  Mirrored(Array<T> node_copy, rma::Team team)
      : node_copy_(std::move(node_copy)), team_(std::move(team)) {}
  static rma::Result<Mirrored> with_copy(rma::Result<ArrayBase> made, const ArrayOptions& options) {
    if (!made.ok()) {
      return std::move(made).status();
    }
    auto copy = Array<T>::of(std::move(made).take());
    return Mirrored(std::move(copy).take(), *options.team);
  }

  Array<T> node_copy_;
  rma::Team team_;
};

}  // namespace tessera::arrays
