// SPDX-License-Identifier: BSD-3-Clause
#include "rma/collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "fortran/c/job.h"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/call.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/handles.hpp"
#include "fortran/detail/pending.hpp"

namespace tessera::capi {
namespace {

using rma::Code;
using rma::ElementType;
using rma::Handle;
using rma::MemberBlocks;
using rma::Reduction;
using rma::Status;
using rma::Team;
using rma::TeamRank;

/// A buffer with a block for each member. C gives no length, so the buffer ends with the last
/// block.
struct BlockedBuffer {
  const void* start = nullptr;
  std::size_t bytes = 0;
  MemberBlocks blocks = {};

  [[nodiscard]] std::span<const std::byte> read() const {
    return {static_cast<const std::byte*>(start), bytes};
  }
  [[nodiscard]] std::span<std::byte> write() const {
    return {static_cast<std::byte*>(const_cast<void*>(start)), bytes};
  }
};

Status too_large(std::int64_t elements, std::int64_t element_bytes) {
  return Status::error(Code::invalid_argument, fmt::format("{} elements of {} bytes are too many",
                                                           elements, element_bytes));
}

/// Negative counts and offsets are reported by the library.
rma::Result<BlockedBuffer> blocked(const void* start, const std::int64_t* counts,
                                   const std::int64_t* offsets, std::int64_t element_bytes,
                                   std::int32_t members) {
  TESSERA_RETURN_IF_ERROR(required(counts, "counts"));
  const auto size = static_cast<std::size_t>(members);
  BlockedBuffer buffer{start, 0, {std::span(counts, size), {}}};
  if (offsets != nullptr) {
    buffer.blocks.offsets = {offsets, size};
  }
  std::int64_t end = 0;
  std::int64_t longest = 0;
  for (std::size_t member = 0; member < size; ++member) {
    const std::int64_t first = offsets == nullptr ? end : offsets[member];
    if (__builtin_add_overflow(std::max<std::int64_t>(first, 0),
                               std::max<std::int64_t>(counts[member], 0), &end)) {
      return too_large(counts[member], element_bytes);
    }
    longest = std::max(longest, end);
  }
  if (__builtin_mul_overflow(longest, element_bytes, &longest)) {
    return too_large(longest, element_bytes);
  }
  if (longest > 0) {
    TESSERA_RETURN_IF_ERROR(required(start, "buffer"));
  }
  buffer.bytes = static_cast<std::size_t>(longest);
  return buffer;
}

/// `count` elements at `start`.
rma::Result<BlockedBuffer> dense(const void* start, std::int64_t count,
                                 std::int64_t element_bytes) {
  TESSERA_RETURN_IF_ERROR(check_count(count, "elements"));
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(count, element_bytes, &bytes)) {
    return too_large(count, element_bytes);
  }
  if (bytes > 0) {
    TESSERA_RETURN_IF_ERROR(required(start, "buffer"));
  }
  return BlockedBuffer{start, static_cast<std::size_t>(bytes), {}};
}

Status check_element_bytes(std::int64_t element_bytes) {
  return element_bytes > 0
             ? Status()
             : Status::error(Code::invalid_argument,
                             fmt::format("elements of {} bytes were given", element_bytes));
}

/// Calls act(), unless `status`, this member's arguments, is an error, which all members get.
template <class Act>
Status together(Team& team, Status status, const Act& act) {
  TESSERA_RETURN_IF_ERROR(report_to_team(team, std::move(status)));
  return act();
}

/// Gives the results of functions that read arguments their values, until one is an error.
template <class Read, class... Rest>
Status read_all(const Read& read, const Rest&... rest) {
  TESSERA_RETURN_IF_ERROR(read());
  if constexpr (sizeof...(rest) > 0) {
    return read_all(rest...);
  }
  return {};
}

template <class Value>
Status keep(rma::Result<Value> read, Value& value) {
  TESSERA_ASSIGN_OR_RETURN(value, std::move(read));
  return {};
}

Status check_scan(const void* elements, std::int64_t count, tessera_type type,
                  tessera_reduction reduction) {
  TESSERA_RETURN_IF_ERROR(check_count(count, "elements"));
  if (count > 0) {
    TESSERA_RETURN_IF_ERROR(required(elements, "elements"));
  }
  TESSERA_RETURN_IF_ERROR(element_type(type).status());
  return check_choice(reduction, rma::reduction_count, "reduction");
}

/// If the handle is wrong, the others' collective is completed before the error is returned.
template <class Start>
Status start(const tessera_team* team, tessera_handle** handle, const Start& begin) {
  Status wrong = required(handle, "handle");
  if (wrong.ok() && *handle != nullptr) {
    wrong = check_pending(*handle);
  }
  Handle started = begin();
  if (!wrong.ok()) {
    started.wait().ignore("the error of the argument comes first");
    return wrong;
  }
  add_pending(*job_of(team)->contents, std::move(started), handle);
  return {};
}

}  // namespace

