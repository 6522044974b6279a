// SPDX-License-Identifier: BSD-3-Clause
//
// Atomic operations on listed elements, on any ranks, for example the parents of the vertices that
// a search of a graph reaches:
//
//     std::vector<std::int64_t> before(vertices.size());
//     change_elements<std::int64_t>(parents, vertices, {.op = rma::AtomicOp::compare_swap,
//                                                       .operands = own, .previous = before,
//                                                       .expected = unclaimed});
//
// Each element is changed as by rma/atomic_list.hpp: between nodes, a list takes one message for
// each owner and 4096 elements.
#pragma once

#include <span>
#include <vector>

#include "arrays/array.hpp"
#include "arrays/gather.hpp"
#include "rma/atomic_list.hpp"
#include "rma/handle.hpp"

namespace tessera::arrays {

/// The changes of listed elements; see rma::AtomicWords.
template <rma::AtomicWord T>
struct ElementChanges {
  rma::AtomicOp op = rma::AtomicOp::add;
  std::span<const T> operands = {};
  std::span<T> previous = {};        ///< receive the elements from before
  std::span<const T> expected = {};  ///< of compare_swap; else empty
};

/// Local. The addresses of listed elements for atomic operations. Errors: out_of_range, which names
/// the entry of the list; closed; invalid_argument if the access mode forbids puts; no_memory.
[[nodiscard]] rma::Result<std::vector<rma::RemoteAddress>> atomic_addresses(
    const ArrayBase& array, const IndexList& indices);

/// One-sided. Starts the changes. Complete: here and at the owners after wait(); `previous` stays
/// allocated until then. Errors, from wait(): as atomic_addresses() and rma::atomics_async();
/// nothing is changed if an index is wrong.
template <rma::AtomicWord T>
rma::Handle change_elements_async(const Array<T>& array, const IndexList& indices,
                                  const ElementChanges<T>& changes) {
  const auto at = atomic_addresses(array, indices);
  if (!at.ok()) {
    return rma::Handle::failed(at.status());
  }
  return rma::atomics_async<T>(array.job(), {.op = changes.op,
                                             .at = *at,
                                             .operands = changes.operands,
                                             .previous = changes.previous,
                                             .expected = changes.expected});
}

/// One-sided. The same, complete at return.
template <rma::AtomicWord T>
rma::Status change_elements(const Array<T>& array, const IndexList& indices,
                            const ElementChanges<T>& changes) {
  return change_elements_async(array, indices, changes).wait();
}

}  // namespace tessera::arrays
