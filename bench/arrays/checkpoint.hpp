// SPDX-License-Identifier: BSD-3-Clause
//
// Writing and reading a checkpoint of one array beside bare system calls that do the same with
// memory of the ranks' own: each writes its part of one file, completes it on the device, and rank
// 0 renames it.
#pragma once

#include "bench/session.hpp"

namespace tessera::bench {

void measure_checkpoint_write(Session& session);
void measure_checkpoint_read(Session& session);
/// What all ranks have written, read by all, half of them, and one.
void measure_checkpoint_restart(Session& session);

}  // namespace tessera::bench
