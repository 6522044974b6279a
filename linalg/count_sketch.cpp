// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/count_sketch.hpp"

#include <fmt/format.h>

#include <complex>

#include "linalg/detail/agreement.hpp"
#include "linalg/detail/arithmetic.hpp"
#include "linalg/sparse_builder.hpp"

namespace tessera::linalg {

using rma::Code;
using rma::Result;
using rma::Status;

namespace {

// The finaliser of SplitMix64: each bit of the result depends on all of the argument.
constexpr std::uint64_t mix(std::uint64_t bits) noexcept {
  bits = (bits ^ (bits >> 30U)) * 0xbf58'476d'1ce4'e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d0'49bb'1331'11ebU;
  return bits ^ (bits >> 31U);
}

constexpr std::uint64_t golden = 0x9e37'79b9'7f4a'7c15U;

// The options that all members must give alike.
struct SketchKey {
  std::int64_t buckets = 0;
  std::uint64_t seed = 0;
  SketchSide side = SketchSide::rows;
  friend bool operator==(const SketchKey&, const SketchKey&) = default;
};

template <SparseElement T>
Status add_sketched(SparseMatrix<T>& matrix, const SketchKey& asked, SparseBuilder<T>& builder) {
  TESSERA_ASSIGN_OR_RETURN(auto own, matrix.local());
  builder.reserve(own.entries());
  for (std::int64_t i = 0; i < own.rows(); ++i) {
    const std::int64_t row = own.first_row() + i;
    const auto columns = own.columns_of(i);
    const auto values = own.values_of(i);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const bool by_row = asked.side == SketchSide::rows;
      const SketchBucket target =
          sketch_bucket(asked.seed, by_row ? row : columns[k], asked.buckets);
      const T value = target.is_negative ? detail::negate(values[k]) : values[k];
      TESSERA_RETURN_IF_ERROR(by_row ? builder.add(target.bucket, columns[k], value)
                                     : builder.add(row, target.bucket, value));
    }
  }
  return own.end();
}

}  // namespace

SketchBucket sketch_bucket(std::uint64_t seed, std::int64_t index, std::int64_t buckets) noexcept {
  const std::uint64_t hash = mix(mix(seed + golden) ^ (static_cast<std::uint64_t>(index) * golden));
  return {static_cast<std::int64_t>((hash >> 1U) % static_cast<std::uint64_t>(buckets)),
          (hash & 1U) != 0};
}

template <SparseElement T>
Result<SparseMatrix<T>> count_sketch(SparseMatrix<T>& matrix, std::int64_t buckets,
                                     const SketchOptions& options) {
  TESSERA_RETURN_IF_ERROR(matrix.check_open());
  const auto attempt = [&](Status status) {
    return status.ok() ? Status()
                       : std::move(status).context(
                             fmt::format("sketching {} in {} buckets", matrix.describe(), buckets));
  };
  Status given;
  if (buckets < 1) {
    given = Status::error(Code::invalid_argument,
                          fmt::format("{} buckets: a sketch must have at least one", buckets));
  }
  TESSERA_RETURN_IF_ERROR(attempt(matrix.sync(given)));
  const SketchKey asked{buckets, options.seed, options.side};
  TESSERA_RETURN_IF_ERROR(attempt(detail::check_same_on_all(matrix.team(), asked, "sketch")));
  const bool by_row = options.side == SketchSide::rows;
  SparseOptions result = options.result;
  result.team = matrix.team();
  TESSERA_ASSIGN_OR_RETURN(auto builder,
                           SparseBuilder<T>::create(matrix.job(), by_row ? buckets : matrix.rows(),
                                                    by_row ? matrix.columns() : buckets, result));
  TESSERA_RETURN_IF_ERROR(
      attempt(matrix.team().agree([&] { return add_sketched(matrix, asked, builder); })));
  return builder.assemble();
}

template Result<SparseMatrix<std::int32_t>> count_sketch(SparseMatrix<std::int32_t>&, std::int64_t,
                                                         const SketchOptions&);
template Result<SparseMatrix<std::int64_t>> count_sketch(SparseMatrix<std::int64_t>&, std::int64_t,
                                                         const SketchOptions&);
template Result<SparseMatrix<float>> count_sketch(SparseMatrix<float>&, std::int64_t,
                                                  const SketchOptions&);
template Result<SparseMatrix<double>> count_sketch(SparseMatrix<double>&, std::int64_t,
                                                   const SketchOptions&);
template Result<SparseMatrix<std::complex<float>>> count_sketch(SparseMatrix<std::complex<float>>&,
                                                                std::int64_t, const SketchOptions&);
template Result<SparseMatrix<std::complex<double>>> count_sketch(
    SparseMatrix<std::complex<double>>&, std::int64_t, const SketchOptions&);

}  // namespace tessera::linalg
