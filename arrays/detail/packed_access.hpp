// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. PackedAccess: the form in which members of a team send each other their accesses: only
// the dimensions that their arrays have, which is a third of a LoggedAccess for matrices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "arrays/detail/access_record.hpp"

namespace tessera::arrays::detail {

/// An access, and its array, by a number that is the same on all members.
struct LoggedAccess {
  std::uint64_t array = 0;
  bool is_strict = false;  ///< accumulates and atomic operations don't conflict
  AccessRecord access;
  std::uint64_t age = 0;  ///< number of the team's collectives since then

  friend bool operator==(const LoggedAccess&, const LoggedAccess&) = default;
};

/// What packed accesses have in common: the same on all members.
struct PackedAccess {
  std::int32_t dims = 0;       ///< the most dimensions of an array
  std::int32_t has_steps = 0;  ///< 1: some accesses are to sections

  void add(const AccessRecord& access) noexcept {
    dims = std::max(dims, static_cast<std::int32_t>(access.box.ndims()));
    has_steps = access.steps.is_empty() ? has_steps : 1;
  }
  void add(const PackedAccess& other) noexcept {
    dims = std::max(dims, other.dims);
    has_steps = std::max(has_steps, other.has_steps);
  }

  [[nodiscard]] std::size_t bytes() const noexcept {
    return sizeof(Scalars) +
           static_cast<std::size_t>(dims * (2 + has_steps)) * sizeof(std::int64_t);
  }
  void pack(const LoggedAccess& logged, std::byte* to) const noexcept {
    const AccessRecord& access = logged.access;
    const Scalars scalars{.array = logged.array,
                          .age = logged.age,
                          .orders = access.orders,
                          .last_orders = access.last_orders,
                          .first_time = access.first_time,
                          .last_time = access.last_time,
                          .first_byte = access.first_byte,
                          .end_byte = access.end_byte,
                          .epoch = access.epoch,
                          .phase = access.phase,
                          .site = access.site,
                          .kind = access.kind,
                          .ndims = static_cast<std::uint8_t>(access.box.ndims()),
                          .is_section = !access.steps.is_empty(),
                          .is_strict = logged.is_strict,
                          .acquired = access.acquired,
                          .released = access.released,
                          .has_other_sites = access.has_other_sites};
    std::memcpy(to, &scalars, sizeof scalars);
    to += sizeof scalars;
    to = pack_list(access.box.lo(), to);
    to = pack_list(access.box.hi(), to);
    if (has_steps != 0) {
      pack_list(access.steps, to);
    }
  }
  [[nodiscard]] LoggedAccess unpack(const std::byte* from) const noexcept {
    Scalars scalars;
    std::memcpy(&scalars, from, sizeof scalars);
    from += sizeof scalars;
    LoggedAccess logged{
        .array = scalars.array, .is_strict = scalars.is_strict, .access = {}, .age = scalars.age};
    AccessRecord& access = logged.access;
    access.orders = scalars.orders;
    access.last_orders = scalars.last_orders;
    access.first_time = scalars.first_time;
    access.last_time = scalars.last_time;
    access.first_byte = scalars.first_byte;
    access.end_byte = scalars.end_byte;
    access.epoch = scalars.epoch;
    access.phase = scalars.phase;
    access.site = scalars.site;
    access.kind = scalars.kind;
    access.acquired = scalars.acquired;
    access.released = scalars.released;
    access.has_other_sites = scalars.has_other_sites;
    const Index lo = unpack_list<Index>(scalars.ndims, from);
    const Index hi = unpack_list<Index>(scalars.ndims, from + list_bytes());
    access.box = Box(lo, hi);
    if (scalars.is_section) {
      access.steps = unpack_list<Extents>(scalars.ndims, from + 2 * list_bytes());
    }
    return logged;
  }

 private:
  struct Scalars {
    std::uint64_t array = 0;
    std::uint64_t age = 0;
    std::uint64_t orders = 0;
    std::uint64_t last_orders = 0;
    std::int64_t first_time = 0;
    std::int64_t last_time = 0;
    std::uint32_t first_byte = 0;
    std::uint32_t end_byte = 0;
    std::uint32_t epoch = 0;
    std::uint32_t phase = 0;
    std::uint32_t site = 0;
    AccessKind kind = AccessKind::put;
    std::uint8_t ndims = 0;
    bool is_section = false;
    bool is_strict = false;
    bool acquired = false;
    bool released = false;
    bool has_other_sites = false;
  };

  [[nodiscard]] std::size_t list_bytes() const noexcept {
    return static_cast<std::size_t>(dims) * sizeof(std::int64_t);
  }
  // Entries beyond a list's own are zero.
  template <class List>
  std::byte* pack_list(const List& list, std::byte* to) const noexcept {
    for (int dim = 0; dim < dims; ++dim) {
      const std::int64_t number = list[dim];
      std::memcpy(to, &number, sizeof number);
      to += sizeof number;
    }
    return to;
  }
  template <class List>
  static List unpack_list(int ndims, const std::byte* from) noexcept {
    List list = List::zeros(ndims);
    for (int dim = 0; dim < ndims; ++dim) {
      std::memcpy(&list[dim], from + static_cast<std::size_t>(dim) * sizeof(std::int64_t),
                  sizeof(std::int64_t));
    }
    return list;
  }
};

}  // namespace tessera::arrays::detail
