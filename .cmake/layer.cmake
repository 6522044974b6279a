# SPDX-License-Identifier: BSD-3-Clause
# tessera_layer(NAME SOURCES … HEADERS … LINK …): one library of the house. HEADERS are its public
# ones (those directly in its folder); they are installed, the rest is private.
function(tessera_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS;LINK;PRIVATE_LINK" ${ARGN})
  add_library(tessera_${name} ${arg_SOURCES})
  add_library(tessera::${name} ALIAS tessera_${name})
  target_include_directories(tessera_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tessera>)
  target_compile_features(tessera_${name} PUBLIC cxx_std_20)
  target_link_libraries(tessera_${name} PUBLIC ${arg_LINK}
                        PRIVATE $<BUILD_INTERFACE:tessera_flags> ${arg_PRIVATE_LINK})
  set_target_properties(tessera_${name} PROPERTIES EXPORT_NAME ${name}
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  install(TARGETS tessera_${name} EXPORT tessera_targets)
  install(FILES ${arg_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera/${name})
endfunction()

# tessera_program(NAME SOURCES … LINK …): an executable in build/bin that is installed.
function(tessera_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE tessera_flags ${arg_LINK})
  install(TARGETS ${name})
endfunction()
