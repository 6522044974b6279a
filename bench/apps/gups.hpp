// SPDX-License-Identifier: BSD-3-Clause
//
// Suite "gups": HPC Challenge's RandomAccess. All ranks update random words of a table that is
// spread over them. Afterwards the updates are undone and the table is checked.
//
// The table has a power of two of words, the positions come from HPC Challenge's random numbers,
// and a rank may work on at most 1024 updates at a time. Two things differ. An update adds the
// random number instead of combining it by exclusive or, since accumulate computes sums. A
// repetition is 1024 updates per rank, so that several ways can be measured alternately.
//
// HPC Challenge allows 1 % of the words to be wrong at the end, because ranks may lose each other's
// updates. Here this holds for plain loads and stores, which may lose more in a small table
// (allowed_lost_words). All other ways must be exact.
#pragma once

#include "bench/session.hpp"

namespace tessera::bench {

void measure_gups(Session& session);

}  // namespace tessera::bench
