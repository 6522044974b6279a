// SPDX-License-Identifier: BSD-3-Clause
//
// Settings: every threshold and every TESSERA_* variable, in one table.
//
// The table (setting_table(), in tuning.cpp) gives name, unit, range and meaning. `tessera info`
// prints it. Settings for users are variables; docs/tuning.md says when to change what. All others
// are for experiments: TESSERA_TUNE=spin_ns=0,chunk=64 (docs/experiments.md). Settings are read
// once, when a Job starts. An unknown TESSERA_* variable gives a warning with the nearest known
// name, and an unknown name in TESSERA_TUNE an error.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rma/base/result.hpp"

namespace tessera::rma {

struct Settings {
  /// Names in order of preference, comma separated.
  std::string transport = "shm,verbs,mpi,tcp";
  std::string log = "warning";            ///< silent, warning, info or debug
  std::string profile = "off";            ///< off, summary, json or trace
  std::string profile_file;               ///< path of json and trace; empty: chosen
  std::int64_t profile_events = 100'000;  ///< events that each rank keeps for a trace
  std::int64_t wait_warning_ms = 60'000;  ///< a rank that waits this long logs it; 0: never
  std::int64_t profile_wait_ms = 60'000;  ///< how long stop() waits for the other ranks
  std::string bootstrap = "auto";         ///< auto, alone, fork or mpi
  std::string server = "adaptive";        ///< block, poll or adaptive
  std::string interface;                  ///< network interface between nodes; empty: chosen
  std::string tcp_congestion = "auto";    ///< congestion control: auto, system or the kernel's
                                          ///< name
  std::string verbs_device;               ///< NAME or NAME:PORT; empty: chosen
  std::int64_t verbs_gid = -1;            ///< index of the device's GID; −1: chosen
  std::int64_t agent_threads = 1;         ///< threads of each node's agent
  std::string server_buffers = "shared";  ///< shared or per_client
  std::int64_t reply_kib = 1024;          ///< replies that an agent keeps for each peer
  std::int64_t request_kib = 4096;        ///< requests that a process keeps for each node
  std::int64_t server_cluster = 0;        ///< agents that share all requests; 0: chosen, 1: none
  std::string server_replies = "direct";  ///< direct or via: path of replies to shared requests
  std::int64_t forward_window = 32;       ///< requests that an agent has forwarded to another
  std::int64_t forward_kib = 1024;        ///< bytes of those, to each agent
  std::string verbs_get = "auto";         ///< auto, read or assisted
  std::string verbs_small_transfers = "auto";  ///< auto, device or requests
  std::string verbs_register = "cached";       ///< cached, each or never
  std::int64_t verbs_chunk_kib = 1024;         ///< ordinary memory registered at a time; 0: all
  std::int64_t verbs_receives = 4096;          ///< receive buffers, shared by all peers
  std::int64_t verbs_sends = 256;              ///< send buffers for messages and small transfers
  std::int64_t verbs_buffer_bytes = 8192;      ///< size of each of these
  std::int64_t verbs_window = 16;              ///< messages of a peer that were not read yet
  std::int64_t verbs_depth = 128;              ///< requests in flight to a peer
  std::int64_t verbs_completions = 32768;      ///< entries of a completion queue
  std::string mpi_progress = "sleep";          ///< sleep, poll or none
  std::string mpi_epochs = "lock_all";         ///< lock_all or per_operation
  std::string mpi_vectors = "auto";            ///< auto, direct, batched or conservative
  std::int64_t mpi_batch = 0;                  ///< operations per epoch; 0: any number
  std::string mpi_strides = "auto";            ///< auto, direct or vectors
  std::string mpi_locks = "mcs";               ///< mcs or bytes
  std::string mpi_handles = "auto";            ///< auto, requests or flush
  std::string mpi_staging = "auto";            ///< auto, always or never: local buffers in windows
  std::int64_t direct_row = 0;             ///< bytes; shorter rows are packed for other nodes; 0:
                                           ///< chosen
  std::int64_t chunk_kib = 0;              ///< size of packed chunks; 0: by size of the transfer
  std::int64_t pipeline = 0;               ///< bytes; shorter packed transfers are one part; 0:
                                           ///< chosen
  std::string tcp_times = "measured";      ///< measured, fixed, or the times themselves
  std::int64_t ranks_per_node = 0;         ///< 0: as many as the machine really has
  std::int64_t arena_mib = 0;              ///< address space of a node's arena; 0: from the RAM
  std::int64_t start_timeout_ms = 60'000;  ///< how long Job::start waits for the other ranks
  std::int64_t spin_ns = -1;       ///< busy wait before sleeping; −1: chosen from the cores
  std::int64_t liveness_ms = 100;  ///< how often a waiting rank checks that its peers live
  std::int64_t aggregate = 256;    ///< bytes of the largest operations that are aggregated; 0: none
  std::int64_t fence_window = 16;  ///< peers that are fenced at once
  std::int64_t max_outstanding = 1024;  ///< non-blocking operations in flight; beyond it the oldest
                                        ///< is completed
  std::int64_t collective_slot_bytes = 16'384;  ///< buffer of each rank for a team's collectives
  std::int64_t check_overlap = 1;               ///< 1: refuse fragment lists that overlap
  std::string check = "off";                    ///< off, races or races-fail: checks arrays for
                                                ///< races
  std::string armci_errors = "abort";           ///< abort or return: what armci.h's functions do
  std::int64_t blas_threads = 0;                ///< of each rank in linalg/; 0: its share of the
                                                ///< cores
  std::int64_t halo_pack_bytes = 65'536;        ///< bytes of ghost layers that are sent packed; 0:
                                                ///< none
  std::int64_t linalg_buffer_mib = 64;          ///< of each rank for parts of other ranks' matrices
  std::int64_t armci_memget_mib = 1024;         ///< address space of each process for ARMCI_Memget
  std::string tune;                             ///< the text of TESSERA_TUNE, for display

