# SPDX-License-Identifier: BSD-3-Clause
# Every switch of the build, with its default.
include(GNUInstallDirs)

option(TESSERA_NATIVE "Compile for the processor of this machine (-march=native)" ON)
option(TESSERA_TESTS "Build the tests (needs GoogleTest and Eigen)" ON)
option(TESSERA_MPI "Support start-up under mpirun and srun (needs an MPI library)" ON)
option(TESSERA_WERROR "Treat warnings as errors" OFF)
option(BUILD_SHARED_LIBS "Build shared libraries" ON)
option(TESSERA_FUZZ "Build the fuzz targets with libFuzzer (needs clang)" OFF)
set(TESSERA_SANITIZE "" CACHE STRING "Sanitizers to compile with, for example address,undefined")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_VISIBILITY_PRESET default)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

if(CMAKE_BUILD_TYPE STREQUAL Release OR CMAKE_BUILD_TYPE STREQUAL RelWithDebInfo)
  string(REPLACE "-O2" "-O3" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
endif()
