// SPDX-License-Identifier: BSD-3-Clause
//
// Measures what a device takes, on a queue pair that is connected to itself: nothing leaves the
// device, so these are the least that any peer can be reached in. It is done once a process,
// when the first path is opened.
#pragma once

#include <memory>

#include "rma/result.hpp"
#include "rma/verbs/cost_model.hpp"
#include "rma/verbs/device.hpp"
#include "rma/verbs/registration.hpp"

namespace tessera::rma::verbs {

/// Takes about a millisecond, with an emulated device some ten; half a second at most, awake all
/// the time. Errors: unsupported when the device doesn't answer itself; limit_exceeded, no_memory.
Result<DeviceTimes> measure_times(const std::shared_ptr<Device>& device, Registrar& registrar);

}  // namespace tessera::rma::verbs