  /// The defaults, changed by the TESSERA_* variables of this process's environment. If `warnings`
  /// is not null, receives one sentence for each TESSERA_* variable that is not in the table.
  /// Errors: invalid_argument for a value outside the setting's range, or an unknown name in
  /// TESSERA_TUNE.
  static Result<Settings> from_environment(std::vector<std::string>* warnings = nullptr);

  /// The same from lines of the form "NAME=value"; ignores other lines.
  static Result<Settings> from(std::span<const std::string> environment,
                               std::vector<std::string>* warnings = nullptr);
};

/// The variable with all experimental settings.
inline constexpr std::string_view tune_variable = "TESSERA_TUNE";

using SettingField = std::variant<std::string Settings::*, std::int64_t Settings::*>;

/// One row of the table.
struct SettingInfo {
  std::string_view name;  ///< TESSERA_LOG; in lower case that of a part of TESSERA_TUNE
  std::string_view unit;
  std::string_view range;  ///< as shown to the user
  std::string_view meaning;
  SettingField field;
  std::int64_t least = 0;  ///< numbers only
  std::int64_t most = 0;
  bool is_one_of = false;  ///< text: `range` lists the allowed words
  bool is_list = false;    ///< text that may contain commas

  /// Whether TESSERA_TUNE sets it, not a variable of its own.
  [[nodiscard]] constexpr bool is_experimental() const noexcept {
    return !name.starts_with("TESSERA_");
  }
};

/// All settings, in the order in which they are printed: those for users, then experimental ones.
std::span<const SettingInfo> setting_table();

/// The setting with this `SettingInfo::name`; null if there is none.
const SettingInfo* find_setting(std::string_view name);

/// How users set it: "TESSERA_LOG", "TESSERA_TUNE=spin_ns".
std::string full_name(const SettingInfo& row);

/// For a name that is not a setting: "did you mean TESSERA_LOG?". The `value` completes the answer
/// for a variable whose setting is now in TESSERA_TUNE.
std::string advice_for_unknown(std::string_view name, std::string_view value = "...");

/// Local. The names of a list such as "shm,tcp", without empty ones. They refer to `list`.
std::vector<std::string_view> split_names(std::string_view list);

/// Local. Whether a list of transports, as in Settings::transport, has `name`.
bool names_transport(std::string_view list, std::string_view name);

/// The value of `row` in `settings`, as text.
std::string value_text(const Settings& settings, const SettingInfo& row);

}  // namespace tessera::rma
