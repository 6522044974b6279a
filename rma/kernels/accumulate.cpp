// SPDX-License-Identifier: BSD-3-Clause
//
// Uses the compilers' vector types instead of plain loops. A plain loop over memory that may be
// unaligned, and may be the same on both sides, is vectorised only with run-time checks, which cost
// more than the arithmetic of a short run. Since runs are "equal or disjoint", vectors of any width
// are correct. A tail is a few ever shorter vectors, without a loop.
#include "rma/kernels/accumulate.hpp"

#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "rma/kernels/combine.hpp"
#include "rma/kernels/walk.hpp"
#include "rma/kernels/words.hpp"

namespace tessera::rma::kernels {
namespace {

// Shorter runs are not worth aligning the target to vectors.
constexpr std::size_t align_from_bytes = 2048;

// The parts of an element. Unsigned for integers, since those wrap by definition.
template <Element T>
struct VectorElementOf {
  using type = T;
};
template <IntegerElement T>
struct VectorElementOf<T> {
  using type = std::make_unsigned_t<T>;
};
template <class Part>
struct VectorElementOf<std::complex<Part>> {
  using type = Part;
};
template <Element T>
using VectorElement = typename VectorElementOf<T>::type;

template <class LaneType, std::size_t Bytes>
struct VectorOf {
  using type [[gnu::vector_size(Bytes)]] = LaneType;
};
template <class T, std::size_t Bytes>
using Vector = typename VectorOf<VectorElement<T>, Bytes>::type;

template <class AnyVector, std::size_t... Index>
inline void swap_parts(AnyVector& vector, std::index_sequence<Index...>) noexcept {
  vector = __builtin_shufflevector(vector, vector, (Index ^ 1)...);
}

// y += x
template <Element T>
struct Add {
  using type = T;
  explicit Add(const Scale&) noexcept {}

  template <std::size_t Bytes>
  void apply(Vector<T, Bytes>& y, const Vector<T, Bytes>& x) const noexcept {
    y += x;
  }
};

// y += a x
template <Element T>
struct AddScaled {
  using type = T;
  explicit AddScaled(const Scale& scale) noexcept
      : a(static_cast<VectorElement<T>>(scale.as<T>())) {}

  template <std::size_t Bytes>
  void apply(Vector<T, Bytes>& y, const Vector<T, Bytes>& x) const noexcept {
    y += a * x;
  }

  VectorElement<T> a;
};

// y += a x by parts: re(a) x, plus im(a) times x with its parts swapped and the real one negated.
template <class Part>
struct AddScaled<std::complex<Part>> {
  using type = std::complex<Part>;
  explicit AddScaled(const Scale& scale) noexcept : a(scale.as<type>()) {}

  template <std::size_t Bytes>
  void apply(Vector<type, Bytes>& y, const Vector<type, Bytes>& x) const noexcept {
    constexpr std::size_t lanes = Bytes / sizeof(Part);
    std::array<Part, lanes> signed_imag;
    for (std::size_t i = 0; i < lanes; i += 2) {
      signed_imag[i] = -a.imag();
      signed_imag[i + 1] = a.imag();
    }
    Vector<type, Bytes> imag;
    std::memcpy(&imag, signed_imag.data(), Bytes);
    Vector<type, Bytes> swapped = x;
    swap_parts(swapped, std::make_index_sequence<lanes>());
    y += a.real() * x + imag * swapped;
  }

