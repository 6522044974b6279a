# SPDX-License-Identifier: BSD-3-Clause
# The strict warning set (errors in CI) and the code generation flags that all targets share.
add_library(tessera_flags INTERFACE)
target_compile_options(tessera_flags INTERFACE
  -Wall -Wextra -Wpedantic
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wshadow -Wconversion -Wsign-conversion>
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Wold-style-cast>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-psabi> # notes that concern g++ 4.3
  # g++ 12 warns about additions to strings that are correct (its report 105651).
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  $<$<COMPILE_LANGUAGE:Fortran>:-std=f2018>
  $<$<BOOL:${TESSERA_WERROR}>:-Werror>)
# Installed files do not name the build folder, except in debug builds, where debuggers need it.
if(NOT CMAKE_BUILD_TYPE STREQUAL Debug)
  target_compile_options(tessera_flags INTERFACE -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=
    -ffile-prefix-map=${PROJECT_BINARY_DIR}/=)
endif()
if(TESSERA_NATIVE)
  target_compile_options(tessera_flags INTERFACE -march=native)
endif()
if(TESSERA_SANITIZE)
  target_compile_options(tessera_flags INTERFACE -fsanitize=${TESSERA_SANITIZE}
                         -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # gfortran multiplies bounds of any size, and those of undefined pointers, when it passes an array.
  target_compile_options(tessera_flags INTERFACE
    $<$<COMPILE_LANGUAGE:Fortran>:-fno-sanitize=signed-integer-overflow>)
  target_link_options(tessera_flags INTERFACE -fsanitize=${TESSERA_SANITIZE})
  # The checks of each single pointer take g++ two thirds of its time. Only the libraries have them; in
  # callers of the libraries AddressSanitizer finds the same mistakes.
  if(TESSERA_SANITIZE MATCHES "undefined" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(tessera_flags INTERFACE
      $<$<NOT:$<BOOL:$<TARGET_PROPERTY:TESSERA_ALL_CHECKS>>>:-fno-sanitize=null,vptr,object-size,alignment>)
  endif()
endif()
if(TESSERA_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "TESSERA_FUZZ needs clang: -DCMAKE_CXX_COMPILER=clang++")
  endif()
  target_compile_options(tessera_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
