// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on all elements of an array or a patch.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <random>

#include "arrays/chunk_engine.hpp"
#include "arrays/elementwise.hpp"
#include "arrays/random.hpp"
#include "fortran/ga/operands.hpp"
#include "fortran/ga/operations.hpp"

namespace tessera::ga {

namespace {

/// For elements without arithmetic.
Status zero_bytes(const Part& part) {
  const arrays::ArrayBase& array = part.record->array();
  const auto bytes = static_cast<std::int64_t>(array.element_bytes());
  const std::array operands{arrays::ChunkOperand{&array, part.box, true}};
  return arrays::on_chunks("zero", operands, [bytes](const arrays::Chunk& chunk) -> Status {
    const auto& memory = chunk.operands[0];
    const Extents extents = chunk.box.extents();
    Index at = Index::zeros(extents.ndims());
    do {
      std::int64_t offset = 0;
      for (int dim = 0; dim < extents.ndims(); ++dim) {
        offset += at[dim] * memory.strides[dim];
      }
      std::memset(memory.data + offset * bytes, 0, static_cast<std::size_t>(bytes));
    } while (arrays::advance(at, extents, arrays::MemoryOrder::row_major));
    return {};
  });
}

/// Random numbers from 0 to `limit`, without it. Both parts of complex ones are below its real
/// part.
template <class T>
Status randomize_part(const arrays::Subarray<T>& part, std::uint64_t seed, T limit) {
  auto end = static_cast<double>(std::real(limit));
  if (end == 0) {
    return arrays::zero(part);
  }
  if constexpr (rma::IntegerElement<T>) {
    end -= end > 0 ? 1 : -1;
  }
  return arrays::fill_random(part, seed, {.low = std::min(0.0, end), .high = std::max(0.0, end)});
}

}  // namespace

Status zero(const Part& part) {
  if (!part.record->array().element().type) {
    return zero_bytes(part);
  }
  return on_parts(std::array{part}, []<class T>(Tag<T>, const auto& of) {
    return arrays::zero(of.template part<T>(0));
  });
}

Status fill(const Part& part, const void* value) {
  return on_parts(std::array{part}, [&]<class T>(Tag<T>, const auto& of) {
    return arrays::fill(of.template part<T>(0), number_at<T>(value));
  });
}

Status scale(const Part& part, const void* alpha) {
  return on_parts(std::array{part}, [&]<class T>(Tag<T>, const auto& of) {
    return arrays::scale(of.template part<T>(0), number_at<T>(alpha));
  });
}

Status add(const void* alpha, const Part& a, const void* beta, const Part& b, const Part& sum) {
  return on_aligned(
      [&]<class T>(Tag<T>, const auto& of) {
        return arrays::add(number_at<T>(alpha), of.template part<T>(1), number_at<T>(beta),
                           of.template part<T>(2), of.template part<T>(0));
      },
      sum, a, b);
}

Status add_constant(const Part& part, const void* value) {
  return on_parts(std::array{part}, [&]<class T>(Tag<T>, const auto& of) {
    return arrays::add_constant(of.template part<T>(0), number_at<T>(value));
  });
}

Status abs_value(const Part& part) {
  return on_parts(std::array{part}, []<class T>(Tag<T>, const auto& of) {
    return arrays::absolute(of.template part<T>(0));
  });
}

Status recip(const Part& part) {
  return on_parts(std::array{part}, []<class T>(Tag<T>, const auto& of) -> Status {
    TESSERA_RETURN_IF_ERROR(check_divisors(of.template part<T>(0)));
    return arrays::reciprocal(of.template part<T>(0));
  });
}

// The seed comes from the C library's generator of the group's first process, so that a program
// that calls srand there gets the same numbers again.
Status randomize(Record& array, const void* limit) {
  rma::Team& team = array.array().team();
  std::int64_t seed = team.rank().value == 0 ? std::rand() : 0;
  TESSERA_RETURN_IF_ERROR(team.broadcast_value(seed, rma::TeamRank{0}));
  return on_parts(std::array{part_of(array)}, [&]<class T>(Tag<T>, const auto& of) {
    return randomize_part(of.template part<T>(0), static_cast<std::uint64_t>(seed),
                          number_at<T>(limit));
  });
}

// The first call of a process decides on the sequence; later seeds have no effect, as in GA.
Result<double> rand(std::int64_t seed) {
  static auto* const generator = new std::mt19937_64(static_cast<std::uint64_t>(seed));
  return std::uniform_real_distribution<double>()(*generator);
}

}  // namespace tessera::ga
