// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/machine.hpp"

#include <sched.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "bench/support/statistics.hpp"
#include "rma/base/control_group.hpp"

namespace tessera::bench {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// The number after the prefix of a name such as "node12", or −1.
int number_after(std::string_view name, std::string_view prefix) {
  int number = -1;
  if (name.starts_with(prefix)) {
    const char* const end = name.data() + name.size();
    const auto [last, error] = std::from_chars(name.data() + prefix.size(), end, number);
    return error == std::errc() && last == end ? number : -1;
  }
  return -1;
}

/// The entries of a folder whose names are the prefix and a number, in the order of the numbers.
std::vector<fs::path> numbered(const fs::path& folder, std::string_view prefix) {
  std::vector<std::pair<int, fs::path>> found;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
    const int number = number_after(entry.path().filename().string(), prefix);
    if (number >= 0) {
      found.emplace_back(number, entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<fs::path> paths;
  for (auto& [number, path] : found) {
    paths.push_back(std::move(path));
  }
  return paths;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
    found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string counted(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

Processors parse_processors(std::string_view list) {
  Processors found;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view range = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    const std::size_t dash = std::min(range.find('-'), range.size());
    const int first = number_after(range.substr(0, dash), "");
    const int last = dash < range.size() ? number_after(range.substr(dash + 1), "") : first;
    for (int at = first; at >= 0 && at <= last && at < static_cast<int>(found.size()); ++at) {
      found.set(static_cast<std::size_t>(at));
    }
  }
  return found;
}

std::vector<Processors> numa_nodes(const fs::path& sys) {
  std::vector<Processors> nodes;
  for (const fs::path& node : numbered(sys / "devices/system/node", "node")) {
    const Processors processors = parse_processors(first_line(node / "cpulist"));
    if (processors.any()) {  // others have memory, but no processors
      nodes.push_back(processors);
    }
  }
  return nodes;
}

int numa_node_of(const Processors& processors, const std::vector<Processors>& nodes) {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const Processors& node) {
    return processors.any() && (processors & ~node).none();
  });
  return found == nodes.end() ? -1 : static_cast<int>(found - nodes.begin());
}

Processors own_processors() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  Processors found;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) {
    for (std::size_t cpu = 0; cpu < std::min<std::size_t>(found.size(), CPU_SETSIZE); ++cpu) {
      found[cpu] = CPU_ISSET(cpu, &mask) != 0;
    }
  }
  return found;
}

std::string describe_topology(const fs::path& sys) {
  std::set<std::string> packages;
  std::set<std::pair<std::string, std::string>> cores;
  std::size_t processors = 0;
  for (const fs::path& cpu : numbered(sys / "devices/system/cpu", "cpu")) {
    const std::string package = first_line(cpu / "topology/physical_package_id");
    if (!package.empty()) {  // the others are not online
      packages.insert(package);
      cores.emplace(package, first_line(cpu / "topology/core_id"));
      ++processors;
    }
  }
  return fmt::format("{}, {}, {}, {}", counted(packages.size(), "package"),
                     counted(numa_nodes(sys).size(), "NUMA node"), counted(cores.size(), "core"),
                     counted(processors, "processor"));
}

std::vector<std::string> adapters(const fs::path& sys) {
  std::vector<std::string> found;
  for (const fs::path& device : entries(sys / "class/net")) {
    if (device.filename() != "lo" && first_line(device / "operstate") == "up") {
      const std::string speed = first_line(device / "speed");
      const bool is_known = !speed.empty() && speed.front() != '-';
      found.push_back(device.filename().string() + (is_known ? " " + speed + " Mbit/s" : ""));
    }
  }
  for (const fs::path& device : entries(sys / "class/infiniband")) {
    found.push_back(device.filename().string() + " " + first_line(device / "ports/1/rate"));
  }
  return found;
}

namespace {

/// "0-3,8"
std::string ranges(const Processors& cpus) {
  std::string text;
  for (std::size_t cpu = 0; cpu < cpus.size(); ++cpu) {
    if (!cpus[cpu] || (cpu > 0 && cpus[cpu - 1])) {
      continue;
    }
    std::size_t last = cpu;
    while (last + 1 < cpus.size() && cpus[last + 1]) {
      ++last;
    }
    text += fmt::format("{}{}", text.empty() ? "" : ",", cpu);
    text += last > cpu ? fmt::format("-{}", last) : "";
  }
  return text;
}

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  utsname names = {};
  uname(&names);
  return names.machine;
}

