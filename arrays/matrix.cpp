// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "arrays/chunk_engine.hpp"
#include "arrays/detail/arithmetic.hpp"
#include "arrays/transform.hpp"

namespace tessera::arrays {

using rma::Code;
using rma::Status;

namespace {

template <class T>
Status check_matrix(std::string_view verb, const Subarray<T>& a) {
  if (a.box().ndims() == 2) {
    return {};
  }
  return Status::error(Code::invalid_argument,
                       fmt::format("{} of {}, which has {} dimension{}", verb, a.array().describe(),
                                   a.box().ndims(), a.box().ndims() == 1 ? "" : "s"))
      .hint("a matrix has two dimensions");
}

// For symmetrize().
template <class T>
Status check_square(const Subarray<T>& a) {
  TESSERA_RETURN_IF_ERROR(check_matrix("symmetrize", a));
  if (a.box().extent(0) == a.box().extent(1)) {
    return {};
  }
  return Status::error(Code::invalid_argument,
                       fmt::format("symmetrize of {} of {}, which is {}", to_string(a.box()),
                                   a.array().describe(), to_string(a.box().extents())))
      .hint("only a square matrix has a transpose of its own shape");
}

template <class T>
std::int64_t diagonal_length(const Subarray<T>& a) {
  return std::min(a.box().extent(0), a.box().extent(1));
}

// The part of the diagonal in a chunk, counted from the part's lower corner.
struct DiagonalRange {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
};

DiagonalRange diagonal_in(const Chunk& chunk, const Box& matrix) {
  const std::int64_t lo = std::max(chunk.box.lo(0) - matrix.lo(0), chunk.box.lo(1) - matrix.lo(1));
  const std::int64_t hi = std::min(chunk.box.hi(0) - matrix.lo(0), chunk.box.hi(1) - matrix.lo(1));
  return lo < hi ? DiagonalRange{lo, hi} : DiagonalRange{};
}

// Calls body(element, i) for each diagonal element of a chunk; i is counted from the stretch's
// start.
template <class T, class Body>
void for_each_diagonal(const Chunk& chunk, const Box& matrix, const DiagonalRange& stretch,
                       Body&& body) {
  const LocalView<T> view = chunk.view<T>(0);
  const std::int64_t row = stretch.lo + matrix.lo(0) - chunk.box.lo(0);
  const std::int64_t column = stretch.lo + matrix.lo(1) - chunk.box.lo(1);
  for (std::int64_t i = 0; i < stretch.hi - stretch.lo; ++i) {
    body(view(row + i, column + i), i);
  }
}

// Operands must match as far as check_operands() can check, and the vector must have the diagonal's
// length.
enum class Written : bool { matrix, vector };

template <class T>
Status check_with_vector(std::string_view verb, const Subarray<T>& a, const Subarray<T>& v,
                         Written written) {
  TESSERA_RETURN_IF_ERROR(check_matrix(verb, a));
  TESSERA_RETURN_IF_ERROR(v.array().check_open().context(std::string(verb)));
  if (v.box().ndims() != 1 || v.box().extent(0) != diagonal_length(a)) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("{}: the diagonal of {} has {} elements, but the vector {} has extent {}", verb,
                    a.array().describe(), diagonal_length(a), v.array().describe(),
                    to_string(v.box().extents())));
  }
  // The general rules are checked with a box that has the vector's length: inside, teams, access,
  // overlap.
  Box square = a.box();
  square.set(0, square.lo(0), square.lo(0) + diagonal_length(a));
  std::array operands{ChunkOperand{&a.array(), square, written == Written::matrix},
                      reads_along(0, v)};
  operands[1].is_written = written == Written::vector;
  return check_operands(verb, operands);
}

