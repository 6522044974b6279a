# SPDX-License-Identifier: BSD-3-Clause
# Compares the headers' declarations with those that every_function.c names and the cases call.
#
#   cmake -DHEADERS=DIR -DCASES=DIR -P every_function.cmake
#
# profiled.h calls the functions of parmci.h, under the names that the cases use.

# The functions that a header declares: names at the beginning of a line, before a bracket.
function(declared_functions header result)
  file(READ ${header} text)
  string(REGEX REPLACE "/\\*[^*]*\\*+([^/*][^*]*\\*+)*/" "" text "${text}")
  string(REGEX MATCHALL "\n[a-zA-Z_][a-zA-Z_ *]*[ *][a-zA-Z_0-9]+\\(" lines "${text}")
  set(names "")
  foreach(line IN LISTS lines)
    if(NOT line MATCHES "typedef")
      string(REGEX REPLACE ".*[ *]([a-zA-Z_0-9]+)\\($" "\\1" name "${line}")
      list(APPEND names ${name})
    endif()
  endforeach()
  set(${result} ${names} PARENT_SCOPE)
endfunction()

file(READ ${CASES}/every_function.c named)
file(GLOB files ${CASES}/*_cases.c ${CASES}/main.c ${CASES}/memory.c ${CASES}/check.c
     ${CASES}/profiled.h)
set(called "")
foreach(file IN LISTS files)
  file(READ ${file} text)
  string(APPEND called "${text}")
endforeach()

set(count 0)
set(missing 0)
foreach(header armci message armcix parmci)
  declared_functions(${HEADERS}/${header}.h names)
  foreach(name IN LISTS names)
    math(EXPR count "${count} + 1")
    if(NOT named MATCHES "NAMED\\(${name}\\)")
      message(SEND_ERROR "${name} of ${header}.h is not in every_function.c")
      math(EXPR missing "${missing} + 1")
    endif()
    if(NOT called MATCHES "[^a-zA-Z_0-9]${name}[^a-zA-Z_0-9]")
      message(SEND_ERROR "${name} of ${header}.h is called by no case")
      math(EXPR missing "${missing} + 1")
    endif()
  endforeach()
endforeach()
if(count LESS 200 OR missing GREATER 0)
  message(FATAL_ERROR "${count} functions were found, ${missing} are missing somewhere")
endif()
message("${count} functions")
