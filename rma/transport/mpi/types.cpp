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
