// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/detail/call_site.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::arrays::detail {
namespace {

// A return address, and where it lies on the stack.
struct StackSlot {
  const std::uintptr_t* at = nullptr;
  std::uintptr_t value = 0;
};

// The frames of one call. The next call at the same depth has the same site if all return addresses
// between it and the program are the same.
struct Walk {
  static constexpr std::size_t max_slots = 24;

  const void* frame = nullptr;  // of find_call_site(); null: nothing
  std::array<StackSlot, max_slots> slots{};
  std::size_t count = 0;
  bool is_regular = true;  // return addresses lie where they are expected
  CallSite site;
  std::size_t found = 0;  // frames of the site

  [[nodiscard]] bool matches(const void* now) const noexcept {
    return frame == now &&
           std::all_of(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(count),
                       [](const StackSlot& each) { return *each.at == each.value; });
  }
};

// The walks that a thread made last, by the depth of its stack.
struct RecentWalks {
  static constexpr std::size_t sets = 8;
  static constexpr std::size_t ways = 16;
  struct Set {
    std::array<Walk, ways> walks;
    std::size_t next = 0;    // is replaced next
    std::size_t latest = 0;  // was found last
  };
  std::array<Set, sets> all;
  Walk irregular;  // the last one that can't be recognised

  [[nodiscard]] Set& set_of(const void* frame) noexcept {
    constexpr unsigned alignment_bits = 4;
    return all[(reinterpret_cast<std::uintptr_t>(frame) >> alignment_bits) % sets];
  }
};

// Null before the thread's first walk, when the thread ends, and without memory. Accessed in one
// instruction.
[[gnu::tls_model("initial-exec")]] constinit thread_local RecentWalks* recent_walks = nullptr;

// Owns a thread's walks.
struct WalksOfThread {
  std::unique_ptr<RecentWalks> walks = std::make_unique<RecentWalks>();

  WalksOfThread() { recent_walks = walks.get(); }
  WalksOfThread(const WalksOfThread&) = delete;
  WalksOfThread& operator=(const WalksOfThread&) = delete;
  ~WalksOfThread() { recent_walks = nullptr; }
};

// The first time in a thread.
void make_recent_walks() noexcept {
  try {
    static thread_local const WalksOfThread walks;
  } catch (const std::bad_alloc&) {
    // The next call tries again.
  }
}

std::string_view file_name(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);
}

bool is_own_object(std::uintptr_t address) noexcept {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(address), &info) == 0 || info.dli_fname == nullptr) {
    return false;
  }
  const std::string_view name = file_name(info.dli_fname);
  return name.starts_with("libtessera") || name.starts_with("libga.") ||
         name.starts_with("libarmci");
}

// 0 if there are none.
std::uint64_t hash_of_site(std::span<const std::uintptr_t> returns) noexcept {
  constexpr std::uint64_t odd = 0x9e37'79b9'7f4a'7c15;
  std::uint64_t hash = 0;
  for (const std::uintptr_t each : returns) {
    hash = (std::rotl(hash, 23) ^ each) * odd;
  }
  return hash;
}

// The stack below the program's frames: the library, and what it calls.
_Unwind_Reason_Code visit_frame(_Unwind_Context* context, void* data) noexcept {
  Walk& walk = *static_cast<Walk*>(data);
  const std::uintptr_t address = _Unwind_GetIP(context);
  const auto* const slot = reinterpret_cast<const std::uintptr_t*>(_Unwind_GetCFA(context)) - 1;
  if (address == 0) {
    return _URC_END_OF_STACK;
  }
  if (static_cast<const void*>(slot) < walk.frame) {
    return _URC_NO_REASON;  // find_call_site() itself, and what it calls
  }
  walk.is_regular = walk.is_regular && walk.count < Walk::max_slots && *slot == address;
  if (walk.is_regular) {
    walk.slots[walk.count++] = {slot, address};
  }
  if (walk.found > 0 || !is_own_object(address)) {
    walk.site.returns[walk.found++] = address;
  }
  return walk.found == CallSite::max_frames ? _URC_END_OF_STACK : _URC_NO_REASON;
}

// --- names --------------------------------------------------------------------------------------

// The file that contains an address, and the address as debuggers know it.
struct Location {
  std::string file;
  std::uintptr_t address = 0;
  std::string symbol;  // empty: unknown
};

std::optional<Location> locate_call(std::uintptr_t returns) {
  Dl_info info{};
  link_map* map = nullptr;
  // A return address may be the first one of the next line.
  const std::uintptr_t call = returns - 1;
  if (dladdr1(reinterpret_cast<void*>(call), &info, reinterpret_cast<void**>(&map),
              RTLD_DL_LINKMAP) == 0 ||
      map == nullptr) {
    return std::nullopt;
  }
  Location found{.file = map->l_name, .address = call - map->l_addr, .symbol = {}};
  if (found.file.empty()) {
    found.file = "/proc/self/exe";
    std::array<char, 4096> path{};
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
    if (length > 0) {
      found.file.assign(path.data(), static_cast<std::size_t>(length));
    }
  }
  if (info.dli_sname != nullptr) {
    int failed = 0;
    const std::unique_ptr<char, void (*)(void*)> text(
        abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &failed), std::free);
    found.symbol = failed == 0 && text ? text.get() : info.dli_sname;
  }
  return found;
}

