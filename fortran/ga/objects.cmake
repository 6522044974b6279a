# SPDX-License-Identifier: BSD-3-Clause
# tessera_ga_objects(NAME SOURCE…): a part of the GA library, as objects. The parts are listed in the
# global property TESSERA_GA_OBJECTS.
function(tessera_ga_objects name)
  add_library(${name} OBJECT ${ARGN})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${name} PRIVATE -fno-semantic-interposition)
  target_link_libraries(${name} PRIVATE
    tessera_flags tessera::armci tessera::arrays tessera::rma fmt::fmt)
  set_target_properties(${name} PROPERTIES TESSERA_ALL_CHECKS TRUE POSITION_INDEPENDENT_CODE ON)
  set_property(GLOBAL APPEND PROPERTY TESSERA_GA_OBJECTS ${name})
endfunction()

# Adds the source that generate_names.py makes of the folder's table `names`.
function(tessera_ga_names target)
  set(table ${CMAKE_CURRENT_SOURCE_DIR}/names)
  set(generator ${PROJECT_SOURCE_DIR}/fortran/ga/generate_names.py)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}_names.cpp)
  add_custom_command(OUTPUT ${source} COMMAND ${TESSERA_PYTHON3} ${generator} ${table} ${source}
    DEPENDS ${table} ${generator} COMMENT "Writing the names of ${target}")
  target_sources(${target} PRIVATE ${source})
endfunction()