  type a;
};

// The elements in one vector of `Bytes` bytes, or in its halves if registers are narrower.
template <std::size_t Bytes, class Operation>
inline void step(std::byte* target, const std::byte* source, const Operation& operation) noexcept {
  if constexpr (Bytes > register_bytes) {
    step<Bytes / 2>(target, source, operation);
    step<Bytes / 2>(target + Bytes / 2, source + Bytes / 2, operation);
  } else {
    Vector<typename Operation::type, Bytes> y;
    Vector<typename Operation::type, Bytes> x;
    std::memcpy(&x, source, Bytes);
    std::memcpy(&y, target, Bytes);
    operation.template apply<Bytes>(y, x);
    std::memcpy(target, &y, Bytes);
  }
}

// Whole elements of less than 2 × `Bytes` bytes, by the binary digits of their number.
template <std::size_t Bytes, class Operation>
inline void steps_below(std::byte* target, const std::byte* source, std::size_t bytes,
                        const Operation& operation) noexcept {
  constexpr std::size_t element = sizeof(typename Operation::type);
  if constexpr (Bytes >= element) {
    const std::size_t done = bytes & Bytes;
    if (done != 0) {
      step<Bytes>(target, source, operation);
    }
    steps_below<Bytes / 2>(target + done, source + done, bytes, operation);
  }
}

// Any number of elements.
template <class Operation>
inline void accumulate_elements(std::byte* target, const std::byte* source, std::size_t bytes,
                                const Operation& operation) noexcept {
  constexpr std::size_t element = sizeof(typename Operation::type);
  std::size_t at = 0;
  if (bytes >= align_from_bytes && is_multiple<element>(address_of(target))) {
    // A vector that straddles two cache lines costs twice, mainly when it is stored.
    at = -address_of(target) & (register_bytes - 1);
    steps_below<register_bytes / 2>(target, source, at, operation);
  }
  for (; bytes - at >= 4 * register_bytes; at += 4 * register_bytes) {
    step<register_bytes>(target + at, source + at, operation);
    step<register_bytes>(target + at + register_bytes, source + at + register_bytes, operation);
    step<register_bytes>(target + at + 2 * register_bytes, source + at + 2 * register_bytes,
                         operation);
    step<register_bytes>(target + at + 3 * register_bytes, source + at + 3 * register_bytes,
                         operation);
  }
  steps_below<2 * register_bytes>(target + at, source + at, bytes - at, operation);
}

// Lines of runs of exactly `Bytes` bytes; for 0, of any length.
template <class Operation, std::size_t Bytes>
void accumulate_line(std::byte* target, const std::byte* source, const CopyShape::Level& line,
                     std::size_t run_bytes, const Scale& scale) noexcept {
  const Operation operation(scale);
  const auto [count, source_stride, target_stride] = line;
  for (std::int64_t i = 0; i < count; ++i) {
    std::byte* const to = target + i * target_stride;
    const std::byte* const from = source + i * source_stride;
    if constexpr (Bytes == 0) {
      accumulate_elements(to, from, run_bytes, operation);
    } else {
      // With a constant length, only the vector operations remain.
      accumulate_elements(to, from, Bytes, operation);
    }
  }
}

template <class Operation>
AccumulateLine line_kernel(std::size_t run_bytes) noexcept {
  constexpr std::size_t element = sizeof(typename Operation::type);
  switch (run_bytes / element) {
    case 1:
      return accumulate_line<Operation, element>;
    case 2:
      return accumulate_line<Operation, 2 * element>;
    case 3:
      return accumulate_line<Operation, 3 * element>;
    case 4:
      return accumulate_line<Operation, 4 * element>;
    case 6:
      return accumulate_line<Operation, 6 * element>;
    case 8:
      return accumulate_line<Operation, 8 * element>;
    case 16:
      return accumulate_line<Operation, 16 * element>;
    default:
      return accumulate_line<Operation, 0>;
  }
}

template <class Operation>
void add_listed(std::byte* target, const Fragment* fragments,
                std::span<const std::uint16_t> numbers, const Operation& operation) noexcept {
  constexpr std::size_t element = sizeof(typename Operation::type);
  for (const std::uint16_t number : numbers) {
    const Fragment& each = fragments[number];
    std::byte* const to = target + each.remote_offset;
    const auto* const from = static_cast<const std::byte*>(each.local);
    if (each.bytes == element) [[likely]] {
      step<element>(to, from, operation);
    } else {
      accumulate_elements(to, from, each.bytes, operation);
    }
  }
}

// What is not a sum.
struct NotASum {};

// Calls `body(Tag<Operation>)` with the operation that `scale` requires.
template <class Body>
decltype(auto) with_operation(const Scale& scale, Body&& body) {
  return dispatch(scale.type(), [&]<class T>(Tag<T>) {
    if (scale.is_plain_sum()) {
      return body(Tag<Add<T>>{});
    }
    return scale.is_sum() ? body(Tag<AddScaled<T>>{}) : body(Tag<NotASum>{});
  });
}

}  // namespace

void accumulate_run(void* target, const void* source, std::size_t bytes,
                    const Scale& scale) noexcept {
  with_operation(scale, [&]<class Operation>(Tag<Operation>) {
    auto* const to = static_cast<std::byte*>(target);
    const auto* const from = static_cast<const std::byte*>(source);
    if constexpr (std::is_same_v<Operation, NotASum>) {
      combine_run(to, from, bytes, scale);
    } else {
      accumulate_elements(to, from, bytes, Operation(scale));
    }
  });
}

void accumulate_listed(std::byte* target, const Fragment* fragments,
                       std::span<const std::uint16_t> numbers, const Scale& scale) noexcept {
  with_operation(scale, [&]<class Operation>(Tag<Operation>) {
    if constexpr (std::is_same_v<Operation, NotASum>) {
      for (const std::uint16_t number : numbers) {
        const Fragment& each = fragments[number];
        combine_run(target + each.remote_offset, static_cast<const std::byte*>(each.local),
                    each.bytes, scale);
      }
    } else {
      add_listed(target, fragments, numbers, Operation(scale));
    }
  });
}

AccumulateLine accumulate_line_kernel(std::size_t run_bytes, const Scale& scale) noexcept {
  return with_operation(scale, [&]<class Operation>(Tag<Operation>) -> AccumulateLine {
    if constexpr (std::is_same_v<Operation, NotASum>) {
      return combine_line;
    } else {
      return line_kernel<Operation>(run_bytes);
    }
  });
}

void accumulate_shape(std::byte* target, const std::byte* source, const CopyShape& shape,
                      const Scale& scale) noexcept {
  const AccumulateLine accumulate = accumulate_line_kernel(shape.run_bytes, scale);
  if (shape.levels == 1) {
    accumulate(target, source, shape.level[0], shape.run_bytes, scale);
    return;
  }
  const CopyShape::Level line = line_of(shape);
  for_each_line(shape, [&](std::int64_t local, std::int64_t remote) {
    accumulate(target + remote, source + local, line, shape.run_bytes, scale);
  });
}

}  // namespace tessera::rma::kernels
