// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/device_discovery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rma/base/memory.hpp"
#include "rma/transport/verbs/context.hpp"

namespace tessera::rma::verbs {
namespace {

class VerbsProvider final : public detail::RdmaProvider {
 public:
  explicit VerbsProvider(std::shared_ptr<const Adapter> adapter) noexcept
      : adapter_(std::move(adapter)) {}
  Result<std::unique_ptr<detail::RdmaContext>> create() override {
    TESSERA_ASSIGN_OR_RETURN(auto context, VerbsContext::create(adapter_));
    return std::unique_ptr<detail::RdmaContext>(std::move(context));
  }
  [[nodiscard]] bool has_atomics() const noexcept override {
    return adapter_->device->limits().has_atomics;
  }

 private:
  std::shared_ptr<const Adapter> adapter_;
};

GetProtocol get_protocol(const Settings& settings) {
  return settings.verbs_get == "read"       ? GetProtocol::read
         : settings.verbs_get == "assisted" ? GetProtocol::assisted
                                            : GetProtocol::by_cost;
}

// The agent stores words that the device may tear, whatever the settings say.
VerbsContextOptions options_of(const Device& device, const Settings& settings) {
  constexpr std::size_t above_word_bytes = sizeof(std::uint64_t) + 1;
  const bool keeps_words = device.limits().keeps_words;
  VerbsContextOptions options;
  options.min_row = static_cast<std::size_t>(settings.direct_row);
  if (!keeps_words && options.min_row > 0) {
    options.min_row = std::max(options.min_row, above_word_bytes);
  }
  options.get_protocol = get_protocol(settings);
  options.words_by_device = settings.verbs_small_transfers == "auto"
                                ? keeps_words
                                : settings.verbs_small_transfers == "device";
  options.registers = settings.verbs_register != "never";
  options.register_bytes = static_cast<std::size_t>(settings.verbs_chunk_kib) * 1024;
  options.depth = static_cast<std::uint32_t>(settings.verbs_depth);
  options.window = static_cast<std::uint32_t>(settings.verbs_window);
  options.buffer_bytes = static_cast<std::size_t>(settings.verbs_buffer_bytes);
  options.send_buffers = static_cast<std::size_t>(settings.verbs_sends);
  options.max_receive_buffers = static_cast<std::size_t>(settings.verbs_receives);
  options.completions = static_cast<std::uint32_t>(settings.verbs_completions);
  options.reserves_for_clients = settings.server_buffers == "per_client";
  return options;
}

RegistrationOptions registration_options(const Settings& settings) {
  RegistrationOptions options;
  options.may_cache = settings.verbs_register != "each";
  options.remote_writes = get_protocol(settings) != GetProtocol::read;
  return options;
}

// An exhausted device counts as none, so that jobs use another transport if they may.
Result<std::shared_ptr<Device>> open_device(std::shared_ptr<VerbsLibrary> library,
                                            const DeviceOptions& wanted) {
  auto device = Device::open(std::move(library), wanted);
  if (!device.ok() && device.status().code() != Code::invalid_argument) {
    return Status::error(Code::unsupported, device.status().message());
  }
  if (device.ok() && (*device)->limits().max_queue_depth < min_depth) {
    return Status::error(
        Code::unsupported,
        fmt::format("{} has queues of {} requests, and {} are needed", (*device)->name(),
                    (*device)->limits().max_queue_depth, min_depth));
  }
  return device;
}

}  // namespace

Result<std::shared_ptr<detail::RdmaProvider>> find_rdma_provider(
    std::shared_ptr<VerbsLibrary> library, const detail::RdmaProviderContext& context) {
  TESSERA_ASSIGN_OR_RETURN(const DeviceOptions wanted, DeviceOptions::from(*context.settings));
  auto adapter = std::make_shared<Adapter>();
  TESSERA_ASSIGN_OR_RETURN(adapter->device, open_device(std::move(library), wanted));
  adapter->options = options_of(*adapter->device, *context.settings);
  TESSERA_ASSIGN_OR_RETURN(adapter->registrar,
                           Registrar::create(adapter->device->library(), adapter->device->domain(),
                                             registration_options(*context.settings)));
  adapter->arena = std::make_unique<ArenaRegistrations>(*adapter->registrar, context.memory,
                                                        adapter->options.slab_bytes,
                                                        adapter->device->limits().has_atomics);
  return std::shared_ptr<detail::RdmaProvider>(std::make_shared<VerbsProvider>(std::move(adapter)));
}

std::string describe_device(std::shared_ptr<VerbsLibrary> library, const Settings& settings) {
  const auto wanted = DeviceOptions::from(settings);
  const auto device = wanted.ok() ? Device::open(library, *wanted)
                                  : Result<std::shared_ptr<Device>>(wanted.status());
  if (!device.ok()) {
    return "not used: " + device.status().message();
  }
  const auto registrar =
      Registrar::create(std::move(library), (*device)->domain(), RegistrationOptions());
  if (!registrar.ok()) {
    return "not used: " + registrar.status().message();
  }
  const MemlockLimit& limit = (*registrar)->memlock_limit();
  return fmt::format("{}; may lock {} of memory; {}", (*device)->describe(),
                     !limit.bytes || limit.may_exceed ? "any amount" : human_bytes(*limit.bytes),
                     (*registrar)->is_caching()
                         ? "caches registrations"
                         : "does not cache registrations: " + (*registrar)->why_not_caching());
}

}  // namespace tessera::rma::verbs
