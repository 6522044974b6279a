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

Status fill_part(const Part& part, const void* value) {
  return on_parts(std::array{part}, [&]<class T>(Tag<T>, const auto& of) {
    return arrays::fill(of.template part<T>(0), number_at<T>(value));
  });
}

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

Status zero_part(const Part& part) {
  if (!part.record->array().element().type) {
    return zero_bytes(part);
  }
  return on_parts(std::array{part}, []<class T>(Tag<T>, const auto& of) {
    return arrays::zero(of.template part<T>(0));
  });
}

Status scale_part(const Part& part, const void* alpha) {
  return on_parts(std::array{part}, [&]<class T>(Tag<T>, const auto& of) {
    return arrays::scale(of.template part<T>(0), number_at<T>(alpha));
  });
}

Status add_constant_part(const Part& part, const void* value) {
  return on_parts(std::array{part}, [&]<class T>(Tag<T>, const auto& of) {
    return arrays::add_constant(of.template part<T>(0), number_at<T>(value));
  });
}

Status absolute_part(const Part& part) {
  return on_parts(std::array{part}, []<class T>(Tag<T>, const auto& of) {
    return arrays::absolute(of.template part<T>(0));
  });
}

Status reciprocal_part(const Part& part) {
  return on_parts(std::array{part}, []<class T>(Tag<T>, const auto& of) -> Status {
    TESSERA_RETURN_IF_ERROR(check_divisors(of.template part<T>(0)));
    return arrays::reciprocal(of.template part<T>(0));
  });
}

Status add_parts(const void* alpha, const Part& a, const void* beta, const Part& b,
                 const Part& sum) {
  return on_aligned(
      [&]<class T>(Tag<T>, const auto& of) {
        return arrays::add(number_at<T>(alpha), of.template part<T>(1), number_at<T>(beta),
                           of.template part<T>(2), of.template part<T>(0));
      },
      sum, a, b);
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

Status zero(Record& array) {
  return zero_part(part_of(array));
}

Status zero_patch(Record& array, const Box& box) {
  return zero_part(part_of(array, box));
}

Status fill(Record& array, const void* value) {
  return fill_part(part_of(array), value);
}

Status fill_patch(Record& array, const Box& box, const void* value) {
  return fill_part(part_of(array, box), value);
}

Status scale(Record& array, const void* alpha) {
  return scale_part(part_of(array), alpha);
}

Status scale_patch(Record& array, const Box& box, const void* alpha) {
  return scale_part(part_of(array, box), alpha);
}

Status add(const void* alpha, Record& a, const void* beta, Record& b, Record& sum) {
  return add_parts(alpha, part_of(a), beta, part_of(b), part_of(sum));
}

Status add_patch(const void* alpha, Record& a, const Box& a_box, const void* beta, Record& b,
                 const Box& b_box, Record& sum, const Box& sum_box) {
  return add_parts(alpha, part_of(a, a_box), beta, part_of(b, b_box), part_of(sum, sum_box));
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
  static auto* const generator = new std::mt19937_64(static_cast<std::uint64_t>(std::abs(seed)));
  return std::uniform_real_distribution<double>()(*generator);
}

Status abs_value(Record& array) {
  return absolute_part(part_of(array));
}

Status abs_value_patch(Record& array, const Box& box) {
  return absolute_part(part_of(array, box));
}

Status add_constant(Record& array, const void* value) {
  return add_constant_part(part_of(array), value);
}

Status add_constant_patch(Record& array, const Box& box, const void* value) {
  return add_constant_part(part_of(array, box), value);
}

Status recip(Record& array) {
  return reciprocal_part(part_of(array));
}

Status recip_patch(Record& array, const Box& box) {
  return reciprocal_part(part_of(array, box));
}

}  // namespace tessera::ga
