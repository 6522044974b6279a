# SPDX-License-Identifier: BSD-3-Clause
# Installs headers. Within the project they include each other as "rma/job.hpp"; users write
# <tessera/rma/job.hpp>, and so do the installed copies. tessera_install_headers() (layer.cmake) runs this
# script with these variables:
#
#   HEADERS      absolute paths
#   COPIES       a folder of the build, for the changed copies; unchanged ones keep their times
#   DESTINATION  where to install, relative to the prefix or absolute
if(NOT IS_ABSOLUTE "${DESTINATION}")
  set(DESTINATION "${CMAKE_INSTALL_PREFIX}/${DESTINATION}")
endif()
foreach(header IN LISTS HEADERS)
  cmake_path(GET header FILENAME name)
  file(READ "${header}" text)
  string(REGEX REPLACE "#include \"(rma|arrays|linalg)/([^\"\n]+)\"" "#include <tessera/\\1/\\2>" text "${text}")
  string(REGEX REPLACE "#include \"fortran/c/([^\"\n]+)\"" "#include <tessera/c/\\1>" text "${text}")
  set(present "")
  if(EXISTS "${COPIES}/${name}")
    file(READ "${COPIES}/${name}" present)
  endif()
  if(NOT text STREQUAL present)
    file(WRITE "${COPIES}/${name}" "${text}")
  endif()
  file(INSTALL DESTINATION "${DESTINATION}" TYPE FILE FILES "${COPIES}/${name}")
endforeach()
