// SPDX-License-Identifier: BSD-3-Clause
#include "rma/tuning.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>

#include "rma/layer_settings.hpp"

namespace tessera::rma {
namespace {

// Times are added to clocks in nanoseconds, and passed to poll() as an int.
constexpr std::int64_t max_ms = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t min_arena_mib = 64;
constexpr std::int64_t min_pipeline = 2048;

constexpr std::string_view separator = ", ";

// A text setting whose value is one of `words`, separated by `separator`.
constexpr SettingInfo one_of(std::string_view name, std::string_view words,
                             std::string_view meaning, std::string Settings::*field) {
  return {name, "name", words, meaning, field, 0, 0, true};
}

constexpr std::array table{
    // For users: environment variables (docs/tuning.md).
    SettingInfo{"TESSERA_TRANSPORT", "names", "shm, loopback, verbs, tcp, mpi",
                "transports in order of preference", &Settings::transport},
    one_of("TESSERA_BOOTSTRAP", "auto, alone, fork, mpi",
           "how processes find each other; auto: by the launcher's variables",
           &Settings::bootstrap),
    SettingInfo{"TESSERA_START_TIMEOUT_MS", "ms", "1 to 2147483647",
                "how long a starting rank waits for the others", &Settings::start_timeout_ms, 1,
                max_ms},
    SettingInfo{"TESSERA_RANKS_PER_NODE", "ranks", "0 to 1048576",
                "splits the ranks of a machine into emulated nodes; 0: one node per machine",
                &Settings::ranks_per_node, 0, 1 << 20},
    SettingInfo{"TESSERA_INTERFACE", "name", "an interface that is up, or empty",
                "network interface between nodes; empty: the first one, or loopback on one machine",
                &Settings::interface},
    SettingInfo{"TESSERA_VERBS_DEVICE", "name", "NAME or NAME:PORT, or empty",
                "RDMA device; empty: the first with an active port, InfiniBand before RoCE",
                &Settings::verbs_device},
    SettingInfo{"TESSERA_VERBS_GID", "index", "-1 to 255",
                "GID index of the RDMA device; -1: chosen, on Ethernet that of its IPv4 address",
                &Settings::verbs_gid, -1, 255},
    one_of("TESSERA_SERVER", "block, poll, adaptive",
           "how a node's agent waits for other nodes; adaptive: polls for 50 us after a request, "
           "for 1 s if it has its own processor",
           &Settings::server),
    SettingInfo{"TESSERA_SERVER_THREADS", "threads", "1 to 8",
                "threads of a node's agent; each serves a share of the peers",
                &Settings::agent_threads, 1, 8},
    SettingInfo{"TESSERA_ARENA_MIB", "MiB", "0, or 64 to 67108864",
                "address space reserved for a node's shared memory; 0: eight times its RAM",
                &Settings::arena_mib, 0, 1LL << 26},
    SettingInfo{"TESSERA_BLAS_THREADS", "threads", "0 to 4096",
                "threads of each rank's matrix kernels; 0: its share of the cores",
                &Settings::blas_threads, 0, 4096},
    SettingInfo{"TESSERA_LINALG_BUFFER", "MiB", "1 to 1048576",
                "buffer of each rank for parts of other ranks' matrices",
                &Settings::linalg_buffer_mib, 1, 1 << 20},
    one_of("TESSERA_LOG", "silent, warning, info, debug", "what is written to standard error",
           &Settings::log),
    SettingInfo{
        "TESSERA_WAIT_WARNING_MS", "ms", "0 to 2147483647",
        "a rank that waits this long logs what it waits for, again after twice that; 0: never",
        &Settings::wait_warning_ms, 0, max_ms},
    one_of("TESSERA_CHECK", "off, races, races-fail",
           "report missing syncs in the use of arrays; races-fail: the next sync fails, too",
           &Settings::check),
    one_of("TESSERA_PROFILE", "off, summary, json, trace",
           "profile of operations and waits: a table, a JSON file, or a Chrome trace",
           &Settings::profile),
    SettingInfo{"TESSERA_PROFILE_FILE", "path", "a file, or empty",
                "output file of json and trace; empty: tessera-profile.json or tessera-trace.json",
                &Settings::profile_file},
    one_of("TESSERA_ARMCI_ERRORS", "abort, return",
           "what functions of armci.h do on an error: end the job, or return a code",
           &Settings::armci_errors),
    SettingInfo{tune_variable, "list", "name=value,...",
                "settings for experiments; `tessera info` lists their names", &Settings::tune},
    // For experiments: names in TESSERA_TUNE (docs/experiments.md).
    one_of(
        "server_buffers", "shared, per_client",
        "an agent's receive buffers: shared by its clients, or reserved for each (for comparison)",
        &Settings::server_buffers),
    SettingInfo{
        "reply_buffer", "KiB", "16 to 1048576",
        "replies that an agent buffers for a slow peer before it stops reading its requests",
        &Settings::reply_kib, 16, 1 << 20},
    SettingInfo{"request_buffer", "KiB", "64 to 1048576",
                "requests that a process buffers for a slow node before operations wait",
                &Settings::request_kib, 64, 1 << 20},
    SettingInfo{"server_cluster", "agents", "0 to 1048576",
                "agents that share all requests and forward them to each other; "
                "1: no sharing; 0: chosen by the number of nodes",
                &Settings::server_cluster, 0, 1 << 20},
    one_of("server_replies", "direct, via",
           "path of replies to forwarded requests: a direct connection, or back via the forwarder",
           &Settings::server_replies),
    SettingInfo{"forward_window", "requests", "1 to 65536",
                "requests forwarded from one agent to another and not yet acknowledged",
                &Settings::forward_window, 1, 65'536},
    SettingInfo{"forward_buffer", "KiB", "1 to 1048576",
                "the same in bytes; a single request may be longer", &Settings::forward_kib, 1,
                1 << 20},
    SettingInfo{"tcp_congestion", "name", "auto, system, or a name that the kernel knows",
                "TCP congestion control; auto: the system's, with cubic or reno in place of bbr",
                &Settings::tcp_congestion},
    one_of(
        "verbs_get", "auto, read, assisted",
        "long gets by RDMA: read by this rank, or written by the target's agent; auto: the cheaper",
        &Settings::verbs_get),
    one_of("verbs_small_transfers", "auto, device, requests",
           "puts and gets of up to 8 bytes: by RDMA, or by the agent; auto: by RDMA if the "
           "device never tears words",
           &Settings::verbs_small_transfers),
    one_of("verbs_register", "cached, each, never",
           "ordinary memory for RDMA: registered once and cached, for each use, or never (copied)",
           &Settings::verbs_register),
    SettingInfo{
        "verbs_chunk", "KiB", "0 to 1048576",
        "ordinary memory is registered in pieces of this size while earlier ones move; 0: all",
        &Settings::verbs_chunk_kib, 0, 1 << 20},
    SettingInfo{"verbs_receives", "buffers", "16 to 1048576",
                "maximum of receive buffers of a process or agent thread, shared by its RDMA peers",
                &Settings::verbs_receives, 16, 1 << 20},
    SettingInfo{"verbs_sends", "buffers", "4 to 65536",
                "RDMA send buffers of a process or agent thread", &Settings::verbs_sends, 4,
                65'536},
    SettingInfo{"verbs_buffer", "bytes", "1024 to 65536",
                "size of each RDMA buffer, which limits the longest message",
                &Settings::verbs_buffer_bytes, 1024, 65'536},
    SettingInfo{"verbs_window", "messages", "1 to 255",
                "maximum of receive buffers that one RDMA peer may use at a time",
                &Settings::verbs_window, 1, 255},
    SettingInfo{"verbs_depth", "requests", "64 to 4096",
                "maximum of RDMA requests in flight to a peer; the device reserves memory for each",
                &Settings::verbs_depth, 64, 4096},
    SettingInfo{"verbs_completions", "entries", "1024 to 4194304",
                "completion queue of a process or agent thread; fewer if the device has fewer",
                &Settings::verbs_completions, 1024, 1 << 22},
    one_of("mpi_epochs", "lock_all, per_operation",
           "MPI windows: locked as long as they exist (MPI-3), or for each operation (MPI-2)",
           &Settings::mpi_epochs),
    one_of("mpi_progress", "sleep, poll, none",
           "thread in which MPI serves other ranks: sleeps between polls, always polls, or none",
           &Settings::mpi_progress),
    one_of("mpi_vectors", "auto, direct, batched, conservative",
           "lists with transport mpi: as datatypes, a call for each piece, or one after another",
           &Settings::mpi_vectors),
    one_of("mpi_strides", "auto, direct, vectors",
           "strided transfers with transport mpi: as datatypes, or as lists",
           &Settings::mpi_strides),
    SettingInfo{"mpi_batch", "operations", "0 to 1000000",
                "MPI calls of a list or strided transfer that complete together; 0: all",
                &Settings::mpi_batch, 0, 1'000'000},
    one_of("mpi_locks", "mcs, bytes",
           "locks with transport mpi: queues on atomics (mcs), or byte vectors of MPI-2",
           &Settings::mpi_locks),
    one_of("mpi_handles", "auto, requests, flush",
           "how transport mpi completes handles: by MPI requests, or by flushes",
           &Settings::mpi_handles),
    one_of(
        "mpi_staging", "auto, always, never",
        "copy local buffers that lie in MPI windows before a transfer (with epochs only); auto: if "
        "MPI keeps two copies of a window",
        &Settings::mpi_staging),
    SettingInfo{
        "profile_events", "events", "1 to 100000000",
        "events that each rank keeps for a trace, 40 bytes each; later ones are only counted",
        &Settings::profile_events, 1, 100'000'000},
    SettingInfo{"profile_wait_ms", "ms", "1 to 2147483647",
                "how long a stopping rank waits for the others before it writes a profile alone",
                &Settings::profile_wait_ms, 1, max_ms},
    SettingInfo{"spin_ns", "ns", "-1 to 1000000000",
                "busy waiting before a thread sleeps; -1: chosen, short if cores are scarce",
                &Settings::spin_ns, -1, 1'000'000'000},
    SettingInfo{"liveness_ms", "ms", "1 to 60000",
                "how often a waiting rank checks that its peers are alive", &Settings::liveness_ms,
                1, 60'000},
    SettingInfo{"max_outstanding", "operations", "1 to 1000000",
                "non-blocking operations in flight; beyond it the oldest is completed first",
                &Settings::max_outstanding, 1, 1'000'000},
    SettingInfo{"aggregate", "bytes", "0 to 256",
                "operations up to this size are combined into messages to another node; 0: none",
                &Settings::aggregate, 0, 256},
    SettingInfo{"direct_row", "bytes", "0 to 1073741824",
                "rows of at least this length are sent without packing; 0: chosen",
                &Settings::direct_row, 0, 1 << 30},
    SettingInfo{"chunk", "KiB", "0 to 1024",
                "size of the parts in which shorter rows are packed and sent; 0: by transfer size",
                &Settings::chunk_kib, 0, 1024},
    SettingInfo{"pipeline", "bytes", "0, or 2048 to 1073741824",
                "packed transfers of at least this size are sent in several parts; 0: chosen",
                &Settings::pipeline, 0, 1 << 30},
    SettingInfo{
        "tcp_times", "ns", "measured, fixed, or NAME=NUMBER,...",
        "costs by which tcp chooses packing and parts; fixed: built-in values, no measurement",
        &Settings::tcp_times, 0, 0, false, true},
    SettingInfo{"fence_window", "peers", "1 to 100000",
                "number of peers that a fence of several completes concurrently",
                &Settings::fence_window, 1, 100'000},
    SettingInfo{"collective_slot", "bytes", "256 to 16777216",
                "buffer of each rank for a team's collectives", &Settings::collective_slot_bytes,
                256, 16 << 20},
    SettingInfo{"check_overlap", "flag", "0 or 1",
                "refuse fragment lists whose written pieces overlap", &Settings::check_overlap, 0,
                1},
    SettingInfo{"halo_pack_bytes", "bytes", "0 to 1048576",
                "ghost layers up to this size are sent packed and without a handshake; 0: none",
                &Settings::halo_pack_bytes, 0, 1 << 20},
    SettingInfo{"armci_memget", "MiB", "0 to 1048576",
                "address space that each process reserves for ARMCI_Memget",
                &Settings::armci_memget_mib, 0, 1 << 20},
};

constexpr std::string_view prefix = "TESSERA_";
// Not a setting: the launcher sets it for its children.
constexpr std::string_view launch_variable = "TESSERA_LAUNCH";

// Settings of the layers above. Libraries add theirs before main(), in any order.
struct LayerSettingList {
  std::mutex mutex;
  std::vector<LayerSetting> all;
};
LayerSettingList& layer_setting_list() {
  static auto* const list = new LayerSettingList;
  return *list;
}

bool is_known_elsewhere(std::string_view name) {
  const std::vector<LayerSetting> others = layer_settings();
  return name == launch_variable ||
         std::any_of(others.begin(), others.end(),
                     [&](const LayerSetting& each) { return each.name == name; });
}

// Levenshtein distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i] == b[j] ? 0U : 1U);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substitute, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// TESSERA_SPIN_NS of spin_ns.
std::string variable_name(std::string_view name) {
  if (name.starts_with(prefix)) {
    return std::string(name);
  }
  std::string variable(prefix);
  for (const char c : name) {
    variable += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return variable;
}

// A setting that a misspelled name may mean.
struct NamedSetting {
  std::string variable;
  const SettingInfo* row;  // null: of a layer above
};

std::vector<NamedSetting> named_settings() {
  std::vector<NamedSetting> all;
  for (const SettingInfo& row : table) {
    all.push_back({variable_name(row.name), &row});
  }
  for (const LayerSetting& each : layer_settings()) {
    all.push_back({std::string(each.name), nullptr});
  }
  return all;
}

// The setting whose variable matches `name` in at least half of the letters, or begins with it.
std::optional<NamedSetting> closest_setting(std::string_view name) {
  const std::vector<NamedSetting> all = named_settings();
  const auto nearest =
      std::min_element(all.begin(), all.end(), [&](const NamedSetting& a, const NamedSetting& b) {
        return distance(name, a.variable) < distance(name, b.variable);
      });
  const std::size_t letters = name.size() - prefix.size();
  if (2 * distance(name, nearest->variable) <= letters) {
    return *nearest;
  }
  const auto longer = std::find_if(all.begin(), all.end(), [&](const NamedSetting& each) {
    return letters > 0 && each.variable.starts_with(name);
  });
  return longer != all.end() ? std::optional(*longer) : std::nullopt;
}

Status assign(Settings& settings, const SettingInfo& row, std::string_view text) {
  if (const auto* field = std::get_if<std::string Settings::*>(&row.field)) {
    settings.*(*field) = text;
    return {};
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_between =
      value > 0 && ((row.name == "TESSERA_ARENA_MIB" && value < min_arena_mib) ||
                    (row.name == "pipeline" && value < min_pipeline));
  if (error != std::errc{} || end != text.data() + text.size() || value < row.least ||
      value > row.most || is_between) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{}={} is not usable: expected {} ({})", full_name(row), text,
                                     row.range, row.unit));
  }
  settings.*std::get<std::int64_t Settings::*>(row.field) = value;
  return {};
}

// The text of TESSERA_TUNE. A part without a known name continues the list before it (tcp_times).
Status assign_experimental(Settings& settings, std::string_view text) {
  const SettingInfo* row = nullptr;
  std::string value;
  for (const std::string_view part : split_names(text)) {
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view name = part.substr(0, equals);
    const SettingInfo* const found = find_setting(name);
    if (found != nullptr && found->is_experimental() && equals < part.size()) {
      row = found;
      value = part.substr(equals + 1);
    } else if (row != nullptr && row->is_list) {
      value += fmt::format(",{}", part);
    } else {
      const bool is_known = found != nullptr && found->is_experimental();
      return Status::error(Code::invalid_argument,
                           fmt::format("{}={} is not usable: {}", tune_variable, text,
                                       is_known ? fmt::format("'{}' has no value", name)
                                                : fmt::format("there is no setting '{}'; {}", name,
                                                              advice_for_unknown(name))));
    }
    TESSERA_RETURN_IF_ERROR(assign(settings, *row, value));
  }
  return {};
}

// "a, b, c" in the form for messages: "a, b or c".
std::string alternatives(std::string_view words) {
  const std::size_t last = words.rfind(separator);
  return fmt::format("{} or {}", words.substr(0, last), words.substr(last + separator.size()));
}

bool is_among(std::string_view words, std::string_view value) {
  return value.find(separator[0]) == std::string_view::npos && !value.empty() &&
         fmt::format("{}{}{}", separator, words, separator)
                 .find(fmt::format("{}{}{}", separator, value, separator)) != std::string::npos;
}

Status not_among(std::string_view name, std::string_view words, std::string_view value) {
  return Status::error(Code::invalid_argument, fmt::format("{}={} is not usable: expected {}", name,
                                                           value, alternatives(words)));
}

Status check_words(const Settings& settings) {
  for (const SettingInfo& row : table) {
    const std::string value = value_text(settings, row);
    if (row.is_one_of && !is_among(row.range, value)) {
      return not_among(full_name(row), row.range, value);
    }
  }
  return {};
}

}  // namespace

std::span<const SettingInfo> setting_table() {
  return table;
}

const SettingInfo* find_setting(std::string_view name) {
  const auto* const row = std::find_if(table.begin(), table.end(),
                                       [&](const SettingInfo& each) { return each.name == name; });
  return row != table.end() ? row : nullptr;
}

std::string full_name(const SettingInfo& row) {
  return fmt::format("{}{}", row.is_experimental() ? "TESSERA_TUNE=" : "", row.name);
}

std::string advice_for_unknown(std::string_view name, std::string_view value) {
  const std::optional<NamedSetting> meant = closest_setting(variable_name(name));
  if (!meant) {
    return "`tessera info` lists the settings";
  }
  if (meant->row == nullptr) {
    return fmt::format("did you mean {}?", meant->variable);
  }
  const bool is_same = meant->row->is_experimental() && meant->variable == name;
  return fmt::format("did you mean {}{}?", full_name(*meant->row),
                     is_same ? fmt::format("={}", value) : std::string());
}

void add_layer_settings(std::span<const LayerSetting> settings) {
  LayerSettingList& list = layer_setting_list();
  const std::lock_guard lock(list.mutex);
  list.all.insert(list.all.end(), settings.begin(), settings.end());
}

std::vector<LayerSetting> layer_settings() {
  LayerSettingList& list = layer_setting_list();
  const std::lock_guard lock(list.mutex);
  return list.all;
}

Result<std::string_view> read_layer_setting(const LayerSetting& setting) {
  const char* const given = std::getenv(std::string(setting.name).c_str());
  if (given == nullptr) {
    return setting.default_word();
  }
  if (!is_among(setting.words, given)) {
    return not_among(setting.name, setting.words, given);
  }
  return std::string_view(given);
}

std::vector<std::string_view> split_names(std::string_view list) {
  std::vector<std::string_view> names;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) {
      names.push_back(list.substr(0, comma));
    }
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return names;
}

bool names_transport(std::string_view list, std::string_view name) {
  const std::vector<std::string_view> names = split_names(list);
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string value_text(const Settings& settings, const SettingInfo& row) {
  if (const auto* field = std::get_if<std::string Settings::*>(&row.field)) {
    return settings.*(*field);
  }
  return fmt::format("{}", settings.*std::get<std::int64_t Settings::*>(row.field));
}

Result<Settings> Settings::from(std::span<const std::string> environment,
                                std::vector<std::string>* warnings) {
  Settings settings;
  for (const std::string& entry : environment) {
    const std::string_view line = entry;
    const std::size_t equals = line.find('=');
    if (!line.starts_with(prefix) || equals == std::string_view::npos) {
      continue;
    }
    const std::string_view name = line.substr(0, equals);
    const std::string_view value = line.substr(equals + 1);
    const SettingInfo* const row = find_setting(name);
    if (row != nullptr && row->name == tune_variable) {
      TESSERA_RETURN_IF_ERROR(assign_experimental(settings, value));
      settings.tune += fmt::format("{}{}", settings.tune.empty() ? "" : ",", value);
    } else if (row != nullptr) {
      TESSERA_RETURN_IF_ERROR(assign(settings, *row, value));
    } else if (warnings != nullptr && !is_known_elsewhere(name)) {
      warnings->push_back(fmt::format("{} is not a setting and was ignored; {}", name,
                                      advice_for_unknown(name, value)));
    }
  }
  TESSERA_RETURN_IF_ERROR(check_words(settings));
  return settings;
}

Result<Settings> Settings::from_environment(std::vector<std::string>* warnings) {
  std::vector<std::string> lines;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    lines.emplace_back(*entry);
  }
  return from(lines, warnings);
}

}  // namespace tessera::rma
