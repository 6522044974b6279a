# SPDX-License-Identifier: BSD-3-Clause
# Compiles several sources of a target together. Parsing headers takes most of the compile time, so a
# clean build takes about a third. After a change of one source its whole batch is compiled again:
# -DTESSERA_UNITY=OFF is for those who develop Tessera, and for tools that need a command for each source.
# Sources with definitions or options of their own are compiled alone. Must be included before precompile.

set(tessera_unity_batch 10)
# Tests have more code in each source.
set(tessera_unity_batch_of_tests 5)
# Sources that are compiled alone, by the beginning of their path: C sources, and those whose macros,
# using directives or system headers contradict others.
set(tessera_compiled_alone
  apps/spmv/partition_metis.cpp apps/spmv/partition_scotch.cpp
  rma/server/wire/wire.cpp rma/transport/tcp/tcp.cpp
  tests/arrays/ranks/array_values_test.cpp
  tests/fuzz/ tests/rdma-vm/
  tests/support/failing_new.cpp
  tests/rma/log_test.cpp tests/rma/memory_test.cpp
  # Without precompiled headers: see precompile.cmake.
  apps/tool/info.cpp bench/support/machine.cpp
  tests/apps/ccsd/equations_test.cpp tests/apps/spmv/public_matrices_test.cpp
  tests/arrays/ranks/array_test.cpp tests/arrays/ranks/creation_test.cpp
  tests/arrays/ranks/halo_accumulate_test.cpp tests/arrays/ranks/sections_test.cpp
  tests/regression/jobs_test.cpp)

# All targets that were created in a folder and below.
function(tessera_list_targets folder result)
  get_property(found DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    tessera_list_targets(${below} more)
    list(APPEND found ${more})
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# True if a source, named by its path in the project, is compiled alone.
function(tessera_is_compiled_alone path result)
  set(${result} FALSE PARENT_SCOPE)
  if(path MATCHES "[.]c$")
    set(${result} TRUE PARENT_SCOPE)
  endif()
  foreach(beginning IN LISTS tessera_compiled_alone)
    string(FIND "${path}" "${beginning}" at)
    if(at EQUAL 0)
      set(${result} TRUE PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

function(tessera_compile_together target)
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder} NORMALIZE)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
    tessera_is_compiled_alone("${path}" is_alone)
    if(is_alone)
      set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES
        SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
  set(batch ${tessera_unity_batch})
  if(folder MATCHES "^${PROJECT_SOURCE_DIR}/tests")
    set(batch ${tessera_unity_batch_of_tests})
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
endfunction()

if(TESSERA_UNITY)
  # GCC takes the sources of a batch for headers, and warns about their anonymous namespaces. Names of
  # one source may hide those of another.
  target_compile_options(tessera_flags INTERFACE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage> $<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow>)
  tessera_list_targets(${PROJECT_SOURCE_DIR} targets)
  foreach(target IN LISTS targets)
    get_target_property(kind ${target} TYPE)
    if(kind MATCHES "LIBRARY|EXECUTABLE" AND NOT kind STREQUAL INTERFACE_LIBRARY)
      tessera_compile_together(${target})
    endif()
  endforeach()
endif()
