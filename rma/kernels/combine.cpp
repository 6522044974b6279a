// SPDX-License-Identifier: BSD-3-Clause
#include "rma/kernels/combine.hpp"

#include <cstdint>
#include <cstring>

#include "rma/arithmetic.hpp"

namespace tessera::rma::kernels {
namespace {

template <class T, class Combine>
void combine_elements(std::byte* target, const std::byte* source, std::size_t bytes,
                      const Combine& combine) noexcept {
  for (std::size_t at = 0; at < bytes; at += sizeof(T)) {
    T old;
    T operand;
    std::memcpy(&old, target + at, sizeof(T));
    std::memcpy(&operand, source + at, sizeof(T));
    old = combine(old, operand);
    std::memcpy(target + at, &old, sizeof(T));
  }
}

// Calls `body(combine)` with the function of two elements of type T that `op` names.
template <RealElement T, class Body>
void with_combine(AccumulateOp op, const Body& body) {
  switch (op) {
    case AccumulateOp::min:
      return body([](T a, T b) { return lesser(a, b); });
    case AccumulateOp::max:
      return body([](T a, T b) { return greater(a, b); });
    default:
      break;
  }
  if constexpr (IntegerElement<T>) {
    switch (op) {
      case AccumulateOp::bit_or:
        return body([](T a, T b) { return static_cast<T>(a | b); });
      case AccumulateOp::bit_and:
        return body([](T a, T b) { return static_cast<T>(a & b); });
      case AccumulateOp::bit_xor:
        return body([](T a, T b) { return static_cast<T>(a ^ b); });
      default:
        break;
    }
  }
}

}  // namespace

void combine_line(std::byte* target, const std::byte* source, const CopyShape::Level& line,
                  std::size_t run_bytes, const Scale& scale) noexcept {
  dispatch(scale.type(), [&]<class T>(Tag<T>) {
    if constexpr (RealElement<T>) {
      with_combine<T>(scale.op(), [&](const auto& combine) {
        for (std::int64_t i = 0; i < line.count; ++i) {
          combine_elements<T>(target + i * line.remote_stride, source + i * line.local_stride,
                              run_bytes, combine);
        }
      });
    }
  });
}

void combine_run(std::byte* target, const std::byte* source, std::size_t bytes,
                 const Scale& scale) noexcept {
  combine_line(target, source, {1, 0, 0}, bytes, scale);
}

}  // namespace tessera::rma::kernels
