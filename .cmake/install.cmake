# SPDX-License-Identifier: BSD-3-Clause
# Files that other projects need to use an installed Tessera:
#   CMake       find_package(tessera COMPONENTS arrays), then link tessera::arrays
#   pkg-config  tessera_arrays
# The headers are in include/tessera; programs include <tessera/arrays/array.hpp>.
# Both work after the installed tree was moved.
include(CMakePackageConfigHelpers)

set(tessera_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)

# The libraries that a layer links: PUBLIC for its users too, or PRIVATE for itself only.
function(tessera_link_items layer visibility result)
  get_target_property(all tessera_${layer} LINK_LIBRARIES)
  get_target_property(public tessera_${layer} INTERFACE_LINK_LIBRARIES)
  list(TRANSFORM all REPLACE "^\\$<BUILD_INTERFACE:(MPI::MPI_C)>$" "\\1")  # tessera_link_mpi()
  foreach(list all public)
    if(NOT ${list})
      set(${list} "")
    endif()
    list(TRANSFORM ${list} GENEX_STRIP)  # $<LINK_ONLY:…>: the private ones of a static library
    list(REMOVE_ITEM ${list} "")
  endforeach()
  list(REMOVE_ITEM all ${public})
  if(visibility STREQUAL PUBLIC)
    set(${result} ${public} PARENT_SCOPE)
  else()
    set(${result} ${all} PARENT_SCOPE)
  endif()
endfunction()

# The packages that find_package(tessera) must find first: those that public headers need, and in a
# static build all that are linked.
function(tessera_packages_of_users result)
  get_property(layers GLOBAL PROPERTY TESSERA_LAYERS)
  set(packages "")
  foreach(layer IN LISTS layers)
    tessera_link_items(${layer} PUBLIC items)
    if(NOT BUILD_SHARED_LIBS)
      tessera_link_items(${layer} PRIVATE private_items)
      list(APPEND items ${private_items})
    endif()
    list(FILTER items INCLUDE REGEX "::")
    list(TRANSFORM items REPLACE "::.*" "")  # Threads::Threads is in the package Threads
    list(APPEND packages ${items})
  endforeach()
  list(REMOVE_DUPLICATES packages)
  list(REMOVE_ITEM packages tessera MPI)
  list(JOIN packages " " packages)
  set(${result} "${packages}" PARENT_SCOPE)
endfunction()

