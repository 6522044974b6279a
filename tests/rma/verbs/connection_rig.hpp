// SPDX-License-Identifier: BSD-3-Clause
//
// RDMA contexts on a simulated network and connections between them, without the server that uses
// them.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "rma/server/reachable_memory.hpp"
#include "rma/transport/verbs/connection.hpp"
#include "rma/transport/verbs/context.hpp"
#include "rma/tuning.hpp"
#include "tests/rma/node_rig.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/fake_verbs.hpp"

namespace tessera::rma::verbs {

/// A context on device `name`, with the default options as changed by `change`.
inline std::unique_ptr<VerbsContext> make_context(
    const std::shared_ptr<test::FakeVerbs>& network, const std::string& name,
    const std::function<void(VerbsContextOptions&)>& change = [](VerbsContextOptions&) {}) {
  Settings settings;
  settings.verbs_device = name;
  auto adapter = std::make_shared<Adapter>();
  adapter->device = Device::open(network, DeviceOptions::from(settings).value()).value();
  change(adapter->options);
  adapter->registrar =
      Registrar::create(network, adapter->device->domain(), RegistrationOptions()).value();
  adapter->arena = std::make_unique<ArenaRegistrations>(
      *adapter->registrar,
      server::reachable_memory_of(detail::rig_node(detail::rig_memory(1), 0, true)),
      adapter->options.slab_bytes, adapter->device->limits().has_atomics);
  return VerbsContext::create(std::move(adapter)).value();
}

/// A stream that only provides a descriptor, by which a context identifies its connection.
class SilentStream final : public detail::Channel {
 public:
  /// Above all descriptors of the process.
  static constexpr int first_descriptor = 1 << 17;
  explicit SilentStream(int number) noexcept : descriptor_(first_descriptor + number) {}

  Result<std::size_t> send(std::span<const iovec> /*pieces*/) override { return std::size_t{0}; }
  Result<std::size_t> receive(std::span<const iovec> /*into*/) override { return std::size_t{0}; }
  [[nodiscard]] Status check() const override { return {}; }
  [[nodiscard]] int descriptor() const noexcept override { return descriptor_; }
  [[nodiscard]] std::string peer() const override { return "a silent stream"; }

 private:
  int descriptor_;
};

struct Ends {
  std::unique_ptr<detail::RdmaConnection> here;
  std::unique_ptr<detail::RdmaConnection> there;
};

/// Connection `number` of both. Errors: as open_connection().
inline Result<Ends> connect(VerbsContext& here, VerbsContext& there, int number) {
  Ends ends;
  TESSERA_ASSIGN_OR_RETURN(ends.here, here.open_connection());
  TESSERA_ASSIGN_OR_RETURN(ends.there, there.open_connection());
  TESSERA_RETURN_IF_ERROR(ends.here->connect(ends.there->address()));
  TESSERA_RETURN_IF_ERROR(ends.there->connect(ends.here->address()));
  ends.here->watch(std::make_unique<SilentStream>(number));
  ends.there->watch(std::make_unique<SilentStream>(number));
  return ends;
}

}  // namespace tessera::rma::verbs
