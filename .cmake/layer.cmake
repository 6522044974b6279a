# SPDX-License-Identifier: BSD-3-Clause
# The two kinds of targets that are built and installed: a library layer and a program.

# The path of the libraries relative to the programs, so that an installed tree may be moved as a whole.
if(TESSERA_INSTALL AND NOT IS_ABSOLUTE "${CMAKE_INSTALL_BINDIR}" AND NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  file(RELATIVE_PATH tessera_lib_from_bin "/prefix/${CMAKE_INSTALL_BINDIR}"
       "/prefix/${CMAKE_INSTALL_LIBDIR}")
  set(tessera_program_rpath "$ORIGIN/${tessera_lib_from_bin}")
else()
  set(tessera_program_rpath "${CMAKE_INSTALL_FULL_LIBDIR}")
endif()

# `cmake --build build --target programs` builds what a user runs, without the tests.
if(TESSERA_APPS)
  add_custom_target(programs)
endif()

# The package file states the same for CMake: before 1.0 a new minor version may change the interface.
set(tessera_compatibility SameMinorVersion)
set(tessera_soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

# install(…), if TESSERA_INSTALL is on.
function(tessera_install)
  if(TESSERA_INSTALL)
    install(${ARGN})
  endif()
endfunction()

# Links a target with MPI. Projects that use an installed archive link the same libraries by their paths,
# because FindMPI needs a language that they may not have enabled.
function(tessera_link_mpi target)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:MPI::MPI_C>)
  foreach(library IN LISTS MPI_C_LIBRARIES)
    target_link_libraries(${target} PRIVATE $<INSTALL_INTERFACE:${library}>)
  endforeach()
endfunction()

# tessera_layer(NAME SOURCES … HEADERS … LINK … PRIVATE_LINK …): one library of Tessera. HEADERS are its
# public headers (those directly in its folder); they are installed, all others are private. LINK lists
# the libraries that its headers need, PRIVATE_LINK those that only its sources need. FOREIGN is for the
# interface of another library, whose C headers are found by their names alone. C_INTERFACE is for
# Tessera's own C headers. FOLDER is the folder of the headers, if it is not the layer's name. The layer
# is a component of the same name: `cmake --install build --component rma`.
function(tessera_layer name)
  cmake_parse_arguments(arg "FOREIGN;C_INTERFACE" "FOLDER" "SOURCES;HEADERS;LINK;PRIVATE_LINK" ${ARGN})
  if(NOT arg_FOLDER)
    set(arg_FOLDER ${name})
  endif()
  add_library(tessera_${name} ${arg_SOURCES})
  add_library(tessera::${name} ALIAS tessera_${name})
  target_include_directories(tessera_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tessera>)
  if(arg_FOREIGN)
    target_include_directories(tessera_${name} INTERFACE
      $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tessera/${name}>)
    set_property(TARGET tessera_${name} PROPERTY TESSERA_FOREIGN TRUE)
  endif()
  if(arg_FOREIGN OR arg_C_INTERFACE)
    target_compile_features(tessera_${name} PRIVATE cxx_std_20)
    set_property(TARGET tessera_${name} PROPERTY TESSERA_FOR_C TRUE)
  else()
    target_compile_features(tessera_${name} PUBLIC cxx_std_20)
  endif()
  target_link_libraries(tessera_${name} PUBLIC ${arg_LINK}
                        PRIVATE $<BUILD_INTERFACE:tessera_flags> ${arg_PRIVATE_LINK})
  set_target_properties(tessera_${name} PROPERTIES EXPORT_NAME ${name}
    VERSION ${PROJECT_VERSION} SOVERSION ${tessera_soversion}
    INSTALL_RPATH "$ORIGIN"
    TESSERA_ALL_CHECKS TRUE)  # see warnings.cmake
  tessera_install(TARGETS tessera_${name} EXPORT tessera_targets COMPONENT ${name})
  foreach(header IN LISTS arg_HEADERS)
    get_filename_component(room ${header} DIRECTORY)
    tessera_install(FILES ${header}
      DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera/${arg_FOLDER}/${room} COMPONENT ${name})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY TESSERA_LAYERS ${name})  # for install.cmake and the summary
endfunction()

# For sources that read command lines or write reports, which run once: the headers of CLI11 and JSON
# take long to compile, and half as long with -O1.
function(tessera_compile_fast)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O1>")
endfunction()

# tessera_program(NAME SOURCES … LINK …): an executable in build/bin that is installed.
function(tessera_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  set(mains ${arg_SOURCES})
  list(FILTER mains INCLUDE REGEX "(^|/)main[.]cpp$")
  tessera_compile_fast(${mains})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE tessera_flags ${arg_LINK})
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "${tessera_program_rpath}")
  add_dependencies(programs ${name})
  tessera_install(TARGETS ${name})
endfunction()
