# SPDX-License-Identifier: BSD-3-Clause
# Documents for users, below share/doc/tessera: the pages and the guide, the examples, which can be built
# there (docs/examples/installed), and the sources of the Fortran modules, whose comments describe each
# procedure. tests/install/documents checks that all of them are there.
if(PROJECT_IS_TOP_LEVEL)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc
    PATTERN CMakeLists.txt EXCLUDE
    PATTERN installed EXCLUDE)
  install(FILES ${PROJECT_SOURCE_DIR}/docs/examples/installed/CMakeLists.txt
    DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT doc)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/fortran/modules
    DESTINATION ${CMAKE_INSTALL_DOCDIR}/fortran COMPONENT doc FILES_MATCHING PATTERN "*.f90")
endif()
