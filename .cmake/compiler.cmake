# SPDX-License-Identifier: BSD-3-Clause
# Refuses C++ compilers that are too old, before anything is compiled. Compilers that are not listed
# are tried.
set(tessera_oldest_GNU 12)
set(tessera_oldest_Clang 14)

set(tessera_oldest "${tessera_oldest_${CMAKE_CXX_COMPILER_ID}}")
if(tessera_oldest AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS tessera_oldest)
  message(FATAL_ERROR
    "Tessera needs C++20 as g++ ${tessera_oldest_GNU} or clang++ ${tessera_oldest_Clang} has it, or later. "
    "This compiler is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} (${CMAKE_CXX_COMPILER}). "
    "Choose another one in a new build folder:\n"
    "  cmake -S . -B build-new -DCMAKE_CXX_COMPILER=g++-${tessera_oldest_GNU}\n")
endif()
