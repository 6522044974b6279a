// SPDX-License-Identifier: BSD-3-Clause
#include "rma/base/memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>

#include "rma/base/control_group.hpp"
#include "rma/base/fd_passing.hpp"

namespace tessera::rma {
namespace {

// Without a free descriptor all files seem to be missing, and no limit would be seen.
Status check_descriptors() {
  const detail::Descriptor one(open("/proc/meminfo", O_RDONLY | O_CLOEXEC));
  const int error = one.get() < 0 ? errno : 0;
  if (error == EMFILE || error == ENFILE) {
    return Status::error(Code::limit_exceeded,
                         fmt::format("cannot read how much memory is available: {}",
                                     describe_system_error(error)))
        .hint(remedy_for_system_error(error));
  }
  return {};
}

// The value of a line "Name:   123 kB" of /proc/meminfo, in bytes.
std::optional<std::uint64_t> meminfo_bytes(const std::string& name) {
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word) {
    if (word == name) {
      std::uint64_t kib = 0;
      return file >> kib ? std::optional(kib * 1024) : std::nullopt;
    }
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

// The part of the group's memory that the kernel drops on demand: file pages not used lately.
std::uint64_t droppable_bytes(const std::string& statistics, std::string_view name) {
  std::ifstream file(statistics);
  std::string key;
  std::uint64_t bytes = 0;
  while (file >> key >> bytes) {
    if (key == name) {
      return bytes;
    }
  }
  return 0;
}

/// The files of a control group's folder that describe its memory.
struct GroupFiles {
  const char* controller;
  const char* limit;
  const char* used;
  const char* droppable;  ///< name of its line in memory.stat
};

// The tightest memory limit of the group and its parents.
std::optional<MemoryLimit> tightest_limit(const GroupFiles& files) {
  std::optional<MemoryLimit> tightest;
  for (const std::string& folder : control_group_folders("", files.controller)) {
    const auto limit = number_in(fmt::format("{}/{}", folder, files.limit));
    if (!limit) {
      continue;
    }
    const std::uint64_t used = number_in(fmt::format("{}/{}", folder, files.used)).value_or(0);
    const std::uint64_t droppable = droppable_bytes(folder + "/memory.stat", files.droppable);
    const MemoryLimit here{*limit, used - std::min(used, droppable)};
    if (!tightest || here.left() < tightest->left()) {
      tightest = here;
    }
  }
  return tightest;
}

// Version 2 first, then version 1.
std::optional<MemoryLimit> group_limit() {
  const auto unified = tightest_limit({"", "memory.max", "memory.current", "inactive_file"});
  return unified ? unified
                 : tightest_limit({"memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                                   "total_inactive_file"});
}

// Pages of this process; 0 if unknown. Does not use a stream, whose buffer needs memory.
std::uint64_t mapped_pages() noexcept {
  const detail::Descriptor file(open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
  std::array<char, 64> text{};
  const ssize_t bytes = read(file.get(), text.data(), text.size());
  std::uint64_t pages = 0;
  std::from_chars(text.data(), text.data() + std::max<ssize_t>(bytes, 0), pages);
  return pages;
}

std::string limit_on_open_files() {
  rlimit files{};
  return getrlimit(RLIMIT_NOFILE, &files) == 0
             ? fmt::format("this process may have {}", files.rlim_cur)
             : "";
}

std::string limit_on_memory() {
  const Result<AvailableMemory> available = find_available_memory();
  return available.ok() ? available->describe() + address_space_note() : "";
}

// The limit that caused `error`, with its number, for messages; "" if none is known.
std::string limit_that_decided(int error) {
  switch (error) {
    case EMFILE:
      return limit_on_open_files();
    case ENFILE: {
      const auto files = number_in("/proc/sys/fs/file-max");
      return files ? fmt::format("the system may have {}", *files) : "";
    }
    case ENOMEM:
    case ENOBUFS:
      return limit_on_memory();
    case EFBIG:
      return fmt::format("files of this process may have {}", human_bytes(max_file_bytes()));
    default:
      return "";
  }
}

}  // namespace

std::optional<MemoryLimit> address_space_limit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  return MemoryLimit{limit.rlim_cur,
                     mapped_pages() * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))};
}

std::uint64_t total_memory_bytes() {
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  const std::uint64_t machine = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const auto group = group_limit();
  return group ? std::min(machine, group->limit) : machine;
}

std::string AvailableMemory::describe() const {
  const std::string left = human_bytes(bytes);
  return group_limit == 0 ? fmt::format("{} are available", left)
                          : fmt::format("{} are available of the {} of its control group", left,
                                        human_bytes(group_limit));
}

Result<AvailableMemory> find_available_memory() {
  TESSERA_RETURN_IF_ERROR(check_descriptors());
  const std::uint64_t machine = meminfo_bytes("MemAvailable:").value_or(total_memory_bytes());
  const auto group = group_limit();
  return group && group->left() < machine ? AvailableMemory{group->left(), group->limit}
                                          : AvailableMemory{machine, 0};
}

std::uint64_t available_memory_bytes() {
  const Result<AvailableMemory> found = find_available_memory();
  return found.ok() ? found->bytes : 0;
}

std::uint64_t max_file_bytes() noexcept {
  rlimit limit{};
  const bool is_limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return is_limited ? limit.rlim_cur : std::numeric_limits<std::uint64_t>::max();
}

std::string describe_system_error(int error) {
  const std::string text = std::strerror(error);
  const std::string limit = limit_that_decided(error);
  return limit.empty() ? text : fmt::format("{} ({})", text, limit);
}

const char* remedy_for_system_error(int error) noexcept {
  switch (error) {
    case EMFILE:
      return "raise the limit on open files (ulimit -n)";
    case ENFILE:
      return "raise the system's limit on open files (sysctl fs.file-max), or close files of other "
             "processes";
    case ENOMEM:
    case ENOBUFS:
      return "free memory on this machine, or raise the limits of this process: ulimit -v and its "
             "control group's";
    case EFBIG:
      return "raise the limit on the size of files (ulimit -f)";
    default:
      return "";
  }
}

std::string address_space_note() {
  const auto limit = address_space_limit();
  return limit ? fmt::format("; {} are left of the {} of address space that this process may have",
                             human_bytes(limit->left()), human_bytes(limit->limit))
               : "";
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array units{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

}  // namespace tessera::rma
