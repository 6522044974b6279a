# SPDX-License-Identifier: BSD-3-Clause
# tessera_feature(NAME FOUND DETAIL): adds a line to the table that configure prints at its end. FOUND is
# a truth value. DETAIL names the library or version that was found, or says why there is none and what
# would change that. Call it where the decision is made.
function(tessera_feature name found detail)
  if(found)
    set(found yes)
  else()
    set(found no)
  endif()
  string(REPLACE ";" "\\;" detail "${detail}")  # part of the sentence, not a list separator
  set_property(GLOBAL APPEND PROPERTY TESSERA_FEATURE_NAMES "${name}")
  set_property(GLOBAL APPEND PROPERTY TESSERA_FEATURE_FOUND "${found}")
  set_property(GLOBAL APPEND PROPERTY TESSERA_FEATURE_DETAILS "${detail}")
endfunction()
