// SPDX-License-Identifier: BSD-3-Clause
//
// Suite "gups": HPC Challenge's RandomAccess. All ranks update words at random in a table that is
// spread over them, and what they did is undone and looked at afterwards.
//
// The table has a power of two of words, the places come from HPC Challenge's random numbers, and a
// rank may look at most 1024 updates ahead. What differs: an update adds the random number, and
// does not combine it by exclusive or, since accumulate has sums; and a repetition is 1024 updates
// a rank, so that several ways can be measured in alternation.
//
// HPC Challenge allows 1 % of the words to be wrong in the end, for it lets ranks lose each other's
// updates. That goes for plain loads and stores here, which may lose more where the table is small
// (words_that_may_get_lost); all others must be exact.
#pragma once

#include "bench/session.hpp"

namespace tessera::bench {

void measure_gups(Session& session);

}  // namespace tessera::bench
