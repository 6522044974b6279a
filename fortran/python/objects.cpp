// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/python/objects.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fortran/python/errors.hpp"
#include "fortran/python/gil.hpp"

namespace tessera::python {

using rma::Status;

namespace {

/// The bytes of the pickled object.
py::bytes pickled(const py::object& object) {
  constexpr int protocol = 5;  // NumPy arrays are copied once
  return py::module_::import("pickle").attr("dumps")(object, protocol);
}
py::object unpickled(std::span<const std::byte> bytes) {
  const auto view = py::memoryview::from_memory(static_cast<const void*>(bytes.data()),
                                                static_cast<py::ssize_t>(bytes.size()));
  return py::module_::import("pickle").attr("loads")(view);
}

std::span<const std::byte> bytes_of(const py::bytes& object) {
  const std::string_view text = object;
  return std::as_bytes(std::span(text));
}

}  // namespace

void check_root(const rma::Team& team, rma::TeamRank root) {
  if (root.value < 0 || root.value >= team.size()) {
    refuse_index("root=" + std::to_string(root.value) + " is not a member of the team, which has " +
                 std::to_string(team.size()));
  }
}

py::object broadcast(rma::Team& team, const py::object& object, rma::TeamRank root) {
  const bool is_root = team.rank() == root;
  std::vector<std::byte> bytes;
  const Status own = status_of([&] {
    check_root(team, root);
    if (is_root) {
      const py::bytes text = pickled(object);
      const auto given = bytes_of(text);
      bytes.assign(given.begin(), given.end());
    }
  });
  checked_without_gil([&]() -> Status {
    TESSERA_RETURN_IF_ERROR(team.agree(own));
    std::uint64_t count = bytes.size();
    TESSERA_RETURN_IF_ERROR(team.broadcast_value(count, root));
    return team.do_together([&] {
      bytes.resize(count);
      return team.broadcast(std::as_writable_bytes(std::span(bytes)), root);
    });
  });
  return is_root ? object : unpickled(bytes);
}

py::list allgather(rma::Team& team, const py::object& object) {
  py::bytes text;
  const Status own = status_of([&] { text = pickled(object); });
  const auto given = own.ok() ? bytes_of(text) : std::span<const std::byte>();
  std::vector<std::uint64_t> counts;
  std::vector<std::byte> all;
  std::uint64_t most = 0;
  checked_without_gil([&]() -> Status {
    TESSERA_RETURN_IF_ERROR(team.agree(own));
    TESSERA_ASSIGN_OR_RETURN(counts, team.allgather_value(std::uint64_t{given.size()}));
    most = *std::max_element(counts.begin(), counts.end());
    return team.do_together([&] {
      std::vector<std::byte> padded(given.begin(), given.end());
      padded.resize(most);
      all.resize(most * counts.size());
      return team.allgather(padded, all);
    });
  });
  py::list objects;
  for (std::size_t member = 0; member < counts.size(); ++member) {
    objects.append(unpickled(std::span(all).subspan(member * most, counts[member])));
  }
  return objects;
}

}  // namespace tessera::python
