// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/reductions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "arrays/chunk_engine.hpp"
#include "arrays/detail/arithmetic.hpp"
#include "arrays/exact_sum.hpp"
#include "arrays/transform.hpp"

namespace tessera::arrays {

using rma::Code;
using rma::Reduction;
using rma::Result;
using rma::Status;

namespace {

// The number of partial sums, which run side by side in vector registers.
constexpr std::int64_t partial_sums = 16;

// The type in which elements are added: double for floats, since a float sum of ones stops at 2^24.
template <class T>
struct SumOf {
  using Type = T;
};
template <>
struct SumOf<float> {
  using Type = double;
};
template <>
struct SumOf<std::complex<float>> {
  using Type = std::complex<double>;
};

// A sum in partial sums, one for each lane.
template <rma::Element T>
class PartialSums {
 public:
  /// Adds term(i) for i = 0 … count − 1.
  template <class Term>
  void add_run(std::int64_t count, Term&& term) noexcept {
    std::int64_t i = 0;
    for (; i + partial_sums <= count; i += partial_sums) {
      for (std::int64_t lane = 0; lane < partial_sums; ++lane) {
        T& sum = sums_[static_cast<std::size_t>(lane)];
        sum = detail::add(sum, term(i + lane));
      }
    }
    for (; i < count; ++i) {
      sums_[0] = detail::add(sums_[0], term(i));
    }
  }
  [[nodiscard]] T value() const noexcept {
    T sum{};
    for (const T part : sums_) {
      sum = detail::add(sum, part);
    }
    return sum;
  }

 private:
  std::array<T, static_cast<std::size_t>(partial_sums)> sums_ = {};
};

// An exact sum of products of real or complex elements: one sum for each part.
template <rma::Element T>
class ExactProducts {
 public:
  void add(T a, T b) noexcept {
    if constexpr (rma::ComplexElement<T>) {
      real_.add_product(a.real(), b.real());
      real_.add_product(-a.imag(), b.imag());
      imaginary_.add_product(a.real(), b.imag());
      imaginary_.add_product(a.imag(), b.real());
    } else {
      real_.add_product(static_cast<double>(a), static_cast<double>(b));
    }
  }
  /// Collective.
  Status combine(rma::Team& team) {
    TESSERA_RETURN_IF_ERROR(team.allreduce(real_.words(), Reduction::sum));
    if constexpr (rma::ComplexElement<T>) {
      TESSERA_RETURN_IF_ERROR(team.allreduce(imaginary_.words(), Reduction::sum));
    }
    return {};
  }
  [[nodiscard]] T value() const noexcept {
    if constexpr (rma::ComplexElement<T>) {
      using Real = typename T::value_type;
      return T(real_.template value_as<Real>(), imaginary_.template value_as<Real>());
    } else if constexpr (rma::IntegerElement<T>) {
      return static_cast<T>(real_.value());
    } else {
      return real_.template value_as<T>();
    }
  }

