// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/device_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "rma/base/memory.hpp"

namespace tessera::rma::verbs {
namespace {

constexpr int max_ports = 255;
constexpr std::uint32_t max_gid_index = 255;  // the address of a connection has a byte for it

std::string_view state_name(ibv_port_state state) noexcept {
  switch (state) {
    case IBV_PORT_DOWN:
      return "DOWN";
    case IBV_PORT_INIT:
      return "INIT: no subnet manager has configured it";
    case IBV_PORT_ARMED:
      return "ARMED: the subnet manager has not started it";
    case IBV_PORT_ACTIVE:
      return "ACTIVE";
    default:
      return "not ACTIVE";
  }
}

bool is_of_one_link(const ibv_gid& gid) noexcept {
  in6_addr address{};
  std::memcpy(&address, gid.raw, sizeof(address));
  const bool is_ipv4_of_one_link =
      IN6_IS_ADDR_V4MAPPED(&address) && address.s6_addr[12] == 169 && address.s6_addr[13] == 254;
  return IN6_IS_ADDR_LINKLOCAL(&address) || IN6_IS_ADDR_UNSPECIFIED(&address) ||
         is_ipv4_of_one_link;
}

bool is_ipv4(const ibv_gid& gid) noexcept {
  in6_addr address{};
  std::memcpy(&address, gid.raw, sizeof(address));
  return IN6_IS_ADDR_V4MAPPED(&address);
}

// The value of a GID of an Ethernet port; smaller is better.
enum class GidPreference { ipv4_of_roce_v2, other_of_roce_v2, roce_v1, none };

GidPreference preference_of(const ibv_gid_entry& entry) noexcept {
  if (is_of_one_link(entry.gid)) {
    return GidPreference::none;
  }
  if (entry.gid_type != IBV_GID_TYPE_ROCE_V2) {
    return GidPreference::roce_v1;
  }
  return is_ipv4(entry.gid) ? GidPreference::ipv4_of_roce_v2 : GidPreference::other_of_roce_v2;
}

Network network_of(const ibv_gid_entry& entry) noexcept {
  switch (entry.gid_type) {
    case IBV_GID_TYPE_IB:
      return Network::infiniband;
    case IBV_GID_TYPE_ROCE_V2:
      return Network::roce_v2;
    default:
      return Network::roce_v1;
  }
}

std::string describe_gids(const std::vector<ibv_gid_entry>& gids) {
  if (gids.empty()) {
    return "it has none";
  }
  std::vector<std::string> texts;
  std::transform(gids.begin(), gids.end(), std::back_inserter(texts), [](const auto& entry) {
    return fmt::format("{} ({}, {})", entry.gid_index, to_string(network_of(entry)),
                       to_string(entry.gid));
  });
  return fmt::format("it has: {}", fmt::join(texts, ", "));
}

constexpr std::string_view choose_another =
    "`ibv_devinfo -v` shows devices, ports and GIDs; TESSERA_VERBS_DEVICE=NAME:PORT and "
    "TESSERA_VERBS_GID choose others";

Status not_usable(std::string what, std::string_view remedy = choose_another) {
  return Status::error(Code::unsupported, std::move(what)).hint(remedy);
}

Status not_found(std::string what, std::string_view setting) {
  return Status::error(Code::invalid_argument, std::move(what))
      .hint(fmt::format("`ibv_devinfo -v` lists what exists; change {}", setting));
}

// Joins several refusals to one sentence after `subject`; returns a single one unchanged.
Status join_refusals(std::vector<Status> refusals, std::string_view subject) {
  if (refusals.size() == 1) {
    return std::move(refusals.front());
  }
  std::vector<std::string> sentences;
  for (const Status& refusal : refusals) {
    const std::string message = refusal.message();
    sentences.push_back(message.substr(0, message.find('\n')));
  }
  return not_usable(fmt::format("{}: {}", subject, fmt::join(sentences, "; ")));
}

// Examines one device.
class DeviceInspection {
 public:
  DeviceInspection(VerbsLibrary& library, std::string_view name, ibv_context* context,
                   const DeviceOptions& options) noexcept
      : library_(library), name_(name), context_(context), options_(options) {}

