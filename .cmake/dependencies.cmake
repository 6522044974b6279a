# SPDX-License-Identifier: BSD-3-Clause
# Everything that is found outside this tree. A required package that is missing is named by its
# Debian name; an optional one is listed in the summary at the end of configure. The Debian names
# are also in .ci/packages, which apps/run and tests/run install from; .ci/check_style compares.
include(features)

macro(tessera_require package debian)
  find_package(${package} QUIET ${ARGN})
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} was not found. On Debian: apt-get install ${debian}")
  endif()
endmacro()

set(THREADS_PREFER_PTHREAD_FLAG ON)
tessera_require(Threads libc6-dev)
tessera_require(fmt libfmt-dev)
tessera_require(nlohmann_json nlohmann-json3-dev)
tessera_require(CLI11 libcli11-dev)
# Checksums of frames between nodes: headers only, and without a package file for CMake.
find_path(XXHASH_INCLUDE_DIR xxhash.h)
mark_as_advanced(XXHASH_INCLUDE_DIR)
if(NOT XXHASH_INCLUDE_DIR)
  message(FATAL_ERROR "xxHash was not found. On Debian: apt-get install libxxhash-dev")
endif()
# Proofs between nodes. libsodium brings no package file for CMake.
find_path(SODIUM_INCLUDE_DIR sodium.h)
find_library(SODIUM_LIBRARY sodium)
mark_as_advanced(SODIUM_INCLUDE_DIR SODIUM_LIBRARY)
if(NOT SODIUM_INCLUDE_DIR OR NOT SODIUM_LIBRARY)
  message(FATAL_ERROR "libsodium was not found. On Debian: apt-get install libsodium-dev")
endif()
if(TESSERA_MPI)
  find_package(MPI QUIET COMPONENTS C)
  if(NOT MPI_C_FOUND)
    message(FATAL_ERROR "No MPI library was found. On Debian: apt-get install libopenmpi-dev "
                        "openmpi-bin; or configure with -DTESSERA_MPI=OFF")
  endif()
  tessera_feature("Start under mpirun and srun" ON "MPI ${MPI_C_VERSION}, ${MPIEXEC_EXECUTABLE}")
else()
  tessera_feature("Start under mpirun and srun" OFF "switched off by -DTESSERA_MPI=OFF")
endif()
if(TESSERA_TESTS)
  tessera_require(GTest libgtest-dev)
  tessera_require(Eigen3 libeigen3-dev NO_MODULE)
  tessera_feature("Tests" ON "GoogleTest ${GTest_VERSION}, Eigen ${Eigen3_VERSION}")
else()
  tessera_feature("Tests" OFF "switched off by -DTESSERA_TESTS=OFF")
endif()