Host describe_host() {
  Host host;
  utsname names = {};
  uname(&names);
  host.cpu = cpu_model();
  host.kernel = fmt::format("{} {}", names.sysname, names.release);
  host.governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (host.governor.empty()) {
    host.governor = "unknown";
  }
  host.memory_bytes = memory_bytes();
  host.llc_bytes = max_cache_bytes();
  host.topology = describe_topology("/sys");
  host.tcp_congestion = first_line("/proc/sys/net/ipv4/tcp_congestion_control");
  host.nics = adapters("/sys");
  return host;
}

/// One rank's location, which it sends to the others.
struct Place {
  std::size_t node = 0;  ///< hash of the node's name
  Processors cpus;
};

/// Collective. Fills in what depends on all ranks.
void describe_placement(RankGroup& group, Host& host, Launch& launch) {
  utsname names = {};
  uname(&names);
  const Place mine = {std::hash<std::string_view>{}(names.nodename), own_processors()};
  std::set<std::size_t> nodes;
  Processors cpus;
  int ranks_here = 0;
  for (int rank = 0; rank < group.size(); ++rank) {
    const Place place = group.share(mine, rank);
    nodes.insert(place.node);
    if (place.node == mine.node) {
      cpus |= place.cpus;
      ++ranks_here;
    }
  }
  host.cores = granted_cores("", static_cast<int>(cpus.count()));
  launch.nodes = static_cast<int>(nodes.size());
  launch.ranks = group.size();
  launch.oversubscribed = group.maximum(ranks_here > host.cores ? 1 : 0) > 0;
  const auto online = static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN));
  launch.binding = mine.cpus.count() >= online ? "none" : ranges(mine.cpus);
}

std::map<std::string, std::string> environment_of_note() {
  std::map<std::string, std::string> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view setting = *entry;
    const std::size_t equals = setting.find('=');
    const std::string_view name = setting.substr(0, equals);
    if (is_of_note(name) && equals != std::string_view::npos) {
      found.emplace(name, setting.substr(equals + 1));
    }
  }
  return found;
}

/// A chain of dependent multiplications: the same instructions every time, no memory.
std::uint64_t fixed_work() {
  constexpr int steps = 100'000;
  std::uint64_t value = 1;
  for (int i = 0; i < steps; ++i) {
    value = value * 6364136223846793005U + 1442695040888963407U;
  }
  return value;
}

}  // namespace

bool is_of_note(std::string_view variable) {
  constexpr std::array<std::string_view, 2> blas = {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"};
  // These choose between shared memory, TCP and devices for MPI and OpenSHMEM, and how they wait:
  // each choice is another baseline. Only some variables with these prefixes are listed, because
  // launchers set many others.
  constexpr std::array<std::string_view, 10> ways = {"OMPI_MCA_btl",
                                                     "OMPI_MCA_pml",
                                                     "OMPI_MCA_osc",
                                                     "OMPI_MCA_mtl",
                                                     "OMPI_MCA_mpi_yield_when_idle",
                                                     "UCX_TLS",
                                                     "UCX_NET_DEVICES",
                                                     "FI_PROVIDER",
                                                     "OMPI_MCA_coll",
                                                     "OMPI_MCA_spml"};
  const auto is_among = [variable](const auto& names) {
    return std::find(names.begin(), names.end(), variable) != names.end();
  };
  return variable.starts_with("TESSERA_") || variable.starts_with("MPIR_CVAR_") || is_among(blas) ||
         is_among(ways);
}

int granted_cores(const std::string& root, int bound_to) {
  const double quota = rma::read_processor_quota(root).processors;
  return quota > 0 ? std::clamp(static_cast<int>(quota), 1, std::max(bound_to, 1)) : bound_to;
}

std::int64_t max_cache_bytes() {
  std::int64_t largest = 0;
  for (int index = 0;; ++index) {
    std::ifstream in(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index));
    std::int64_t size = 0;
    if (!(in >> size)) {
      return largest;
    }
    const int unit = in.get();
    size <<= unit == 'K' ? 10 : unit == 'M' ? 20 : 0;
    largest = std::max(largest, size);
  }
}

