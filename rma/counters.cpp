// SPDX-License-Identifier: BSD-3-Clause
#include "rma/counters.hpp"

namespace tessera::rma {

std::string_view to_string(Op op) noexcept {
  switch (op) {
    case Op::put:
      return "put";
    case Op::get:
      return "get";
    case Op::accumulate:
      return "accumulate";
    case Op::atomic:
      return "atomic";
    case Op::lock:
      return "lock";
    case Op::notify:
      return "notify";
  }
  return "unknown";
}

std::string_view to_string(Form form) noexcept {
  switch (form) {
    case Form::contiguous:
      return "contiguous";
    case Form::strided:
      return "strided";
    case Form::scattered:
      return "vector";
  }
  return "unknown";
}

Tally Traffic::total(Op op) const noexcept {
  Tally sum;
  for (const PeerTraffic& peer : peers) {
    sum += peer.by_op[static_cast<std::size_t>(op)];
  }
  return sum;
}

}  // namespace tessera::rma
