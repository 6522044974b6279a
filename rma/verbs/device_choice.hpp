// SPDX-License-Identifier: BSD-3-Clause
//
// Which port of which RDMA device is used, and by which address it is known to others.
//
// The first port that is ACTIVE; InfiniBand before RoCE v2 before RoCE v1. On Ethernet the address
// is the RoCE v2 GID of an IPv4 address, else another one of RoCE v2, else one of RoCE v1; those
// that are valid on one link only (fe80::, 169.254.0.0/16) are taken only when asked for.
//
// Cost: each device is opened once, until an InfiniBand port is found.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "rma/result.hpp"
#include "rma/tuning.hpp"
#include "rma/verbs/handles.hpp"
#include "rma/verbs/library.hpp"
#include "rma/verbs/path_address.hpp"

namespace tessera::rma::verbs {

struct DeviceOptions {
  std::string device;  ///< its name; empty: chosen
  int port = 0;        ///< 0: chosen
  int gid_index = -1;  ///< −1: chosen

  /// What TESSERA_VERBS_DEVICE and TESSERA_VERBS_GID say. Errors: invalid_argument.
  static Result<DeviceOptions> from(const Settings& settings);
};

/// A port and the address by which it is known.
struct PortChoice {
  std::uint8_t port = 0;
  ibv_port_attr attributes = {};
  Network network = Network::infiniband;
  int gid_index = 0;
  ibv_gid gid = {};
};

/// An open device, and the port to be used.
struct DeviceChoice {
  std::string name;
  OwnedContext context;
  ibv_device_attr attributes = {};
  PortChoice port;
};

/// Errors: unsupported when no device can be used, with what each one lacks; invalid_argument
/// when there isn't what was asked for, with what there is.
Result<DeviceChoice> choose_device(const std::shared_ptr<Library>& library,
                                   const DeviceOptions& options);

}  // namespace tessera::rma::verbs