std::int64_t memory_bytes() {
  return sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
}

double noise_probe_percent() {
  constexpr std::size_t samples = 150;
  std::vector<double> times;
  std::uint64_t sink = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    const std::int64_t start = now_ns();
    sink ^= fixed_work() + i;
    times.push_back(static_cast<double>(now_ns() - start));
  }
  volatile std::uint64_t keep = sink;  // without it the compiler could remove the work
  (void)keep;
  const Stats stats = summarise(times);
  return 100 * (stats.p95 - stats.min) / stats.min;
}

RunInfo describe_run(RankGroup& group, int argc, const char* const* argv) {
  RunInfo run;
  run.suite_version = suite_version();
  run.git = git_description();
  run.host = describe_host();
  run.launch.argv.assign(argv, argv + argc);
  run.env = environment_of_note();
  run.timer_cost_ns = timer_cost_ns();
  describe_placement(group, run.host, run.launch);
  group.barrier();
  run.noise_percent = group.maximum(noise_probe_percent());
  return run;
}

std::vector<std::string> objections(const RunInfo& run) {
  std::vector<std::string> reasons;
  if (run.launch.oversubscribed) {
    reasons.push_back(fmt::format("oversubscribed: {} ranks on {} node(s), {} core(s) here",
                                  run.launch.ranks, run.launch.nodes, run.host.cores));
  }
  if (!run.is_checked()) {
    reasons.emplace_back("data were not checked (--no-check)");
  }
  if (run.host.governor != "performance") {
    reasons.push_back(fmt::format("frequency governor is {}, not performance", run.host.governor));
  }
  if (run.noise_percent > noise_limit_percent) {
    reasons.push_back(
        fmt::format("the time of a fixed piece of work varies by {:.1f} %, more than {:.0f} %",
                    run.noise_percent, noise_limit_percent));
  }
  if (run.host.tcp_congestion.starts_with("bbr")) {
    reasons.push_back(
        fmt::format("TCP's congestion control is {}, which paces long messages: it slows down "
                    "other libraries; Tessera and the baselines choose another one",
                    run.host.tcp_congestion));
  }
  if (run.host.memory_bytes > 0 && 4 * run.host.llc_bytes > max_cold_bytes(run.host.memory_bytes)) {
    reasons.push_back(fmt::format(
        "a cache of {} MiB is large for {} MiB of memory: cold data are less than four times the "
        "cache (if the cache's size is wrong, give the right one with --cache)",
        run.host.llc_bytes >> 20, run.host.memory_bytes >> 20));
  }
  return reasons;
}

std::string protocol_settings(const RunInfo& run) {
  std::string found;
  for (const auto& [name, value] : run.env) {
    if (name.starts_with("TESSERA_VERBS_") || name == "TESSERA_TUNE") {
      found += fmt::format("{}{}={}", found.empty() ? "" : " ", name, value);
    }
  }
  return found;
}

namespace {

std::int64_t own_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word == "RssAnon:") {
      std::int64_t kib = 0;
      status >> kib;
      return kib * 1024;
    }
  }
  return 0;
}

// The node's shared memory is an unnamed file that this process has open.
std::string find_node_file() {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const auto target = std::filesystem::read_symlink(entry.path(), error);
    if (target.string().starts_with("/memfd:tessera ")) {
      return entry.path().string();
    }
  }
  return "";
}

std::int64_t allocated_bytes(const std::string& file) {
  struct stat found {};
  // unit of st_blocks, whatever the file system's block size is
  constexpr std::int64_t block = 512;
  return !file.empty() && stat(file.c_str(), &found) == 0 ? found.st_blocks * block : 0;
}

}  // namespace

MemoryUse memory_in_use() {
  return {own_bytes(), allocated_bytes(find_node_file())};
}

MemoryUse MemoryWatch::stop() {
  is_over_.store(true);
  if (thread_.joinable()) {
    thread_.join();
  }
  return max_;
}

void MemoryWatch::look() {
  const std::string file = find_node_file();
  bool is_last = false;
  while (!is_last) {
    is_last = is_over_.load();
    max_.own = std::max(max_.own, own_bytes());
    max_.shared = std::max(max_.shared, allocated_bytes(file));
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
}

}  // namespace tessera::bench
