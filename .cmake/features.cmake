# SPDX-License-Identifier: BSD-3-Clause
# tessera_feature(NAME FOUND DETAIL): a line of the table that configure prints at its end. FOUND is
# a truth value; DETAIL says which library or version was found, or else why there is none and what
# would change that. Call it where the decision is made.
function(tessera_feature name found detail)
  if(found)
    set(found yes)
  else()
    set(found no)
  endif()
  string(REPLACE ";" "\\;" detail "${detail}")  # of the sentence, not of the list
  set_property(GLOBAL APPEND PROPERTY TESSERA_FEATURE_NAMES "${name}")
  set_property(GLOBAL APPEND PROPERTY TESSERA_FEATURE_FOUND "${found}")
  set_property(GLOBAL APPEND PROPERTY TESSERA_FEATURE_DETAILS "${detail}")
endfunction()