// What a program prints; empty if it can't be run.
std::string output_of(const std::vector<std::string>& command) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {};
  }
  std::vector<char*> arguments;
  for (const std::string& each : command) {
    arguments.push_back(const_cast<char*>(each.c_str()));
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  std::array<char, 1024> part{};
  for (ssize_t got = 1; error == 0 && got != 0;) {
    got = read(ends[0], part.data(), part.size());
    if (got > 0) {
      text.append(part.data(), static_cast<std::size_t>(got));
    } else if (got < 0 && errno != EINTR) {
      break;
    }
  }
  close(ends[0]);
  while (error == 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

// A function, and the functions that were inlined into it, innermost first.
struct SourceLine {
  std::string function;
  std::string file;  // "??" if unknown
  std::string line;
};

std::vector<SourceLine> lines_of(const std::string& file, const std::vector<Location>& all) {
  std::vector<std::string> command{"addr2line", "-Cfie", file};
  for (const Location& each : all) {
    command.push_back(fmt::format("{:#x}", each.address));
  }
  const std::string text = output_of(command);
  std::vector<SourceLine> lines;
  std::string function;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (function.empty()) {
      function = line;
      continue;
    }
    const std::size_t colon = line.rfind(':');
    const std::string number = line.substr(std::min(colon, line.size() - 1) + 1);
    lines.push_back(
        {std::exchange(function, {}), line.substr(0, colon), number.substr(0, number.find(' '))});
  }
  return lines;
}

// Whether a source is of a layer of the library: here, or in the folder of an installation.
// Programs beside the library have such folders, too.
bool is_in_layer(std::string_view file) noexcept {
  for (const std::string_view other : {"tests/", "bench/", "apps/", "docs/"}) {
    if (file.find(other) != std::string_view::npos) {
      return false;
    }
  }
  for (const std::string_view layer : {"rma/", "arrays/", "linalg/", "fortran/"}) {
    const std::size_t at = file.rfind(layer);
    if (at != std::string_view::npos && (at == 0 || file[at - 1] == '/')) {
      return true;
    }
  }
  return false;
}

// A function of the library or of the standard library, maybe of their headers.
bool is_own_line(const SourceLine& line) noexcept {
  const bool is_in_namespace = line.function.find("tessera::") != std::string::npos;
  if (line.file == "??") {
    return is_in_namespace;
  }
  const bool is_own = is_in_layer(line.file) && (is_in_namespace || line.file.ends_with(".hpp"));
  return is_own || line.file.find("/c++/") != std::string::npos;
}

// Without its parameters, and without the namespaces that have no name.
std::string short_name(std::string function) {
  constexpr std::size_t most = 80;
  constexpr std::string_view nameless = "(anonymous namespace)::";
  for (std::size_t at = 0; (at = function.find(nameless)) != std::string::npos;) {
    function.erase(at, nameless.size());
  }
  std::size_t at = function.rfind(')');
  for (int depth = at == std::string::npos ? 0 : 1; depth > 0 && at > 0;) {
    --at;
    depth += function[at] == ')' ? 1 : function[at] == '(' ? -1 : 0;
  }
  function.resize(std::min(at, function.size()));
  if (function.size() > most) {
    function.resize(most);
    function += "...";
  }
  return function;
}

std::string line_text(const SourceLine& line) {
  const std::string function = short_name(line.function);
  return fmt::format("{} at {}:{}", function, file_name(line.file), line.line);
}

std::string location_text(const Location& location) {
  return fmt::format("{}{} + {:#x}", location.symbol.empty() ? "" : location.symbol + " in ",
                     file_name(location.file), location.address);
}

}  // namespace

[[gnu::no_sanitize("address")]] const CallSite& find_call_site() noexcept {
  static constexpr CallSite nowhere;
  const void* const frame = __builtin_frame_address(0);
  if (recent_walks == nullptr) [[unlikely]] {
    make_recent_walks();
    if (recent_walks == nullptr) {
      return nowhere;
    }
  }
  RecentWalks::Set& set = recent_walks->set_of(frame);
  if (set.walks[set.latest].matches(frame)) {
    return set.walks[set.latest].site;
  }
  for (Walk& each : set.walks) {
    if (each.matches(frame)) {
      set.latest = static_cast<std::size_t>(&each - set.walks.data());
      return each.site;
    }
  }
  Walk walk;
  walk.frame = frame;
  _Unwind_Backtrace(visit_frame, &walk);
  walk.site.hash = hash_of_site(walk.site.returns);
  if (!walk.is_regular) {
    recent_walks->irregular = walk;
    return recent_walks->irregular.site;
  }
  set.latest = set.next++ % RecentWalks::ways;
  return (set.walks[set.latest] = walk).site;
}

std::string describe(const CallSite& site) {
  std::vector<Location> frames;
  for (const std::uintptr_t returns : site.returns) {
    std::optional<Location> location = returns == 0 ? std::nullopt : locate_call(returns);
    if (!location || (!frames.empty() && location->file != frames.front().file)) {
      break;
    }
    frames.push_back(*std::move(location));
  }
  if (frames.empty()) {
    return "an unknown place";
  }
  for (const SourceLine& line : lines_of(frames.front().file, frames)) {
    if (is_own_line(line)) {
      continue;
    }
    if (line.file != "??") {
      return line_text(line);
    }
    if (line.function != "??") {
      return fmt::format("{} in {}", short_name(line.function), file_name(frames.front().file));
    }
  }
  return location_text(frames.front());
}

}  // namespace tessera::arrays::detail
