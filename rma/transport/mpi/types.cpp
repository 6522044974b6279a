// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/types.hpp"

namespace tessera::rma::mpi {

AddedType added_type(ElementType type) noexcept {
  switch (type) {
    case ElementType::i32:
      return {MPI_INT32_T, sizeof(std::int32_t)};
    case ElementType::i64:
      return {MPI_INT64_T, sizeof(std::int64_t)};
    case ElementType::f32:
    case ElementType::c64:
      return {MPI_FLOAT, sizeof(float)};
    case ElementType::i8:
      return {MPI_INT8_T, sizeof(std::int8_t)};
    case ElementType::i16:
      return {MPI_INT16_T, sizeof(std::int16_t)};
    case ElementType::u8:
      return {MPI_UINT8_T, sizeof(std::uint8_t)};
    case ElementType::u16:
      return {MPI_UINT16_T, sizeof(std::uint16_t)};
    case ElementType::u32:
      return {MPI_UINT32_T, sizeof(std::uint32_t)};
    case ElementType::u64:
      return {MPI_UINT64_T, sizeof(std::uint64_t)};
    case ElementType::f64:
    case ElementType::c128:
      break;
  }
  return {MPI_DOUBLE, sizeof(double)};
}

MPI_Op op_of(const Scale& scale) noexcept {
  switch (scale.op()) {
    case AccumulateOp::min:
      return MPI_MIN;
    case AccumulateOp::max:
      return MPI_MAX;
    case AccumulateOp::bit_or:
      return MPI_BOR;
    case AccumulateOp::bit_and:
      return MPI_BAND;
    case AccumulateOp::bit_xor:
      return MPI_BXOR;
    case AccumulateOp::sum:
      break;
  }
  return MPI_SUM;
}

MPI_Op op_of(AtomicRequest::Kind kind) noexcept {
  using Kind = AtomicRequest::Kind;
  switch (kind) {
    case Kind::fetch_min:
      return MPI_MIN;
    case Kind::fetch_max:
      return MPI_MAX;
    case Kind::fetch_or:
      return MPI_BOR;
    case Kind::fetch_and:
      return MPI_BAND;
    case Kind::fetch_xor:
      return MPI_BXOR;
    case Kind::swap:
    case Kind::compare_swap:
      return MPI_REPLACE;
    case Kind::fetch_add:
      break;
  }
  return MPI_SUM;
}

MPI_Datatype word_type(std::size_t bytes) noexcept {
  switch (bytes) {
    case sizeof(std::uint16_t):
      return MPI_UINT16_T;
    case sizeof(std::uint32_t):
      return MPI_UINT32_T;
    case sizeof(std::uint64_t):
      return MPI_UINT64_T;
    default:
      return MPI_UINT8_T;
  }
}

}  // namespace tessera::rma::mpi