  // The best of its ports, or why none is usable.
  Result<PortChoice> best_port(const ibv_device_attr& attributes) {
    TESSERA_RETURN_IF_ERROR(check_kind());
    if (options_.port > attributes.phys_port_cnt) {
      return not_found(fmt::format("device '{}' has no port {}; it has {}", name_, options_.port,
                                   attributes.phys_port_cnt),
                       "TESSERA_VERBS_DEVICE");
    }
    gids_ = library_.query_gid_table(context_);
    std::optional<PortChoice> best;
    std::vector<Status> refusals;
    for (int port = 1; port <= attributes.phys_port_cnt; ++port) {
      if (options_.port != 0 && port != options_.port) {
        continue;
      }
      auto choice = inspect_port(static_cast<std::uint8_t>(port));
      if (!choice.ok()) {
        refusals.push_back(std::move(choice).status());
      } else if (!best || choice->network < best->network) {
        best = *choice;
      }
    }
    if (best) {
      return *best;
    }
    return join_refusals(std::move(refusals), fmt::format("device '{}' has no usable port", name_));
  }

 private:
  [[nodiscard]] Status check_kind() const {
    switch (context_->device->transport_type) {
      case IBV_TRANSPORT_IB:
        return {};
      case IBV_TRANSPORT_IWARP:
        return not_usable(
            fmt::format("device '{}' is an iWARP device, whose connections need rdma_cm, "
                        "which is not supported",
                        name_));
      default:
        return not_usable(
            fmt::format("device '{}' is neither InfiniBand nor RoCE: it has no reliable "
                        "connections",
                        name_));
    }
  }

  Result<PortChoice> inspect_port(std::uint8_t port) {
    PortChoice choice{.port = port};
    if (const int error = library_.query_port(context_, port, choice.attributes); error != 0) {
      return not_usable(fmt::format("device '{}': port {} cannot be queried: {}", name_, port,
                                    std::strerror(error)));
    }
    if (choice.attributes.state != IBV_PORT_ACTIVE) {
      return not_usable(fmt::format("device '{}': port {} is {}", name_, port,
                                    state_name(choice.attributes.state)));
    }
    TESSERA_ASSIGN_OR_RETURN(
        const std::optional<ibv_gid_entry> gid,
        options_.gid_index >= 0
            ? requested_gid(port)
            : best_gid(port, choice.attributes.link_layer == IBV_LINK_LAYER_ETHERNET));
    if (gid) {
      choice.network = network_of(*gid);
      choice.gid_index = static_cast<int>(gid->gid_index);
      choice.gid = gid->gid;
    }
    return choice;
  }

  [[nodiscard]] std::vector<ibv_gid_entry> gids_of(std::uint8_t port) const {
    std::vector<ibv_gid_entry> own;
    std::copy_if(gids_.begin(), gids_.end(), std::back_inserter(own), [&](const auto& entry) {
      return entry.port_num == port && entry.gid_index <= max_gid_index;
    });
    return own;
  }

  [[nodiscard]] Result<std::optional<ibv_gid_entry>> requested_gid(std::uint8_t port) const {
    const std::vector<ibv_gid_entry> gids = gids_of(port);
    const auto found = std::find_if(gids.begin(), gids.end(), [&](const auto& entry) {
      return static_cast<int>(entry.gid_index) == options_.gid_index;
    });
    if (found == gids.end()) {
      return not_found(fmt::format("device '{}': port {} has no GID with index {}; {}", name_, port,
                                   options_.gid_index, describe_gids(gids)),
                       "TESSERA_VERBS_GID");
    }
    return std::optional(*found);
  }

