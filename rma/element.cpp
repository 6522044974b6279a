// SPDX-License-Identifier: BSD-3-Clause
#include "rma/element.hpp"

namespace tessera::rma {

std::string_view to_string(ElementType type) noexcept {
  switch (type) {
    case ElementType::i32:
      return "int32";
    case ElementType::i64:
      return "int64";
    case ElementType::f32:
      return "float32";
    case ElementType::f64:
      return "float64";
    case ElementType::c64:
      return "complex64";
    case ElementType::c128:
      return "complex128";
    case ElementType::i8:
      return "int8";
    case ElementType::i16:
      return "int16";
    case ElementType::u8:
      return "uint8";
    case ElementType::u16:
      return "uint16";
    case ElementType::u32:
      return "uint32";
    case ElementType::u64:
      return "uint64";
  }
  return "unknown element type";
}

std::string_view to_string(AccumulateOp op) noexcept {
  switch (op) {
    case AccumulateOp::sum:
      return "sum";
    case AccumulateOp::min:
      return "min";
    case AccumulateOp::max:
      return "max";
    case AccumulateOp::bit_or:
      return "bit_or";
    case AccumulateOp::bit_and:
      return "bit_and";
    case AccumulateOp::bit_xor:
      return "bit_xor";
  }
  return "unknown operation";
}

}  // namespace tessera::rma
