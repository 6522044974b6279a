// SPDX-License-Identifier: BSD-3-Clause
//
// The names of EAF that differ between C and Fortran.
#include "fortran/ga/pario/eaf_calls.hpp"

namespace {

namespace pario = tessera::ga::pario;
constexpr std::string_view file_system = "UFS";

}  // namespace

extern "C" {

int EAF_Stat(const char* path, long* avail_mb, char* fstype, int fslen) {
  if (fslen <= static_cast<int>(file_system.size())) {
    return pario::eaf::code(pario::EafError::too_short);
  }
  pario::copy_text(file_system, fstype, static_cast<std::size_t>(fslen));
  return pario::eaf::free_space(pario::text_of(path), avail_mb);
}
Integer eaf_stat_(const char* path, Integer* free_mib, char* kind, std::size_t path_length,
                  std::size_t kind_length) {
  pario::copy_to_fortran(file_system, kind, kind_length);
  return pario::eaf::free_space(pario::text_of(path, path_length), free_mib);
}
int EAF_Eof(int error) {
  return pario::eaf::is_end(error) ? 0 : 1;
}
Integer eaf_eof_(const Integer* error) {
  return pario::eaf::is_end(*error) ? 1 : 0;
}

}  // extern "C"
