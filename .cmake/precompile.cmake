# SPDX-License-Identifier: BSD-3-Clause
# Precompiles headers of the standard library, fmt and GoogleTest, whose parsing takes most of the
# compile time. Once for all targets with the same compile options. Sources still include what they use;
# the legs `headers`, `fuzz` and `tidy` of tests/run compile without precompiled headers. Must be included
# last.

# With fewer sources of a kind the precompiled headers take longer than they save.
set(tessera_least_precompiled 4)
set(tessera_precompiled
  <algorithm> <array> <atomic> <chrono> <complex> <cstdint> <cstring> <functional> <limits> <map>
  <memory> <mutex> <optional> <span> <sstream> <string> <string_view> <thread> <unordered_map>
  <utility> <vector> <fmt/format.h>)

# GCC 12 forgets that precompiled headers are system headers, and warns about code of strings that it
# inlines from them. Sources with such warnings do not use them; nor do sources with xxHash inline: at
# -O0 GCC uses its AVX-512 header for optimised code if the precompiled headers are from -O0.
set(tessera_not_precompiled
  tessera_rma rma/server/wire/wire.cpp
  tessera_arrays arrays/checkpoint/checksum.cpp
  tessera_tool_parts apps/tool/info.cpp
  tessera_bench_support bench/support/machine.cpp
  test_rma_wire tests/rma/wire_test.cpp
  test_arrays tests/arrays/ranks/array_test.cpp
  test_arrays tests/arrays/ranks/creation_test.cpp
  test_arrays tests/arrays/ranks/halo_accumulate_test.cpp
  test_arrays tests/arrays/ranks/sections_test.cpp
  test_regression tests/regression/jobs_test.cpp
  test_ccsd tests/apps/ccsd/equations_test.cpp
  test_spmv tests/apps/spmv/public_matrices_test.cpp
  rig_hello tests/rigs/hello.cpp)  # for another processor

# What targets with GoogleTest link.
set(tessera_with_gtest "GTest::|test_support")

# Sets `result`_headers to the headers of a target, and `result`_key to a hash of its compile options,
# which is the same for targets that can share precompiled headers.
function(tessera_describe_target target result)
  get_target_property(kind ${target} TYPE)
  get_target_property(options ${target} COMPILE_OPTIONS)
  if(NOT options)
    set(options)
  endif()
  # Warnings do not change what headers mean.
  list(FILTER options EXCLUDE REGEX "^([$]<[$]<CXX_COMPILER_ID:GNU>:)?-W")
  get_target_property(standard ${target} CXX_STANDARD)
  set(all_checks)
  if(TESSERA_SANITIZE)
    get_target_property(all_checks ${target} TESSERA_ALL_CHECKS)  # see warnings.cmake
  endif()
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  set(headers ${tessera_precompiled})
  set(is_program FALSE)
  if(kind STREQUAL EXECUTABLE)
    set(is_program TRUE)
  endif()
  if(libraries MATCHES "${tessera_with_gtest}" OR folder MATCHES "^${PROJECT_SOURCE_DIR}/tests" OR
     (TESSERA_TESTS AND folder MATCHES "^${PROJECT_SOURCE_DIR}/docs"))
    list(APPEND headers <gtest/gtest.h>)
  endif()
  set(${result}_headers ${headers} PARENT_SCOPE)
  string(MD5 key "${headers} ${is_program} ${options} ${standard} ${all_checks}")
  set(${result}_key ${key} PARENT_SCOPE)
endfunction()

# Definitions of fmt and GoogleTest, for targets that do not link them but share the headers.
function(tessera_define_for target headers)
  target_compile_definitions(${target} PRIVATE
    $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  if(headers MATCHES gtest AND NOT libraries MATCHES "${tessera_with_gtest}")
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:$<TARGET_PROPERTY:GTest::gtest,INTERFACE_COMPILE_OPTIONS>>)
  endif()
endfunction()

# A separate target whose precompiled headers others share; `like` is one of them.
function(tessera_add_carrier name like headers)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cpp CONTENT "// Targets have a source.\n")
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
  foreach(property COMPILE_OPTIONS CXX_STANDARD TESSERA_ALL_CHECKS)
    get_target_property(value ${like} ${property})
    if(NOT value MATCHES "-NOTFOUND$")
      set_target_properties(${name} PROPERTIES ${property} "${value}")
    endif()
  endforeach()
  get_target_property(kind ${like} TYPE)
  if(kind STREQUAL EXECUTABLE)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIE)
  endif()
  target_link_libraries(${name} PRIVATE tessera_flags)
  tessera_define_for(${name} "${headers}")
  list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1>")
  target_precompile_headers(${name} PRIVATE ${headers})
endfunction()

# Groups targets with C++ sources that can share headers, and adds a target for each large group.
function(tessera_precompile_all)
  tessera_list_targets(${PROJECT_SOURCE_DIR} targets)
  set(keys)
  foreach(target IN LISTS targets)
    get_target_property(kind ${target} TYPE)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "[.]cpp$")
    if(kind MATCHES "LIBRARY|EXECUTABLE" AND NOT kind STREQUAL INTERFACE_LIBRARY AND sources)
      tessera_describe_target(${target} described)
      list(APPEND keys ${described_key})
      list(APPEND targets_${described_key} ${target})
      list(APPEND sources_${described_key} ${sources})
      set(headers_${described_key} ${described_headers})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES keys)
  foreach(key IN LISTS keys)
    list(LENGTH sources_${key} count)
    if(count LESS tessera_least_precompiled)
      continue()
    endif()
    list(GET targets_${key} 0 first)
    set(carrier tessera_precompiled_for_${first})
    tessera_add_carrier(${carrier} ${first} "${headers_${key}}")
    foreach(target IN LISTS targets_${key})
      tessera_define_for(${target} "${headers_${key}}")
      target_precompile_headers(${target} REUSE_FROM ${carrier})
    endforeach()
  endforeach()
endfunction()

if(TESSERA_PRECOMPILE)
  tessera_precompile_all()
  while(tessera_not_precompiled)
    list(POP_FRONT tessera_not_precompiled target source)
    if(TARGET ${target})
      set_source_files_properties(${PROJECT_SOURCE_DIR}/${source} TARGET_DIRECTORY ${target}
        PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endwhile()
endif()