 private:
  ExactSum real_;
  ExactSum imaginary_;
};

// The options that members must give alike.
detail::CallSignature given(const ReduceOptions& options) {
  return detail::CallSignature().add(options.reproducible);
}

// Collective. Begins, and passes this rank's elements to `body`; all members get all errors.
Status reduce_chunks(std::string_view verb, std::span<const ChunkOperand> operands,
                     const ChunkBody& body, const ReduceOptions& options = {}) {
  TESSERA_RETURN_IF_ERROR(begin_on_chunks(verb, operands, {}, {}, given(options)));
  return operands[0].array->team().agree(for_each_chunk(operands, body)).context(std::string(verb));
}

template <class T>
rma::Team& team_of(const Subarray<T>& part) {
  return part.array().team();
}

// The sum of term(a, b) over all elements, with rounding.
template <class T, class Term>
Result<T> sum_of(std::string_view verb, const Subarray<T>& a, const Subarray<T>& b, Term&& term) {
  using Sum = typename SumOf<T>::Type;
  const detail::CallScope scope(verb, a.array());
  const std::array operands{reads(a), reads(b)};
  PartialSums<Sum> sum;
  TESSERA_RETURN_IF_ERROR(reduce_chunks(verb, operands, [&](const Chunk& chunk) {
    const LoopNest nest = loop_nest(chunk, 2);
    const bool dense = detail::is_dense(nest, 2);
    for_each_run(nest, [&](const auto& offsets) {
      const T* const x = reinterpret_cast<const T*>(chunk.operands[0].data) + offsets[0];
      const T* const y = reinterpret_cast<const T*>(chunk.operands[1].data) + offsets[1];
      const std::int64_t step_x = nest.run.strides[0];
      const std::int64_t step_y = nest.run.strides[1];
      if (dense) {
        sum.add_run(nest.run.count, [&](std::int64_t i) { return term(Sum(x[i]), Sum(y[i])); });
      } else {
        sum.add_run(nest.run.count,
                    [&](std::int64_t i) { return term(Sum(x[i * step_x]), Sum(y[i * step_y])); });
      }
    });
    return Status();
  }));
  TESSERA_ASSIGN_OR_RETURN(const Sum of_all, team_of(a).allreduce(sum.value(), Reduction::sum));
  return static_cast<T>(of_all);
}

// The exact sum of first(a, b) · second(a, b) over all elements.
template <class T, class Factors>
Result<T> exact_sum_of(std::string_view verb, const Subarray<T>& a, const Subarray<T>& b,
                       Factors&& factors) {
  const detail::CallScope scope(verb, a.array());
  const std::array operands{reads(a), reads(b)};
  ExactProducts<T> products;
  const auto add_chunk = [&](const Chunk& chunk) {
    detail::for_each_element_tuple<const T, const T>(chunk, [&](const T& x, const T& y) {
      const auto [first, second] = factors(x, y);
      products.add(first, second);
    });
    return Status();
  };
  TESSERA_RETURN_IF_ERROR(reduce_chunks(verb, operands, add_chunk, {.reproducible = true}));
  TESSERA_RETURN_IF_ERROR(products.combine(team_of(a)));
  return products.value();
}

// Integer sums are exact anyway.
template <class T>
bool is_exact(const ReduceOptions& options) {
  return options.reproducible && !rma::IntegerElement<T>;
}

template <class T>
double magnitude(T x) {
  if constexpr (rma::ComplexElement<T>) {
    return std::abs(std::complex<double>(x));
  } else {
    return std::abs(static_cast<double>(x));
  }
}

// Collective. The largest value of all members; NaN if any member has NaN.
Result<double> max_over_members(rma::Team& team, double mine) {
  std::array<double, 2> found{std::isnan(mine) ? 0 : mine, std::isnan(mine) ? 1.0 : 0.0};
  TESSERA_RETURN_IF_ERROR(team.allreduce(std::span<double>(found), Reduction::max));
  return found[1] > 0 ? std::numeric_limits<double>::quiet_NaN() : found[0];
}

template <class T>
double squared(T x, double scale) {
  if constexpr (rma::ComplexElement<T>) {
    return std::norm(std::complex<double>(x) * scale);
  } else {
    const double scaled = static_cast<double>(x) * scale;
    return scaled * scaled;
  }
}

// The sum of |scale · a|².
template <class T>
Result<double> sum_of_squares(const Subarray<T>& a, double scale, const ReduceOptions& options) {
  const std::array operands{reads(a)};
  ExactProducts<double> exact;
  PartialSums<double> plain;
  const auto add_chunk = [&](const Chunk& chunk) {
    if (options.reproducible) {
      detail::for_each_element_tuple<const T>(chunk, [&](const T& x) {
        exact.add(std::real(x) * scale, std::real(x) * scale);
        exact.add(std::imag(x) * scale, std::imag(x) * scale);
      });
    } else {
      const LoopNest nest = loop_nest(chunk, 1);
      for_each_run(nest, [&](const auto& offsets) {
        const T* const x = reinterpret_cast<const T*>(chunk.operands[0].data) + offsets[0];
        const std::int64_t step = nest.run.strides[0];
        plain.add_run(nest.run.count, [&](std::int64_t i) { return squared(x[i * step], scale); });
      });
    }
    return Status();
  };
  TESSERA_RETURN_IF_ERROR(reduce_chunks("norm2", operands, add_chunk, options));
  if (options.reproducible) {
    TESSERA_RETURN_IF_ERROR(exact.combine(team_of(a)));
    return exact.value();
  }
  return team_of(a).allreduce(plain.value(), Reduction::sum);
}

}  // namespace

template <rma::Element T>
Result<T> detail::Reductions<T>::sum(const Subarray<T>& a, const ReduceOptions& options) {
  return is_exact<T>(options) ? exact_sum_of("sum", a, a, [](T x, T) { return std::pair(x, T{1}); })
                              : sum_of("sum", a, a, [](auto x, auto) { return x; });
}

template <rma::Element T>
Result<T> detail::Reductions<T>::dot(const Subarray<T>& a, const Subarray<T>& b,
                                     const ReduceOptions& options) {
  return is_exact<T>(options) ? exact_sum_of("dot", a, b, [](T x, T y) { return std::pair(x, y); })
                              : sum_of("dot", a, b, [](auto x, auto y) { return multiply(x, y); });
}

template <rma::Element T>
Result<T> detail::Reductions<T>::dot_conjugated(const Subarray<T>& a, const Subarray<T>& b,
                                                const ReduceOptions& options) {
  return is_exact<T>(options) ? exact_sum_of("dot_conjugated", a, b,
                                             [](T x, T y) { return std::pair(conjugate(x), y); })
                              : sum_of("dot_conjugated", a, b,
                                       [](auto x, auto y) { return multiply(conjugate(x), y); });
}

template <rma::Element T>
Result<double> detail::Reductions<T>::norm_max(const Subarray<T>& a) {
  const CallScope scope("norm_max", a.array());
  const std::array operands{reads(a)};
  double most = 0;
  TESSERA_RETURN_IF_ERROR(reduce_chunks("norm_max", operands, [&](const Chunk& chunk) {
    for_each_element_tuple<const T>(chunk, [&](const T& x) {
      const double size = magnitude(x);
      most = size > most || std::isnan(size) ? size : most;
    });
    return Status();
  }));
  return max_over_members(team_of(a), most);
}

template <rma::Element T>
Result<double> detail::Reductions<T>::norm2(const Subarray<T>& a, const ReduceOptions& options) {
  const CallScope scope("norm2", a.array());
  TESSERA_ASSIGN_OR_RETURN(const double plain, sum_of_squares(a, 1, options));
  constexpr double safe =
      std::numeric_limits<double>::min() / std::numeric_limits<double>::epsilon();
  if (std::isnan(plain) || (plain > safe && std::isfinite(plain))) {
    return std::sqrt(plain);
  }
  // Squares that overflowed, or lost digits near the lower end of the range, are computed again
  // with elements scaled to about one.
  TESSERA_ASSIGN_OR_RETURN(const double most, norm_max(a));
  if (most == 0 || !std::isfinite(most)) {
    return most;
  }
  const double scale = std::ldexp(1.0, std::min(-std::ilogb(most), 1000));
  TESSERA_ASSIGN_OR_RETURN(const double scaled, sum_of_squares(a, scale, options));
  return std::sqrt(scaled) / scale;
}

namespace {

// Adds |a| over this rank's part of each line; there is one line for each index of dimension
// `along`.
template <class T>
Status add_line_sums(const Subarray<T>& a, int along, Array<double>& sums) {
  const std::array operands{reads(a)};
  return for_each_chunk(operands, [&](const Chunk& chunk) {
    const LocalView<const T> view = chunk.view<const T>(0);
    std::vector<double> partial(static_cast<std::size_t>(view.extent(along)));
    Index at = Index::zeros(2);
    do {
      partial[static_cast<std::size_t>(at[along])] += magnitude(view[at]);
    } while (advance(
        at, view.extents(),
        chunk.operands[0].strides[1] == 1 ? MemoryOrder::row_major : MemoryOrder::column_major));
    const std::int64_t lo = chunk.box.lo(along) - a.box().lo(along);
    return sums.accumulate(Box({lo}, {lo + view.extent(along)}), partial);
  });
}

template <class T>
Result<double> max_line_sum(std::string_view verb, const Subarray<T>& a, int over) {
  TESSERA_RETURN_IF_ERROR(begin_on_chunks(verb, std::array{reads(a)}));
  const int along = 1 - over;
  TESSERA_ASSIGN_OR_RETURN(auto sums,
                           Array<double>::create(a.array().job(), {a.box().extent(along)},
                                                 {.name = "sums of lines", .team = team_of(a)}));
  TESSERA_RETURN_IF_ERROR(sums.sync(add_line_sums(a, along, sums)).context(std::string(verb)));
  return detail::Reductions<double>::norm_max(part(sums));
}

// The largest sum among the lines of this rank's share; each line is added from its first element
// to its last.
template <class T>
Result<double> max_own_line_sum(const Subarray<T>& a, int over, const BlockPartition1D& partition) {
  const int along = 1 - over;
  const std::int64_t length = a.box().extent(over);
  const std::int64_t at_once = std::max<std::int64_t>(
      1, chunk_bytes / std::max<std::int64_t>(1, length * static_cast<std::int64_t>(sizeof(T))));
  std::vector<T> lines;
  double most = 0;
  const int self = team_of(a).rank().value;
  for (std::int64_t lo = partition.lo(self); lo < partition.hi(self); lo += at_once) {
    Box box = a.box();
    const std::int64_t count = std::min(at_once, partition.hi(self) - lo);
    box.set(along, a.box().lo(along) + lo, a.box().lo(along) + lo + count);
    lines.resize(static_cast<std::size_t>(box.volume()));
    Strides strides = Strides::zeros(2);
    strides[over] = 1;
    strides[along] = length;
    TESSERA_RETURN_IF_ERROR(a.array().get(box, LocalView<T>(lines.data(), box.extents(), strides)));
    for (std::int64_t line = 0; line < count; ++line) {
      double sum = 0;
      for (std::int64_t i = 0; i < length; ++i) {
        sum += magnitude(lines[static_cast<std::size_t>(line * length + i)]);
      }
      most = sum > most || std::isnan(sum) ? sum : most;
    }
  }
  return most;
}

// As above with whole lines, each on one rank.
template <class T>
Result<double> max_whole_line_sum(std::string_view verb, const Subarray<T>& a, int over) {
  const std::array operands{reads(a)};
  TESSERA_RETURN_IF_ERROR(begin_on_chunks(verb, operands, {}, {}, given({.reproducible = true})));
  rma::Team& team = team_of(a);
  TESSERA_ASSIGN_OR_RETURN(const BlockPartition1D partition,
                           BlockPartition1D::even(a.box().extent(1 - over), team.size()));
  const Result<double> most = team.agree([&] { return max_own_line_sum(a, over, partition); });
  TESSERA_RETURN_IF_ERROR(Status(most.status()).context(verb));
  return max_over_members(team, *most);
}

template <class T>
Result<double> line_norm(std::string_view verb, const Subarray<T>& a, int over,
                         const ReduceOptions& options) {
  const detail::CallScope scope(verb, a.array());
  if (a.box().ndims() != 2) {
    Status found =
        Status::error(Code::invalid_argument, fmt::format("{} of {}, which has {} dimensions", verb,
                                                          a.array().describe(), a.box().ndims()))
            .hint("norm1 and norm_infinity are defined for matrices and vectors");
    return begin_on_chunks(verb, std::array{reads(a)}, std::move(found));
  }
  return options.reproducible ? max_whole_line_sum(verb, a, over) : max_line_sum(verb, a, over);
}

// The sum of all |a|.
template <class T>
Result<double> sum_of_magnitudes(const Subarray<T>& a, const ReduceOptions& options) {
  const detail::CallScope scope("norm1", a.array());
  const std::array operands{reads(a)};
  ExactProducts<double> exact;
  double plain = 0;
  const auto add_chunk = [&](const Chunk& chunk) {
    detail::for_each_element_tuple<const T>(chunk, [&](const T& x) {
      if (options.reproducible) {
        exact.add(magnitude(x), 1);
      } else {
        plain += magnitude(x);
      }
    });
    return Status();
  };
  TESSERA_RETURN_IF_ERROR(reduce_chunks("norm1", operands, add_chunk, options));
  if (options.reproducible) {
    TESSERA_RETURN_IF_ERROR(exact.combine(team_of(a)));
    return exact.value();
  }
  return team_of(a).allreduce(plain, Reduction::sum);
}

}  // namespace

template <rma::Element T>
Result<double> detail::Reductions<T>::norm1(const Subarray<T>& a, const ReduceOptions& options) {
  return a.box().ndims() == 1 ? sum_of_magnitudes(a, options) : line_norm("norm1", a, 0, options);
}

template <rma::Element T>
Result<double> detail::Reductions<T>::norm_infinity(const Subarray<T>& a,
                                                    const ReduceOptions& options) {
  return a.box().ndims() == 1 ? norm_max(a) : line_norm("norm_infinity", a, 1, options);
}

namespace {

// A rank's best element, in the form that is sent to others.
template <class T>
struct Candidate {
  T value{};
  std::int64_t position = -1;  // index in row-major order of the box; −1: none
};

template <class T>
bool is_better(const Candidate<T>& a, const Candidate<T>& b, bool largest) {
  if (a.position < 0 || b.position < 0) {
    return b.position < 0 && a.position >= 0;
  }
  if (detail::is_nan(a.value) != detail::is_nan(b.value)) {
    return detail::is_nan(b.value);
  }
  const bool is_less = detail::is_less(a.value, b.value);
  const bool is_more = detail::is_less(b.value, a.value);
  return is_less == is_more ? a.position < b.position : largest ? is_more : is_less;
}

Index index_at(std::int64_t position, const Box& box) {
  Index at = box.lo();
  for (int dim = box.ndims() - 1; dim >= 0; --dim) {
    at[dim] += position % box.extent(dim);
    position /= box.extent(dim);
  }
  return at;
}

}  // namespace

template <rma::Element T>
Result<Selected<T>> detail::Reductions<T>::select(const Subarray<T>& a, bool largest) {
  const std::array operands{reads(a)};
  const Strides strides = dense_strides(a.box().extents());
  Candidate<T> best;
  const std::string_view verb = largest ? "select_max" : "select_min";
  const CallScope scope(verb, a.array());
  TESSERA_RETURN_IF_ERROR(reduce_chunks(verb, operands, [&](const Chunk& chunk) {
    const LocalView<const T> view = chunk.view<const T>(0);
    const std::int64_t first = distance(a.box().lo(), chunk.box.lo(), strides);
    Index at = Index::zeros(view.ndims());
    do {
      const Candidate<T> candidate{view[at],
                                   first + distance(Index::zeros(at.ndims()), at, strides)};
      best = is_better(candidate, best, largest) ? candidate : best;
    } while (advance(at, view.extents(), MemoryOrder::row_major));
    return Status();
  }));
  TESSERA_ASSIGN_OR_RETURN(const auto all, team_of(a).allgather_value(best));
  for (const Candidate<T>& candidate : all) {
    best = is_better(candidate, best, largest) ? candidate : best;
  }
  if (best.position < 0) {
    return a.array().name_rank(
        Status::error(Code::invalid_argument,
                      fmt::format("{} of {}: there are no elements", verb, a.array().describe())));
  }
  return Selected<T>{best.value, index_at(best.position, a.box())};
}

template struct detail::Reductions<std::int8_t>;
template struct detail::Reductions<std::int16_t>;
template struct detail::Reductions<std::int32_t>;
template struct detail::Reductions<std::int64_t>;
template struct detail::Reductions<std::uint8_t>;
template struct detail::Reductions<std::uint16_t>;
template struct detail::Reductions<std::uint32_t>;
template struct detail::Reductions<std::uint64_t>;
template struct detail::Reductions<float>;
template struct detail::Reductions<double>;
template struct detail::Reductions<std::complex<float>>;
template struct detail::Reductions<std::complex<double>>;

}  // namespace tessera::arrays
