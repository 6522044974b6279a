# SPDX-License-Identifier: BSD-3-Clause
# Checks that every test that docs/memory-model.md names exists.
#
#   cmake -DPROGRAM=test_contract -DPAGE=docs/memory-model.md -P memory_model_names.cmake
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE list COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" lines "${list}")
set(suite "")
set(tests "")
foreach(line IN LISTS lines)
  string(REGEX REPLACE " *#.*" "" line "${line}")
  if(line MATCHES "^  (.*)")
    list(APPEND tests "${suite}${CMAKE_MATCH_1}")
  else()
    set(suite "${line}")
  endif()
endforeach()

file(READ ${PAGE} page)
string(REGEX MATCHALL "`[A-Z][A-Za-z/0-9]*\\.[A-Z][A-Za-z_/]*`" names "${page}")
list(LENGTH names count)
foreach(name IN LISTS names)
  string(REPLACE "`" "" name "${name}")
  if(NOT name IN_LIST tests)
    message(SEND_ERROR "${PAGE} names ${name}, which is not a test of ${PROGRAM}")
  endif()
endforeach()
if(count LESS 40)
  message(SEND_ERROR "${PAGE} names only ${count} tests")
endif()
