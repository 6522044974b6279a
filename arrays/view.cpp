// SPDX-License-Identifier: BSD-3-Clause
//
// Error messages for wrong indices, in programs that check views.
#include "arrays/view.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace tessera::arrays::detail {

namespace {

std::string explain_dims(int given, int wanted) {
  return fmt::format("{} {} given for {} dimension{}", given,
                     given == 1 ? "index is" : "indices are", wanted, wanted == 1 ? "" : "s");
}

std::string explain(const Index& index, const Box& covered) {
  if (index.ndims() != covered.ndims()) {
    return explain_dims(index.ndims(), covered.ndims());
  }
  for (int dim = 0; dim < index.ndims(); ++dim) {
    if (index[dim] < covered.lo(dim) || index[dim] >= covered.hi(dim)) {
      return fmt::format("index {} of dimension {} is outside of [{},{})", index[dim], dim,
                         covered.lo(dim), covered.hi(dim));
    }
  }
  return "the array was freed";
}

std::string explain(const Box& box, const Box& covered) {
  if (box.ndims() != covered.ndims()) {
    return fmt::format("a box of {} dimensions is given for {}", box.ndims(), covered.ndims());
  }
  for (int dim = 0; dim < box.ndims(); ++dim) {
    if (box.lo(dim) < covered.lo(dim) || box.hi(dim) > covered.hi(dim)) {
      return fmt::format("[{},{}) of dimension {} is outside of [{},{})", box.lo(dim), box.hi(dim),
                         dim, covered.lo(dim), covered.hi(dim));
    }
  }
  return "the array was freed";
}

template <class Used>
std::string sentence(const Used& used, const Box& covered, const ArrayState* state) {
  const std::string of = state == nullptr ? "local memory" : fmt::format("array '{}'", state->name);
  const bool is_freed = state != nullptr && state->is_freed;
  const std::string why = !is_freed         ? explain(used, covered)
                          : state->is_grown ? std::string("the array was grown")
                                            : std::string("the array was freed");
  return fmt::format("tessera: {} of a view of {}, which covers {}: {}\n", to_string(used), of,
                     to_string(covered), why);
}

[[noreturn]] void fail(const std::string& sentence) noexcept {
  std::fputs(sentence.c_str(), stderr);
  std::abort();
}

}  // namespace

void fail_view(const Index& index, const Box& covered, const ArrayState* state) noexcept {
  fail(sentence(index, covered, state));
}

void fail_view(const Box& box, const Box& covered, const ArrayState* state) noexcept {
  fail(sentence(box, covered, state));
}

}  // namespace tessera::arrays::detail
