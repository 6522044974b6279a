# SPDX-License-Identifier: BSD-3-Clause
# Run at each build: writes OUTPUT from INPUT with VERSION and the state of the repository SOURCE; does
# not touch OUTPUT if nothing has changed.
set(TESSERA_BENCH_GIT "")
if(GIT)
  execute_process(COMMAND ${GIT} describe --always --dirty WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE TESSERA_BENCH_GIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT TESSERA_BENCH_GIT)
  set(TESSERA_BENCH_GIT unknown)
endif()
configure_file(${INPUT} ${OUTPUT} @ONLY)
