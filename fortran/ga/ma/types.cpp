// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/ga/ma/types.hpp"

#include "fortran/ga/ma/bases.h"

namespace tessera::ga::ma {
namespace {

template <class T>
ElementKind kind(std::string_view name, T* base, std::size_t bytes = sizeof(T)) {
  return {name, bytes, reinterpret_cast<std::byte*>(base)};
}

std::array<ElementKind, MT_NUMTYPES>& kinds() noexcept {
  static std::array<ElementKind, MT_NUMTYPES> all{
      kind("MT_C_CHAR", ma_cb_char),
      kind("MT_C_INT", ma_cb_int),
      kind("MT_C_LONGINT", ma_cb_long),
      kind("MT_C_FLOAT", ma_cb_float),
      kind("MT_C_DBL", ma_cb_dbl),
      kind("MT_C_LDBL", ma_cb_ldbl),
      kind("MT_C_SCPL", ma_cb_scpl),
      kind("MT_C_DCPL", ma_cb_dcpl),
      kind("MT_C_LDCPL", ma_cb_ldcpl),
      kind("MT_F_BYTE", mbc_byte_),
      kind("MT_F_INT", mbc_int_),
      kind("MT_F_LOG", mbc_log_),
      kind("MT_F_REAL", mbc_real_),
      kind("MT_F_DBL", mbc_dbl_),
      kind("MT_F_SCPL", mbc_scpl_, 2 * sizeof(float)),
      kind("MT_F_DCPL", mbc_dcpl_, 2 * sizeof(double)),
      kind("MT_C_LONGLONG", ma_cb_longlong),
  };
  return all;
}

}  // namespace

const ElementKind* find_kind(Integer code) noexcept {
  if (code < MT_FIRST || code > MT_LAST) {
    return nullptr;
  }
  return &kinds()[static_cast<std::size_t>(code - MT_FIRST)];
}

void set_commons(const std::array<void*, 7>& commons) noexcept {
  for (std::size_t i = 0; i < commons.size(); ++i) {
    if (commons[i] != nullptr) {
      kinds()[MT_F_BYTE - MT_FIRST + i].base = static_cast<std::byte*>(commons[i]);
    }
  }
}

}  // namespace tessera::ga::ma