// a(i, i) = combine(a(i, i), v(i))
template <class T, class Combine>
Status combine_diagonal(std::string_view verb, const Subarray<T>& a, const Subarray<T>& v,
                        Combine&& combine) {
  Status found = check_with_vector(verb, a, v, Written::matrix);
  const Status fenced = found.ok() ? v.array().fence() : Status();
  const std::array operands{writes(a)};
  std::vector<T> values;
  const auto combine_chunk = [&](const Chunk& chunk) {
    TESSERA_RETURN_IF_ERROR(fenced);
    const DiagonalRange stretch = diagonal_in(chunk, a.box());
    values.resize(static_cast<std::size_t>(stretch.hi - stretch.lo));
    const std::int64_t first = v.box().lo(0);
    TESSERA_RETURN_IF_ERROR(v.array().get(Box({first + stretch.lo}, {first + stretch.hi}), values));
    for_each_diagonal<T>(chunk, a.box(), stretch, [&](T& element, std::int64_t i) {
      element = combine(element, values[static_cast<std::size_t>(i)]);
    });
    return Status();
  };
  return on_chunks(verb, operands, combine_chunk, std::move(found), std::array{reads(v)});
}

template <class T, class Change>
Status change_diagonal(std::string_view verb, const Subarray<T>& a, T value, Change&& change) {
  const std::array operands{writes(a)};
  const auto change_chunk = [&](const Chunk& chunk) {
    for_each_diagonal<T>(chunk, a.box(), diagonal_in(chunk, a.box()),
                         [&](T& element, std::int64_t) { element = change(element, value); });
    return Status();
  };
  return on_chunks(verb, operands, change_chunk, check_matrix(verb, a), {},
                   detail::CallSignature().add_scalar(value));
}

template <class T>
T mean(T a, T b) {
  if constexpr (rma::IntegerElement<T>) {
    // Sums of integers may need one more bit.
    using Wide = __int128_t;
    return static_cast<T>((static_cast<Wide>(a) + static_cast<Wide>(b)) / 2);
  } else {
    using Real = decltype(std::real(a));
    constexpr Real half{0.5};
    const T sum = a + b;
    // For large numbers only the sum exceeds the type's range.
    const bool is_finite = std::isfinite(std::real(sum)) && std::isfinite(std::imag(sum));
    return is_finite ? sum * half : a * half + b * half;
  }
}

// symmetrize() for the elements above the diagonal in one chunk of own memory.
template <class T>
class Symmetrizer {
 public:
  Symmetrizer(const Subarray<T>& a, const Chunk& chunk) : a_(a), chunk_(chunk) {}

  /// Halves `box` until it is wholly above the diagonal and small enough.
  Status run(const Box& box) {
    const std::int64_t row = a_.box().lo(0);
    const std::int64_t column = a_.box().lo(1);
    if (box.is_empty() || box.hi(1) - 1 - column <= box.lo(0) - row) {
      return {};  // no element lies above the diagonal
    }
    const bool is_above = box.lo(1) - column > box.hi(0) - 1 - row;
    if (is_above && box.volume() * static_cast<std::int64_t>(sizeof(T)) <= chunk_bytes) {
      return average(box);
    }
    const int dim = box.extent(0) >= box.extent(1) ? 0 : 1;
    const std::int64_t middle = box.lo(dim) + box.extent(dim) / 2;
    Box half = box;
    half.set(dim, box.lo(dim), middle);
    TESSERA_RETURN_IF_ERROR(run(half));
    half.set(dim, middle, box.hi(dim));
    return run(half);
  }

 private:
  Status average(const Box& box) {
    const std::int64_t row = a_.box().lo(0);
    const std::int64_t column = a_.box().lo(1);
    const Box mirrored({box.lo(1) - column + row, box.lo(0) - row + column},
                       {box.hi(1) - column + row, box.hi(0) - row + column});
    below_.resize(static_cast<std::size_t>(box.volume()));
    const LocalView<T> below(below_.data(), mirrored.extents());
    TESSERA_RETURN_IF_ERROR(a_.array().get(mirrored, below));
    const LocalView<T> above =
        chunk_.view<T>(0).sub(box.shifted({-chunk_.box.lo(0), -chunk_.box.lo(1)}));
    for (std::int64_t i = 0; i < above.extent(0); ++i) {
      for (std::int64_t j = 0; j < above.extent(1); ++j) {
        above(i, j) = mean(above(i, j), below(j, i));
        below(j, i) = above(i, j);
      }
    }
    return a_.array().put(mirrored, LocalView<const T>(below));
  }

