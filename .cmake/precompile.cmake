# SPDX-License-Identifier: BSD-3-Clause
# Precompiles headers of the standard library, fmt and GoogleTest for targets of several C++ sources:
# parsing them is most of what compiling takes. Sources include what they use all the same; the
# legs `headers`, `fuzz` and `tidy` of tests/run see them without. Included last of all.

# Fewer sources don't earn what the headers cost.
set(tessera_least_precompiled 4)
set(tessera_precompiled
  <algorithm> <array> <atomic> <chrono> <complex> <cstdint> <cstring> <functional> <limits> <map>
  <memory> <mutex> <optional> <span> <sstream> <string> <string_view> <thread> <unordered_map>
  <utility> <vector> <fmt/format.h>)

# GCC 12 forgets that what was precompiled is the system's, and warns of the insides of strings that
# it inlines from there. Sources where it does go without.
set(tessera_not_precompiled
  tessera_tool_parts apps/tool/info.cpp
  tessera_bench_support bench/support/topology.cpp
  test_rma_wire tests/rma/wire_test.cpp
  test_arrays tests/arrays/ranks/array_test.cpp
  test_arrays tests/arrays/ranks/creation_test.cpp
  test_arrays tests/arrays/ranks/sections_test.cpp
  test_regression tests/regression/jobs_test.cpp
  test_spmv tests/apps/spmv/public_matrices_test.cpp)

# All targets that were made in a folder and below.
function(tessera_list_targets folder result)
  get_property(found DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    tessera_list_targets(${below} more)
    list(APPEND found ${more})
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

function(tessera_precompile target)
  get_target_property(kind ${target} TYPE)
  if(NOT kind MATCHES "LIBRARY|EXECUTABLE" OR kind STREQUAL INTERFACE_LIBRARY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "[.]cpp$")
  list(LENGTH sources count)
  if(count LESS tessera_least_precompiled)
    return()
  endif()
  set(headers ${tessera_precompiled})
  get_target_property(libraries ${target} LINK_LIBRARIES)
  if(libraries MATCHES "GTest::")
    list(APPEND headers <gtest/gtest.h>)
  endif()
  list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1>")
  target_precompile_headers(${target} PRIVATE ${headers})
endfunction()

if(TESSERA_PRECOMPILE)
  tessera_list_targets(${PROJECT_SOURCE_DIR} targets)
  foreach(target IN LISTS targets)
    tessera_precompile(${target})
  endforeach()
  while(tessera_not_precompiled)
    list(POP_FRONT tessera_not_precompiled target source)
    if(TARGET ${target})
      set_source_files_properties(${PROJECT_SOURCE_DIR}/${source} TARGET_DIRECTORY ${target}
        PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endwhile()
endif()
