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

# Links to the source folders, so that <tessera/…> also works with the build.
set(tessera_build_include ${PROJECT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${tessera_build_include}/tessera)

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

# Installs headers in include/tessera/`folder`, with includes in the form that users write.
function(tessera_install_headers component folder)
  if(TESSERA_INSTALL AND ARGN)
    string(REGEX REPLACE "/$" "" folder tessera/${folder})
    install(CODE "
      set(HEADERS \"${ARGN}\")
      set(COPIES \"${PROJECT_BINARY_DIR}/installed_headers/${folder}\")
      set(DESTINATION \"${CMAKE_INSTALL_INCLUDEDIR}/${folder}\")
      include(\"${PROJECT_SOURCE_DIR}/.cmake/install_headers.cmake\")" COMPONENT ${component})
  endif()
endfunction()

# Installs a layer's headers, each in a folder of the same name as in the layer.
function(tessera_install_rooms layer from)
  set(rooms)
  foreach(header IN LISTS ARGN)
    cmake_path(GET header PARENT_PATH room)
    list(APPEND rooms "/${room}")
    list(APPEND headers_of_/${room} ${from}/${header})
  endforeach()
  list(REMOVE_DUPLICATES rooms)
  foreach(room IN LISTS rooms)
    tessera_install_headers(${layer} ${layer}${room} ${headers_of_${room}})
  endforeach()
endfunction()

# tessera_layer(NAME SOURCES … HEADERS … INTERNAL_HEADERS … LINK … PRIVATE_LINK …): one library of
# Tessera. HEADERS are for users. INTERNAL_HEADERS are installed only because HEADERS include them. All
# others are not installed; .ci/check_layers checks the lists. LINK lists the libraries that its headers
# need, PRIVATE_LINK those that only its sources need. FOREIGN is for the interface of another library,
# whose C headers are found by their names alone. C_INTERFACE is for Tessera's own C headers. FOLDER is
# the folder of the headers, if it is not this one; users find them in tessera/NAME. UMBRELLA is a header
# of it that they find in tessera/. The layer is a component: `cmake --install build --component rma`.
function(tessera_layer name)
  cmake_parse_arguments(arg "FOREIGN;C_INTERFACE" "FOLDER;UMBRELLA"
    "SOURCES;HEADERS;INTERNAL_HEADERS;LINK;PRIVATE_LINK" ${ARGN})
  set(from ${CMAKE_CURRENT_SOURCE_DIR})
  if(arg_FOLDER)
    string(APPEND from /${arg_FOLDER})
  endif()
  add_library(tessera_${name} ${arg_SOURCES})
  add_library(tessera::${name} ALIAS tessera_${name})
  target_include_directories(tessera_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${tessera_build_include}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  if(arg_FOREIGN)
    target_include_directories(tessera_${name} INTERFACE
      $<BUILD_INTERFACE:${from}>
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
  if(arg_HEADERS)
    file(CREATE_LINK ${from} ${tessera_build_include}/tessera/${name} SYMBOLIC)
  endif()
  set(headers ${arg_HEADERS} ${arg_INTERNAL_HEADERS})
  tessera_install_rooms(${name} ${from} ${headers})
  if(arg_UMBRELLA)
    file(CREATE_LINK ${from}/${arg_UMBRELLA} ${tessera_build_include}/tessera/${arg_UMBRELLA} SYMBOLIC)
    tessera_install_headers(${name} "" ${from}/${arg_UMBRELLA})
  endif()
  if(NOT (arg_FOREIGN OR arg_C_INTERFACE))
    list(TRANSFORM arg_HEADERS REPLACE "(.+)" "#include <tessera/${name}/\\1>\n")
    set_property(GLOBAL APPEND PROPERTY TESSERA_CXX_HEADERS ${arg_HEADERS})
  endif()
  set_property(GLOBAL APPEND PROPERTY TESSERA_LAYERS ${name})  # for install.cmake and the summary
endfunction()

# Writes and installs tessera/tessera.hpp, with all headers for users of the layers so far, as part of
# the layer `name`.
function(tessera_umbrella_header name)
  get_property(headers GLOBAL PROPERTY TESSERA_CXX_HEADERS)
  list(SORT headers)
  string(CONCAT tessera_includes ${headers})
  configure_file(${PROJECT_SOURCE_DIR}/.cmake/tessera.hpp.in
                 ${tessera_build_include}/tessera/tessera.hpp @ONLY)
  tessera_install(FILES ${tessera_build_include}/tessera/tessera.hpp
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera COMPONENT ${name})
endfunction()

# For sources that read command lines or write reports, which run once: the headers of CLI11 and JSON
# take long to compile, and half as long with -O1.
function(tessera_compile_fast)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O1>")
endfunction()

# tessera_program(NAME SOURCES … LINK …): an executable in build/bin that is installed, as a component.
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
  tessera_install(TARGETS ${name} COMPONENT ${name})
endfunction()