  const Subarray<T>& a_;
  const Chunk& chunk_;
  std::vector<T> below_;
};

}  // namespace

template <rma::Element T>
Status detail::MatrixOperations<T>::add_diagonal(const Subarray<T>& a, const Subarray<T>& v) {
  return combine_diagonal("add_diagonal", a, v, [](T x, T y) { return detail::add(x, y); });
}

template <rma::Element T>
Status detail::MatrixOperations<T>::set_diagonal(const Subarray<T>& a, const Subarray<T>& v) {
  return combine_diagonal("set_diagonal", a, v, [](T, T y) { return y; });
}

template <rma::Element T>
Status detail::MatrixOperations<T>::get_diagonal(const Subarray<T>& a, const Subarray<T>& v) {
  const CallScope scope("get_diagonal", a.array());
  const std::array operands{reads(a)};
  TESSERA_RETURN_IF_ERROR(begin_on_chunks("get_diagonal", operands,
                                          check_with_vector("get_diagonal", a, v, Written::vector),
                                          std::array{writes(v)}));
  std::vector<T> values;
  const Status own_status = for_each_chunk(operands, [&](const Chunk& chunk) {
    const DiagonalRange stretch = diagonal_in(chunk, a.box());
    values.resize(static_cast<std::size_t>(stretch.hi - stretch.lo));
    for_each_diagonal<const T>(chunk, a.box(), stretch, [&](const T& element, std::int64_t i) {
      values[static_cast<std::size_t>(i)] = element;
    });
    const std::int64_t first = v.box().lo(0);
    return v.array().put(Box({first + stretch.lo}, {first + stretch.hi}), values);
  });
  const Status fenced = v.array().fence();
  return a.array().team().agree(own_status.ok() ? fenced : own_status).context("get_diagonal");
}

template <rma::Element T>
Status detail::MatrixOperations<T>::shift_diagonal(const Subarray<T>& a, T value) {
  return change_diagonal("shift_diagonal", a, value,
                         [](T x, T shift) { return detail::add(x, shift); });
}

template <rma::Element T>
Status detail::MatrixOperations<T>::fill_diagonal(const Subarray<T>& a, T value) {
  return change_diagonal("fill_diagonal", a, value, [](T, T fill) { return fill; });
}

template <rma::Element T>
Status detail::MatrixOperations<T>::scale_along(const Subarray<T>& a, const Subarray<T>& v,
                                                int along) {
  const std::string_view verb = along == 0 ? "scale_rows" : "scale_columns";
  const std::array operands{writes(a), reads_along(along, v)};
  const auto scale_chunk = [](const Chunk& chunk) {
    for_each_element_tuple<T, const T>(
        chunk, [](T& x, const T& factor) { x = detail::multiply(x, factor); });
    return Status();
  };
  return on_chunks(verb, operands, scale_chunk, check_matrix(verb, a));
}

template <rma::Element T>
Status detail::MatrixOperations<T>::symmetrize(const Subarray<T>& a) {
  const std::array operands{writes(a)};
  const auto symmetrize_chunk = [&](const Chunk& chunk) {
    return Symmetrizer<T>(a, chunk).run(chunk.box);
  };
  return on_chunks("symmetrize", operands, symmetrize_chunk, check_square(a));
}

template struct detail::MatrixOperations<std::int8_t>;
template struct detail::MatrixOperations<std::int16_t>;
template struct detail::MatrixOperations<std::int32_t>;
template struct detail::MatrixOperations<std::int64_t>;
template struct detail::MatrixOperations<std::uint8_t>;
template struct detail::MatrixOperations<std::uint16_t>;
template struct detail::MatrixOperations<std::uint32_t>;
template struct detail::MatrixOperations<std::uint64_t>;
template struct detail::MatrixOperations<float>;
template struct detail::MatrixOperations<double>;
template struct detail::MatrixOperations<std::complex<float>>;
template struct detail::MatrixOperations<std::complex<double>>;

}  // namespace tessera::arrays
