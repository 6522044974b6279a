# SPDX-License-Identifier: BSD-3-Clause
# Compiles several sources of a target together. Parsing headers takes most of the compile time, so a
# clean build takes about a third. After a change of one source its whole batch is compiled again:
# -DTESSERA_UNITY=OFF is for those who develop Tessera, and for tools that need a command for each source.
# Sources with definitions or options of their own are compiled alone. Must be included before precompile.

set(tessera_unity_batch 10)
# Folders whose sources have private functions of the same names.
set(tessera_compiled_alone fortran apps bench)
# Sources whose system headers contradict those of other sources.
set_source_files_properties(${PROJECT_SOURCE_DIR}/rma/transport/tcp/tcp.cpp TARGET_DIRECTORY tessera_rma
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

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

if(TESSERA_UNITY)
  # GCC takes the sources of a batch for headers, and warns about their anonymous namespaces.
  target_compile_options(tessera_flags INTERFACE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  tessera_list_targets(${PROJECT_SOURCE_DIR} targets)
  foreach(target IN LISTS targets)
    get_target_property(kind ${target} TYPE)
    get_target_property(folder ${target} SOURCE_DIR)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    string(REGEX REPLACE "/.*" "" folder "${folder}")
    if(kind MATCHES "LIBRARY|EXECUTABLE" AND NOT kind STREQUAL INTERFACE_LIBRARY
       AND NOT folder IN_LIST tessera_compiled_alone)
      get_target_property(sources ${target} SOURCES)
      list(FILTER sources INCLUDE REGEX "[.]c$")
      set_source_files_properties(${sources} TARGET_DIRECTORY ${target} PROPERTIES
        SKIP_UNITY_BUILD_INCLUSION ON)
      set_target_properties(${target} PROPERTIES
        UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${tessera_unity_batch})
    endif()
  endforeach()
endif()
