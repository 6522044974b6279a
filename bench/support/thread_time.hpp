// SPDX-License-Identifier: BSD-3-Clause
//
// How long threads of this process have been running on a processor.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace tessera::bench {

/// Local. Of all threads of this process whose name is `name`, together; none when there is no such
/// thread or the kernel doesn't tell. Names are as pthread_setname_np() takes them.
std::optional<std::chrono::nanoseconds> processor_time_of(std::string_view name);

}  // namespace tessera::bench
