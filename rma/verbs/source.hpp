// SPDX-License-Identifier: BSD-3-Clause
//
// The RDMA network of a process: which device it uses, if there is one that it can.
#pragma once

#include <memory>
#include <string>

#include "rma/engine/fabric.hpp"
#include "rma/result.hpp"
#include "rma/transport.hpp"
#include "rma/verbs/library.hpp"

namespace tessera::rma::verbs {

/// Finds the device that the job's settings name, or the best one. Errors: unsupported where none
/// can be used, with the reason.
Result<std::shared_ptr<detail::FabricSource>> find_fabric(std::shared_ptr<Library> library,
                                                          const TransportContext& context);

/// For people: the device that would be used, or why none is.
std::string describe_fabric(std::shared_ptr<Library> library, const Settings& settings);

}  // namespace tessera::rma::verbs
