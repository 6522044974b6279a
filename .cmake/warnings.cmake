# SPDX-License-Identifier: BSD-3-Clause
# The strict warning set (errors in CI) and the code generation flags that all targets share.
add_library(tessera_flags INTERFACE)
target_compile_options(tessera_flags INTERFACE
  -Wall -Wextra -Wpedantic
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wshadow -Wconversion -Wsign-conversion>
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Wold-style-cast>
  $<$<COMPILE_LANGUAGE:Fortran>:-std=f2018>
  $<$<BOOL:${TESSERA_WERROR}>:-Werror>)
if(TESSERA_NATIVE)
  target_compile_options(tessera_flags INTERFACE -march=native)
endif()
if(TESSERA_SANITIZE)
  target_compile_options(tessera_flags INTERFACE -fsanitize=${TESSERA_SANITIZE}
                         -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(tessera_flags INTERFACE -fsanitize=${TESSERA_SANITIZE})
endif()
if(TESSERA_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "TESSERA_FUZZ needs clang: -DCMAKE_CXX_COMPILER=clang++")
  endif()
  target_compile_options(tessera_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
