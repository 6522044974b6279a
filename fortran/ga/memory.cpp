// SPDX-License-Identifier: BSD-3-Clause
//
// Work arrays: functions of GA's library that are in none of its headers, and that programs call.
#include <cstdlib>

#include "fortran/ga/entry.hpp"

namespace tessera::ga {
namespace {

void* work_array(F elements, Type type) {
  const std::size_t bytes = size_of(from_fortran(static_cast<std::int64_t>(type)));
  void* memory = nullptr;
  enter("ga_malloc", [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(check_count(elements));
    TESSERA_RETURN_IF_ERROR(element_kind(type).status());
    memory = std::malloc(static_cast<std::size_t>(elements > 0 ? elements : 1) * bytes);
    return memory == nullptr ? Status::error(Code::no_memory, "this process has no memory left")
                             : Status();
  });
  return memory;
}

}  // namespace
}  // namespace tessera::ga

namespace ga = tessera::ga;

extern "C" {

void* ga_malloc(ga::F elements, int type, const char* /*name*/) {
  return ga::work_array(elements, static_cast<ga::Type>(type));
}
void ga_free(void* memory) {
  std::free(memory);
}
void* pnga_malloc(ga::F elements, int type, const char* name) {
  return ga_malloc(elements, type, name);
}
void pnga_free(void* memory) {
  ga_free(memory);
}

}  // extern "C"
