// SPDX-License-Identifier: BSD-3-Clause
//
// How long threads of this process have been running on a processor.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tessera::bench {

/// Local. Of all threads of this process whose name is `name`, together; none when there is no such
/// thread or the kernel doesn't tell. Names are as pthread_setname_np() takes them.
std::optional<std::chrono::nanoseconds> processor_time_of(std::string_view name);

/// Nanoseconds that the calling thread has been running, in the kernel, too: a Clock.
/// Throws std::system_error where the kernel doesn't tell. Cost: a system call.
std::int64_t thread_time_ns();

}  // namespace tessera::bench
