# SPDX-License-Identifier: BSD-3-Clause
# Finds the interpreter, headers and NumPy that the Python package is built for. Sets TESSERA_HAS_PYTHON,
# and adds a line to the table of features.
#
# The first `python3` on the path may be one without NumPy, for example of a version manager. So all are
# tried, unless TESSERA_PYTHON_EXECUTABLE names one.

set(TESSERA_PYTHON_EXECUTABLE "" CACHE FILEPATH "The interpreter that the Python package is for; empty: the first that has NumPy")
mark_as_advanced(TESSERA_PYTHON_EXECUTABLE)

# What an interpreter says about itself, as a list: headers, suffix of modules, version, NumPy's version,
# pybind11's folder for CMake. Empty if it has no headers or no NumPy.
function(tessera_ask_python interpreter result)
  execute_process(
    COMMAND ${interpreter} -c "
import os, sysconfig, sys
import numpy
try:
    import pybind11
    cmake = pybind11.get_cmake_dir()
except Exception:
    cmake = ''
include = sysconfig.get_paths()['include']
assert os.path.exists(os.path.join(include, 'Python.h'))
print(include, sysconfig.get_config_var('EXT_SUFFIX'), '%d.%d' % sys.version_info[:2], numpy.__version__,
      cmake or '-', sep=';')"
    OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    set(answer "")
  endif()
  set(${result} "${answer}" PARENT_SCOPE)
endfunction()

set(tessera_interpreters ${TESSERA_PYTHON_EXECUTABLE})
if(NOT tessera_interpreters)
  foreach(folder IN ITEMS $ENV{PATH})
    string(REPLACE ":" ";" folder "${folder}")
    list(TRANSFORM folder APPEND /python3)
    list(APPEND tessera_interpreters ${folder})
  endforeach()
  list(REMOVE_DUPLICATES tessera_interpreters)
endif()
set(TESSERA_HAS_PYTHON FALSE)
foreach(interpreter IN LISTS tessera_interpreters)
  if(NOT EXISTS "${interpreter}")
    continue()
  endif()
  tessera_ask_python("${interpreter}" tessera_answer)
  list(LENGTH tessera_answer tessera_length)
  if(tessera_length EQUAL 5)
    set(TESSERA_HAS_PYTHON TRUE)
    set(TESSERA_PYTHON_FOR_MODULE "${interpreter}")
    list(GET tessera_answer 0 TESSERA_PYTHON_INCLUDE_DIR)
    list(GET tessera_answer 1 TESSERA_PYTHON_SUFFIX)
    list(GET tessera_answer 2 tessera_python_version)
    list(GET tessera_answer 3 tessera_numpy_version)
    list(GET tessera_answer 4 tessera_pybind11_hint)
    break()
  endif()
endforeach()
if(NOT TESSERA_HAS_PYTHON)
  tessera_feature("Python package" OFF
    "no python3 with headers and NumPy; on Debian: apt-get install python3-dev python3-numpy")
  return()
endif()
# Its headers only; it would search an interpreter of its own choice.
set(PYBIND11_NOPYTHON ON)
find_package(pybind11 2.10 QUIET CONFIG HINTS ${tessera_pybind11_hint})
if(NOT pybind11_FOUND)
  set(TESSERA_HAS_PYTHON FALSE)
  tessera_feature("Python package" OFF "no pybind11 2.10 or later; on Debian: apt-get install pybind11-dev")
  return()
endif()
tessera_feature("Python package" ON
  "${TESSERA_PYTHON_FOR_MODULE} ${tessera_python_version}, NumPy ${tessera_numpy_version}, pybind11 ${pybind11_VERSION}")
