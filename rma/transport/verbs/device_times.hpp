// SPDX-License-Identifier: BSD-3-Clause
//
// Measures the times of a device, on a queue pair that is connected to itself. Nothing leaves the
// device, so these are lower bounds for any peer. A process measures once, when it opens its first
// connection.
#pragma once

#include <memory>

#include "rma/base/result.hpp"
#include "rma/transport/verbs/cost_model.hpp"
#include "rma/transport/verbs/device.hpp"
#include "rma/transport/verbs/registration.hpp"

namespace tessera::rma::verbs {

/// Takes about a millisecond, about ten with an emulated device, and at most half a second, without
/// sleeping. Errors: unsupported if the device cannot reach itself; limit_exceeded, no_memory.
Result<DeviceTimes> measure_times(const std::shared_ptr<Device>& device, Registrar& registrar);

}  // namespace tessera::rma::verbs
