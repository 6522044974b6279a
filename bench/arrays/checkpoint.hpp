// SPDX-License-Identifier: BSD-3-Clause
//
// Writing and reading a checkpoint of one array, compared with bare system calls that do the same
// with each rank's own memory: each writes its part of one file and flushes it to the device, and
// rank 0 renames the file.
#pragma once

#include "bench/session.hpp"

namespace tessera::bench {

void measure_checkpoint_write(Session& session);
void measure_checkpoint_read(Session& session);
/// Reads what all ranks have written: by all ranks, by half of them, and by one.
void measure_checkpoint_restart(Session& session);

}  // namespace tessera::bench
