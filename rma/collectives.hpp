// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives with blocks of different sizes, scans, and collectives that don't block.
//
//     // Particles move to other ranks. How many arrive is exchanged first.
//     std::vector<std::int64_t> arriving(leaving.size());
//     alltoall(team, leaving, arriving);
//     std::vector<Particle> mine(sum_of(arriving));
//     alltoallv(team, sorted, {.counts = leaving}, mine, {.counts = arriving});
//
// All are collective on `team`, and members agree as in team.hpp: if they call different
// collectives, give different element sizes, roots or types, or expect another number of elements
// than is sent, all get an error that says which. Counts are in elements and may be zero. After an
// error the contents of buffers that would have been written are unspecified.
//
// Errors of all: those of Team::barrier(); invalid_argument (a block outside its buffer, blocks
// that overlap where elements are written, wrong counts); no_memory.
//
// Cost of alltoallv, gatherv and scatterv: three synchronisations, and one for each piece. Within a
// node data are copied twice, through shared memory; between nodes they are put into that memory.
// Each member has 1 MiB of it, or 1 KiB for each member of the team if that is more. It is
// allocated at a team's first such call and freed with the team.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "rma/base/result.hpp"
#include "rma/element.hpp"
#include "rma/handle.hpp"
#include "rma/team.hpp"