extern "C" {

int tessera_team_alltoallv(const tessera_team* team, const void* send, const int64_t send_counts[],
                           const int64_t send_offsets[], void* receive,
                           const int64_t receive_counts[], const int64_t receive_offsets[],
                           int64_t element_bytes) {
  return call_on(__func__, team, [&](Team& members) {
    BlockedBuffer from;
    BlockedBuffer to;
    Status read = read_all(
        [&] { return check_element_bytes(element_bytes); },
        [&] {
          return keep(blocked(send, send_counts, send_offsets, element_bytes, members.size()),
                      from);
        },
        [&] {
          return keep(
              blocked(receive, receive_counts, receive_offsets, element_bytes, members.size()), to);
        });
    return together(members, std::move(read), [&] {
      return alltoallv(members, from.read(), from.blocks, to.write(), to.blocks,
                       static_cast<std::size_t>(element_bytes));
    });
  });
}

int tessera_team_alltoall(const tessera_team* team, const void* send, int64_t bytes,
                          void* receive) {
  return call_on(__func__, team, [&](Team& members) {
    BlockedBuffer from;
    BlockedBuffer to;
    Status read = read_all([&] { return keep(dense(send, bytes, members.size()), from); },
                           [&] { return keep(dense(receive, bytes, members.size()), to); });
    return together(members, std::move(read),
                    [&] { return alltoall(members, from.read(), to.write(), 1); });
  });
}

int tessera_team_gatherv(const tessera_team* team, const void* own, int64_t count, void* all,
                         const int64_t counts[], const int64_t offsets[], int64_t element_bytes,
                         int64_t root) {
  return call_on(__func__, team, [&](Team& members) {
    BlockedBuffer from;
    BlockedBuffer to;
    TeamRank at;
    Status read = read_all(
        [&] { return check_element_bytes(element_bytes); },
        [&] { return keep(team_rank(root, members.size()), at); },
        [&] { return keep(dense(own, count, element_bytes), from); },
        [&] {
          return members.rank() != at
                     ? Status()
                     : keep(blocked(all, counts, offsets, element_bytes, members.size()), to);
        });
    return together(members, std::move(read), [&] {
      return gatherv(members, from.read(), to.write(), to.blocks,
                     static_cast<std::size_t>(element_bytes), at);
    });
  });
}

int tessera_team_allgatherv(const tessera_team* team, const void* own, int64_t count, void* all,
                            const int64_t counts[], const int64_t offsets[],
                            int64_t element_bytes) {
  return call_on(__func__, team, [&](Team& members) {
    BlockedBuffer from;
    BlockedBuffer to;
    Status read = read_all(
        [&] { return check_element_bytes(element_bytes); },
        [&] { return keep(dense(own, count, element_bytes), from); },
        [&] { return keep(blocked(all, counts, offsets, element_bytes, members.size()), to); });
    return together(members, std::move(read), [&] {
      return allgatherv(members, from.read(), to.write(), to.blocks,
                        static_cast<std::size_t>(element_bytes));
    });
  });
}

int tessera_team_scatterv(const tessera_team* team, const void* all, const int64_t counts[],
                          const int64_t offsets[], void* own, int64_t count, int64_t element_bytes,
                          int64_t root) {
  return call_on(__func__, team, [&](Team& members) {
    BlockedBuffer from;
    BlockedBuffer to;
    TeamRank at;
    Status read = read_all(
        [&] { return check_element_bytes(element_bytes); },
        [&] { return keep(team_rank(root, members.size()), at); },
        [&] { return keep(dense(own, count, element_bytes), to); },
        [&] {
          return members.rank() != at
                     ? Status()
                     : keep(blocked(all, counts, offsets, element_bytes, members.size()), from);
        });
    return together(members, std::move(read), [&] {
      return scatterv(members, from.read(), from.blocks, to.write(),
                      static_cast<std::size_t>(element_bytes), at);
    });
  });
}

int tessera_team_scan(const tessera_team* team, void* elements, int64_t count, tessera_type type,
                      tessera_reduction reduction) {
  return call_on(__func__, team, [&](Team& members) {
    return together(members, check_scan(elements, count, type, reduction), [&] {
      return scan(members, elements, count, static_cast<ElementType>(type),
                  static_cast<Reduction>(reduction));
    });
  });
}

int tessera_team_exclusive_scan(const tessera_team* team, void* elements, int64_t count,
                                tessera_type type, tessera_reduction reduction) {
  return call_on(__func__, team, [&](Team& members) {
    return together(members, check_scan(elements, count, type, reduction), [&] {
      return exclusive_scan(members, elements, count, static_cast<ElementType>(type),
                            static_cast<Reduction>(reduction));
    });
  });
}

int tessera_team_barrier_async(const tessera_team* team, tessera_handle** handle) {
  return call_on(__func__, team, [&](Team& members) {
    return start(team, handle, [&] { return barrier_async(members); });
  });
}

int tessera_team_allreduce_async(const tessera_team* team, void* elements, int64_t count,
                                 tessera_type type, tessera_reduction reduction,
                                 tessera_handle** handle) {
  // A type or reduction that does not exist, which the library refuses on all members.
  constexpr int none = 255;
  return call_on(__func__, team, [&](Team& members) {
    const bool is_type = element_type(type).ok();
    const bool is_reduction = check_choice(reduction, rma::reduction_count, "reduction").ok();
    return start(team, handle, [&] {
      return allreduce_async(members, elements, count,
                             static_cast<ElementType>(is_type ? type : none),
                             static_cast<Reduction>(is_reduction ? reduction : none));
    });
  });
}

}  // extern "C"

}  // namespace tessera::capi
