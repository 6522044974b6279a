# SPDX-License-Identifier: BSD-3-Clause
# docs/tuning.md has every setting that `tessera info` prints, with its default, and no others.
#
# Usage: cmake -DPROGRAM=tessera -DPAGE=docs/tuning.md -P tuning_page.cmake
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${PROGRAM} info --json - OUTPUT_VARIABLE info COMMAND_ERROR_IS_FATAL ANY)
file(READ ${PAGE} page)
string(REGEX MATCHALL "\n\\| `TESSERA_[A-Z_]+`" rows "${page}")
list(LENGTH rows row_count)
string(JSON count LENGTH "${info}" settings)
if(NOT row_count EQUAL count)
  message(SEND_ERROR "${PAGE} has rows for ${row_count} settings, and there are ${count}")
endif()
math(EXPR last "${count} - 1")
foreach(i RANGE ${last})
  string(JSON name GET "${info}" settings ${i} name)
  string(JSON default GET "${info}" settings ${i} default)
  if(NOT page MATCHES "\n\\| `${name}` \\| `?${default}`? \\|")
    message(SEND_ERROR "${PAGE} has no row for ${name} with its default ${default}")
  endif()
endforeach()
