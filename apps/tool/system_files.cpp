// SPDX-License-Identifier: BSD-3-Clause
#include "apps/tool/system_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

namespace tessera::tool {
namespace {

namespace fs = std::filesystem;

template <class Number>
std::optional<Number> number_in(const std::string& path) {
  std::ifstream file(path);
  Number value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

// For "always [madvise] never": madvise.
std::string chosen_word(const std::string& line) {
  const std::size_t begin = line.find('[');
  const std::size_t end = line.find(']');
  return begin == std::string::npos || end == std::string::npos
             ? line
             : line.substr(begin + 1, end - begin - 1);
}

// The names in a folder, sorted; none if it cannot be read.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<int> whole_number(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

std::string whole_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Field 4 of /proc/PID/stat, after the name, which may contain blanks and brackets.
int parent_of(const std::string& process) {
  const std::string text = read_line(process + "/stat");
  std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  char state = ' ';
  int parent = 0;
  return fields >> state >> parent ? parent : 0;
}

// Whether its environment is from a launcher.
bool was_launched(const std::string& process) {
  const std::string environment = '\0' + whole_file(process + "/environ");
  for (const std::string_view name :
       {"TESSERA_LAUNCH=", "OMPI_COMM_WORLD_RANK=", "PMIX_RANK=", "PMI_RANK=", "SLURM_PROCID="}) {
    if (environment.find('\0' + std::string(name)) != std::string::npos) {
      return true;
    }
  }
  return false;
}

// Whether process 1, the parent of orphans, started ranks itself: in a container it may be the
// launcher.
bool is_init_a_launcher(const std::string& root) {
  constexpr std::array launchers = {"tessera-run", "mpirun", "mpiexec",         "orterun",
                                    "prterun",     "orted",  "hydra_pmi_proxy", "slurmstepd"};
  const std::string name = read_line(root + "/proc/1/comm");
  return std::any_of(launchers.begin(), launchers.end(),
                     [&](std::string_view each) { return name == each; });
}

// How much node memory it holds; nullopt if it has no such file.
std::optional<std::uint64_t> node_memory_of(const std::string& process) {
  constexpr std::uint64_t bytes_per_block = 512;
  std::optional<std::uint64_t> bytes;
  for (const std::string& descriptor : names_in(process + "/fd")) {
    const std::string path = fmt::format("{}/fd/{}", process, descriptor);
    std::error_code error;
    if (fs::read_symlink(path, error).string() != "/memfd:tessera (deleted)" || error) {
      continue;
    }
    struct stat file {};
    const bool is_known = stat(path.c_str(), &file) == 0;
    bytes = bytes.value_or(0) +
            (is_known ? static_cast<std::uint64_t>(file.st_blocks) * bytes_per_block : 0);
  }
  return bytes;
}

}  // namespace

std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

bool has_capability(const std::string& root, unsigned capability) {
  constexpr std::string_view name = "CapEff:\t";
  constexpr int hexadecimal = 16;
  std::ifstream file(root + "/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name)) {
      std::uint64_t bits = 0;
      std::from_chars(line.data() + name.size(), line.data() + line.size(), bits, hexadecimal);
      return ((bits >> capability) & 1U) != 0;
    }
  }
  return false;
}

HugePages read_huge_pages(const std::string& root) {
  HugePages pages;
  const std::string transparent = root + "/sys/kernel/mm/transparent_hugepage/";
  pages.transparent = chosen_word(read_line(transparent + "enabled"));
  pages.shared = chosen_word(read_line(transparent + "shmem_enabled"));
  // Pages may have several sizes; count reserved pages of all of them.
  constexpr std::string_view prefix = "hugepages-";
  const std::string folder = root + "/sys/kernel/mm/hugepages/";
  for (const std::string& size : names_in(folder)) {
    if (!size.starts_with(prefix)) {
      continue;
    }
    std::uint64_t kib = 0;
    std::from_chars(size.data() + prefix.size(), size.data() + size.size(), kib);
    const auto reserved = number_in<std::uint64_t>(folder + size + "/nr_hugepages").value_or(0);
    const auto unused = number_in<std::uint64_t>(folder + size + "/free_hugepages").value_or(0);
    pages.reserved_bytes += reserved * kib * 1024;
    pages.unused_bytes += unused * kib * 1024;
  }
  return pages;
}

std::vector<RdmaPort> read_rdma_ports(const std::string& root) {
  std::vector<RdmaPort> ports;
  const std::string folder = root + "/sys/class/infiniband/";
  for (const std::string& device : names_in(folder)) {
    for (const std::string& port : names_in(folder + device + "/ports")) {
      const std::string files = fmt::format("{}{}/ports/{}/", folder, device, port);
      const std::string state = read_line(files + "state");  // "4: ACTIVE"
      const std::size_t colon = state.find(": ");
      ports.push_back({.device = device,
                       .port = whole_number(port).value_or(0),
                       .state = colon == std::string::npos ? state : state.substr(colon + 2),
                       .link_layer = read_line(files + "link_layer"),
                       .rate = read_line(files + "rate")});
    }
  }
  return ports;
}

void read_interface(const std::string& root, NetworkInterface& each) {
  const std::string folder = root + "/sys/class/net/" + each.name + "/";
  std::error_code error;
  each.is_bridge = fs::exists(folder + "bridge", error);
  each.speed_mbit = number_in<std::int64_t>(folder + "speed").value_or(-1);
}

std::vector<Holder> read_node_memory_users(const std::string& root) {
  constexpr int first_process = 1;
  const bool has_orphans = !is_init_a_launcher(root);
  std::vector<Holder> holders;
  for (const std::string& name : names_in(root + "/proc")) {
    const std::optional<int> id = whole_number(name);
    if (!id || *id == getpid()) {
      continue;
    }
    const std::string process = fmt::format("{}/proc/{}", root, name);
    if (const auto bytes = node_memory_of(process)) {
      holders.push_back({.process = *id,
                         .program = read_line(process + "/comm"),
                         .bytes = *bytes,
                         .is_orphan = has_orphans && parent_of(process) == first_process &&
                                      was_launched(process)});
    }
  }
  return holders;
}

}  // namespace tessera::tool