namespace tessera::rma {

/// Which elements of a buffer belong to each member: counts[m] elements from element offsets[m] on.
/// Without offsets the blocks follow each other, in team order.
struct MemberBlocks {
  std::span<const std::int64_t> counts;
  std::span<const std::int64_t> offsets = {};
};

/// Collective. Sends sent.counts[m] elements to each member m, and receives received.counts[m] from
/// it. Requires: the buffers do not overlap.
Status alltoallv(Team& team, std::span<const std::byte> send, const MemberBlocks& sent,
                 std::span<std::byte> receive, const MemberBlocks& received,
                 std::size_t element_bytes);

/// Collective. Sends the same number of elements to each member, for example one count. Both
/// buffers have that many for each member, in team order.
Status alltoall(Team& team, std::span<const std::byte> send, std::span<std::byte> receive,
                std::size_t element_bytes);

/// Collective. Gathers blocks of different sizes at the root. Other members' `all` and `received`
/// are ignored.
Status gatherv(Team& team, std::span<const std::byte> own, std::span<std::byte> all,
               const MemberBlocks& received, std::size_t element_bytes, TeamRank root);

/// Collective. Sends each member its block of the root's elements. Other members' `all` and `sent`
/// are ignored.
Status scatterv(Team& team, std::span<const std::byte> all, const MemberBlocks& sent,
                std::span<std::byte> own, std::size_t element_bytes, TeamRank root);

/// Collective. Gathers blocks of different sizes at all members. Counts are the same on all
/// members, offsets may differ. Cost: an allgather of the largest block if these are at most twice
/// the elements or 64 KiB; else a broadcast of each block.
Status allgatherv(Team& team, std::span<const std::byte> own, std::span<std::byte> all,
                  const MemberBlocks& received, std::size_t element_bytes);

/// Collective. Combines `count` elements, in place and element by element, with those of the
/// members before this one, in team order. The result is the same in each run. Cost: each member
/// receives all members' elements, 1 MiB at a time.
Status scan(Team& team, void* elements, std::int64_t count, ElementType type, Reduction reduction);
/// The same without this member's own elements. On the first member all elements become neutral:
/// 0 for sums, 1 for products, the largest number or infinity for a minimum, and so on.
Status exclusive_scan(Team& team, void* elements, std::int64_t count, ElementType type,
                      Reduction reduction);

/// Collective, non-blocking. Starts a barrier or an allreduce; complete after Handle::wait(). Until
/// then the program must not use the elements. Order: all members start these, and call the team's
/// other collectives, in the same order. If not, wait() returns invalid_argument on all members;
/// the message has the number of each member's call. Several may be outstanding, also during a
/// blocking collective of the team. Progress: a thread of each member, which sleeps if nothing is
/// outstanding, performs them in this order. No member needs to call the library. If the system
/// refuses the thread, or transport mpi has a lower level than MPI_THREAD_MULTIPLE, the call itself
/// performs them. Errors, from wait(): those of Team::barrier() and allreduce(); closed if the job
/// was stopped before, or with this one outstanding. Cost: at the first call, a thread and a
/// further team of the same ranks.
[[nodiscard]] Handle barrier_async(Team& team);
[[nodiscard]] Handle allreduce_async(Team& team, void* elements, std::int64_t count,
                                     ElementType type, Reduction reduction);

namespace detail {

/// The bytes of a vector, array or span of elements that may be copied as bytes.
template <class Elements>
auto bytes_of_elements(Elements&& elements) noexcept {
  const auto span = std::span(elements);
  using Span = std::remove_const_t<decltype(span)>;
  static_assert(std::is_trivially_copyable_v<typename Span::value_type>,
                "collectives copy elements as bytes: they must be trivially copyable");
  if constexpr (std::is_const_v<typename Span::element_type>) {
    return std::as_bytes(span);
  } else {
    return std::as_writable_bytes(span);
  }
}
template <class Elements>
using ElementOf =
    typename std::remove_cvref_t<decltype(std::span(std::declval<Elements&>()))>::value_type;
template <class One, class Other>
inline constexpr std::size_t common_element_bytes = [] {
  static_assert(std::is_same_v<ElementOf<One>, ElementOf<Other>>,
                "both buffers of a collective have elements of one type");
  return sizeof(ElementOf<One>);
}();

}  // namespace detail

/// The same for vectors, arrays and spans of any type that may be copied as bytes.
template <class Send, class Receive>
Status alltoallv(Team& team, const Send& send, const MemberBlocks& sent, Receive&& receive,
                 const MemberBlocks& received) {
  return alltoallv(team, detail::bytes_of_elements(send), sent, detail::bytes_of_elements(receive),
                   received, detail::common_element_bytes<Send, Receive>);
}
template <class Own, class All>
Status gatherv(Team& team, const Own& own, All&& all, const MemberBlocks& received, TeamRank root) {
  return gatherv(team, detail::bytes_of_elements(own), detail::bytes_of_elements(all), received,
                 detail::common_element_bytes<Own, All>, root);
}
template <class All, class Own>
Status scatterv(Team& team, const All& all, const MemberBlocks& sent, Own&& own, TeamRank root) {
  return scatterv(team, detail::bytes_of_elements(all), sent, detail::bytes_of_elements(own),
                  detail::common_element_bytes<All, Own>, root);
}
template <class Own, class All>
Status allgatherv(Team& team, const Own& own, All&& all, const MemberBlocks& received) {
  return allgatherv(team, detail::bytes_of_elements(own), detail::bytes_of_elements(all), received,
                    detail::common_element_bytes<Own, All>);
}
template <class Send, class Receive>
Status alltoall(Team& team, const Send& send, Receive&& receive) {
  return alltoall(team, detail::bytes_of_elements(send), detail::bytes_of_elements(receive),
                  detail::common_element_bytes<Send, Receive>);
}
template <Element T>
Status scan(Team& team, std::span<T> elements, Reduction reduction) {
  return scan(team, elements.data(), static_cast<std::int64_t>(elements.size()), element_type<T>(),
              reduction);
}
template <Element T>
Result<T> scan(Team& team, T value, Reduction reduction) {
  Status status = scan(team, &value, 1, element_type<T>(), reduction);
  if (!status.ok()) {
    return status;
  }
  return value;
}
template <Element T>
Status exclusive_scan(Team& team, std::span<T> elements, Reduction reduction) {
  return exclusive_scan(team, elements.data(), static_cast<std::int64_t>(elements.size()),
                        element_type<T>(), reduction);
}
template <Element T>
Result<T> exclusive_scan(Team& team, T value, Reduction reduction) {
  Status status = exclusive_scan(team, &value, 1, element_type<T>(), reduction);
  if (!status.ok()) {
    return status;
  }
  return value;
}
template <Element T>
[[nodiscard]] Handle allreduce_async(Team& team, std::span<T> elements, Reduction reduction) {
  return allreduce_async(team, elements.data(), static_cast<std::int64_t>(elements.size()),
                         element_type<T>(), reduction);
}

}  // namespace tessera::rma
