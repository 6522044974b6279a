// SPDX-License-Identifier: BSD-3-Clause
//
// Chooses the port of an RDMA device, and the address by which peers reach it.
//
// The choice is the first port that is ACTIVE; InfiniBand before RoCE v2 before RoCE v1. On
// Ethernet the address is the RoCE v2 GID of an IPv4 address, else another RoCE v2 GID, else a RoCE
// v1 GID. Addresses that are valid on one link only (fe80::, 169.254.0.0/16) are used only if the
// settings name them.
//
// Cost: opens each device once, until it finds an InfiniBand port.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "rma/base/result.hpp"
#include "rma/transport/verbs/connection_address.hpp"
#include "rma/transport/verbs/handles.hpp"
#include "rma/transport/verbs/library.hpp"
#include "rma/tuning.hpp"

namespace tessera::rma::verbs {

struct DeviceOptions {
  std::string device;  ///< its name; empty: chosen
  int port = 0;        ///< 0: chosen
  int gid_index = -1;  ///< −1: chosen

  /// From TESSERA_VERBS_DEVICE and TESSERA_VERBS_GID. Errors: invalid_argument.
  static Result<DeviceOptions> from(const Settings& settings);
};

/// A port and its address.
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

/// Errors: unsupported if no device is usable, with the reason for each device; invalid_argument if
/// the requested device, port or GID does not exist, with those that do.
Result<DeviceChoice> choose_device(const std::shared_ptr<VerbsLibrary>& library,
                                   const DeviceOptions& options);

}  // namespace tessera::rma::verbs