  // None on InfiniBand without a table: there the LID suffices.
  [[nodiscard]] Result<std::optional<ibv_gid_entry>> best_gid(std::uint8_t port,
                                                              bool is_ethernet) const {
    const std::vector<ibv_gid_entry> gids = gids_of(port);
    if (!is_ethernet) {
      return gids.empty() ? std::nullopt : std::optional(gids.front());
    }
    const auto best = std::min_element(gids.begin(), gids.end(), [](const auto& a, const auto& b) {
      return preference_of(a) < preference_of(b);
    });
    if (best == gids.end() || preference_of(*best) == GidPreference::none) {
      return not_usable(
          fmt::format("device '{}': port {} has no GID that is valid beyond its link; {}", name_,
                      port, describe_gids(gids)),
          "give its Ethernet interface an IP address, or choose a GID with TESSERA_VERBS_GID");
    }
    return std::optional(*best);
  }

  VerbsLibrary& library_;
  std::string_view name_;
  ibv_context* context_;
  const DeviceOptions& options_;
  std::vector<ibv_gid_entry> gids_;
};

Status cannot_open(const std::string& name, int error) {
  const std::string_view remedy = remedy_for_system_error(error);
  return not_usable(
      fmt::format("device '{}' cannot be opened: {}", name, describe_system_error(error)),
      remedy.empty() ? "/dev/infiniband/uverbs* must be readable and writable for this user"
                     : remedy);
}

Result<DeviceChoice> inspect_device(const std::shared_ptr<VerbsLibrary>& library,
                                    const std::string& name, const DeviceOptions& options) {
  DeviceChoice choice;
  choice.name = name;
  choice.context = OwnedContext(library, library->open_device(name));
  if (!choice.context) {
    return cannot_open(name, errno);
  }
  if (const int error = library->query_device(choice.context.get(), choice.attributes);
      error != 0) {
    return not_usable(fmt::format("device '{}' cannot be queried: {}", name, std::strerror(error)));
  }
  TESSERA_ASSIGN_OR_RETURN(
      choice.port,
      DeviceInspection(*library, name, choice.context.get(), options).best_port(choice.attributes));
  return choice;
}

Status check_name(const std::vector<std::string>& names, const std::string& requested) {
  if (names.empty()) {
    return Status::error(Code::unsupported, "there is no RDMA device")
        .hint(
            "`rdma link` shows the kernel's devices; each needs its kernel driver and, in "
            "a container, /dev/infiniband");
  }
  if (!requested.empty() && std::find(names.begin(), names.end(), requested) == names.end()) {
    return not_found(fmt::format("device '{}' was requested; this machine has: {}", requested,
                                 fmt::join(names, ", ")),
                     "TESSERA_VERBS_DEVICE");
  }
  return {};
}

}  // namespace

Result<DeviceOptions> DeviceOptions::from(const Settings& settings) {
  DeviceOptions options;
  const std::string_view text = settings.verbs_device;
  const std::size_t colon = text.find(':');
  options.device = text.substr(0, colon);
  options.gid_index = static_cast<int>(settings.verbs_gid);
  if (colon == std::string_view::npos) {
    return options;
  }
  const std::string_view port = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), options.port);
  if (options.device.empty() || error != std::errc{} || end != port.data() + port.size() ||
      options.port < 1 || options.port > max_ports) {
    return Status::error(Code::invalid_argument,
                         fmt::format("TESSERA_VERBS_DEVICE={} is not usable: expected NAME or "
                                     "NAME:PORT, with a port from 1 to {}",
                                     text, max_ports));
  }
  return options;
}

Result<DeviceChoice> choose_device(const std::shared_ptr<VerbsLibrary>& library,
                                   const DeviceOptions& options) {
  const std::vector<std::string> names = library->device_names();
  TESSERA_RETURN_IF_ERROR(check_name(names, options.device));
  std::optional<DeviceChoice> best;
  std::vector<Status> refusals;
  for (const std::string& name : names) {
    if (!options.device.empty() && name != options.device) {
      continue;
    }
    auto choice = inspect_device(library, name, options);
    if (!choice.ok()) {
      refusals.push_back(std::move(choice).status());
    } else if (!best || choice->port.network < best->port.network) {
      best = std::move(choice).take();
      if (best->port.network == Network::infiniband) {
        break;
      }
    }
  }
  if (best) {
    return std::move(*best);
  }
  return join_refusals(std::move(refusals), "no RDMA device is usable");
}

}  // namespace tessera::rma::verbs
