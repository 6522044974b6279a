// SPDX-License-Identifier: BSD-3-Clause
//
// How long threads of this process have been running on a processor.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tessera::bench {

/// Local. The total of all threads of this process whose name is `name`; empty if no thread has
/// that name, or if the kernel doesn't report it. Names are as in pthread_setname_np().
std::optional<std::chrono::nanoseconds> processor_time_of(std::string_view name);

/// Nanoseconds that the calling thread has been running, including in the kernel; a Clock. Throws
/// std::system_error if the kernel doesn't report it. Cost: a system call.
std::int64_t thread_time_ns();

}  // namespace tessera::bench