# Libraries that a C++ compiler links and a C compiler doesn't: the C++ runtime and its dependencies.
set(tessera_cxx_runtime ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(REMOVE_ITEM tessera_cxx_runtime ${CMAKE_C_IMPLICIT_LINK_LIBRARIES})
list(REMOVE_DUPLICATES tessera_cxx_runtime)

# Sorts the libraries that a layer links into pkg-config modules and plain linker flags.
function(tessera_pkg_config_of layer visibility modules_result flags_result)
  tessera_link_items(${layer} ${visibility} items)
  set(modules "")
  set(flags "")
  foreach(item IN LISTS items)
    if(item MATCHES "^tessera::(.+)$")
      list(APPEND modules tessera_${CMAKE_MATCH_1})
    elseif(item STREQUAL Threads::Threads)
      list(APPEND flags -pthread)
    elseif(item STREQUAL MPI::MPI_C)
      list(APPEND flags ${MPI_C_LIBRARIES})
    elseif(item STREQUAL fmt::fmt)
      list(APPEND flags -lfmt)  # not as a module: users of the shared library need not have it
    elseif(item STREQUAL ZLIB::ZLIB)
      list(APPEND flags -lz)
    elseif(item MATCHES "^nlohmann_json::|^CLI11::")
      continue()  # headers only, and only while Tessera itself is built
    elseif(item MATCHES "::")
      message(FATAL_ERROR ".cmake/install.cmake does not know the pkg-config name of ${item}; "
                          "add it to tessera_pkg_config_of()")
    elseif(IS_ABSOLUTE "${item}" OR item MATCHES "^-")
      list(APPEND flags ${item})
    else()
      list(APPEND flags -l${item})
    endif()
  endforeach()
  list(JOIN modules " " modules)
  list(JOIN flags " " flags)
  set(${modules_result} "${modules}" PARENT_SCOPE)
  set(${flags_result} "${flags}" PARENT_SCOPE)
endfunction()

# The same for `pkg-config --static` of a layer that C programs link, without the C++ runtime. In a build
# of shared libraries its archive also contains the layers below, which have no archives, and is next to
# the shared library of its name. A preceding `-Wl,-Bstatic` selects the archive, and ends before the
# libraries of others; it has no effect if there are only archives.
function(tessera_pkg_config_of_archive layer modules_result flags_result)
  tessera_pkg_config_of(${layer} PRIVATE modules flags)
  if(BUILD_SHARED_LIBS)
    string(REGEX REPLACE "tessera_([a-z]+)" "\\1" layers_below "${modules}")
    separate_arguments(layers_below)
    set(modules "")
    foreach(below IN LISTS layers_below)
      foreach(visibility PUBLIC PRIVATE)
        tessera_pkg_config_of(${below} ${visibility} none more)
        string(APPEND flags " ${more}")
      endforeach()
    endforeach()
  endif()
  list(TRANSFORM tessera_cxx_runtime PREPEND -l OUTPUT_VARIABLE runtime)
  separate_arguments(flags)
  list(REMOVE_DUPLICATES flags)
  list(JOIN flags " " flags)
  list(JOIN runtime " " runtime)
  set(${modules_result} "${modules}" PARENT_SCOPE)
  set(${flags_result} "-Wl,-Bdynamic ${flags} ${runtime}" PARENT_SCOPE)
endfunction()

# Writes and installs tessera_<layer>.pc.
function(tessera_pkg_config_file layer)
  set(pc_layer ${layer})
  get_target_property(is_foreign tessera_${layer} TESSERA_FOREIGN)
  get_target_property(is_for_c tessera_${layer} TESSERA_FOR_C)
  set(pc_description "its layer ${layer}; compile with -std=c++20")
  if(is_for_c)
    set(pc_description "its layer ${layer}; C and C++")
  endif()
  get_target_property(pc_modules tessera_${layer} TESSERA_MODULES)
  if(pc_modules)
    set(pc_description "its Fortran module, for ${CMAKE_Fortran_COMPILER_ID} ${CMAKE_Fortran_COMPILER_VERSION}")
    get_target_property(pc_options tessera_${layer} COMPILE_OPTIONS)
    if(pc_options)
      string(APPEND pc_description " ${pc_options}")
    endif()
  endif()
  tessera_pkg_config_of(${layer} PUBLIC pc_requires pc_flags)
  tessera_pkg_config_of(${layer} PRIVATE pc_requires_private pc_flags_private)
  if(is_for_c)
    tessera_pkg_config_of_archive(${layer} pc_requires_private pc_flags_private)
  endif()
  if(NOT BUILD_SHARED_LIBS)  # no shared library brings these
    string(APPEND pc_requires " ${pc_requires_private}")
    string(APPEND pc_flags " ${pc_flags_private}")
    if(NOT is_for_c)  # the lowest layer has them at the end, after all archives that need them
      list(TRANSFORM tessera_cxx_runtime PREPEND -l OUTPUT_VARIABLE runtime)
      list(JOIN runtime " " runtime)
      string(APPEND pc_flags " ${runtime}")
    endif()
  endif()
  set(pc_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  set(pc_libdir ${CMAKE_INSTALL_LIBDIR})
  set(pc_includedir ${CMAKE_INSTALL_INCLUDEDIR})
  if(IS_ABSOLUTE "${pc_folder}" OR IS_ABSOLUTE "${pc_includedir}")
    set(pc_prefix ${CMAKE_INSTALL_PREFIX})
    set(pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
    set(pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
  else()
    file(RELATIVE_PATH up "/prefix/${pc_folder}" "/prefix")
    string(REGEX REPLACE "/$" "" up "${up}")
    set(pc_prefix "\${pcfiledir}/${up}")
    set(pc_libdir "\${prefix}/${pc_libdir}")
    set(pc_includedir "\${prefix}/${pc_includedir}")
  endif()
  set(pc_more_includes "")
  if(is_foreign)
    set(pc_more_includes " -I\${includedir}/tessera/${layer}")
  endif()
  if(pc_modules)
    string(REGEX REPLACE "^${CMAKE_INSTALL_LIBDIR}/" "" pc_modules "${pc_modules}")
    set(pc_more_includes " -I\${libdir}/${pc_modules}")
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/.cmake/tessera_layer.pc.in
                 ${PROJECT_BINARY_DIR}/pkgconfig/tessera_${layer}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/tessera_${layer}.pc DESTINATION ${pc_folder}
          COMPONENT ${layer})
endfunction()

get_property(tessera_layers GLOBAL PROPERTY TESSERA_LAYERS)
foreach(layer IN LISTS tessera_layers)
  tessera_pkg_config_file(${layer})
endforeach()

tessera_packages_of_users(TESSERA_PACKAGES)
list(JOIN tessera_layers " " TESSERA_COMPONENTS)
set(TESSERA_CXX_RUNTIME "")  # for archives
if(NOT BUILD_SHARED_LIBS)
  list(JOIN tessera_cxx_runtime " " TESSERA_CXX_RUNTIME)
endif()
configure_package_config_file(${PROJECT_SOURCE_DIR}/.cmake/tessera-config.cmake.in
  ${PROJECT_BINARY_DIR}/tessera-config.cmake INSTALL_DESTINATION ${tessera_cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tessera-config-version.cmake
  COMPATIBILITY ${tessera_compatibility})
install(FILES ${PROJECT_BINARY_DIR}/tessera-config.cmake
              ${PROJECT_BINARY_DIR}/tessera-config-version.cmake
        DESTINATION ${tessera_cmake_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/tessera)
if(tessera_layers)
  install(EXPORT tessera_targets NAMESPACE tessera:: FILE tessera-targets.cmake
          DESTINATION ${tessera_cmake_dir})
endif()
