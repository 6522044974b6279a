// SPDX-License-Identifier: BSD-3-Clause
//
// Device discovery: which RDMA device a process uses, if one is usable.
#pragma once

#include <memory>
#include <string>

#include "rma/base/result.hpp"
#include "rma/transport/rdma.hpp"
#include "rma/transport/transport.hpp"
#include "rma/transport/verbs/library.hpp"

namespace tessera::rma::verbs {

/// Finds the device that the job's settings name, or the best one. Errors: unsupported, with the
/// reason, if none is usable.
Result<std::shared_ptr<detail::RdmaProvider>> find_rdma_provider(
    std::shared_ptr<VerbsLibrary> library, const detail::RdmaProviderContext& context);

/// For messages: the device that would be used, or why none is usable.
std::string describe_device(std::shared_ptr<VerbsLibrary> library, const Settings& settings);

}  // namespace tessera::rma::verbs
