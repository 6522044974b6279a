// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/unmap_monitor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "rma/base/memory.hpp"
#include "rma/base/thread_without_signals.hpp"

namespace tessera::rma::verbs {
namespace {

using rma::detail::Descriptor;

constexpr std::uint64_t needed_features = UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMOVE |
                                          UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_PAGEFAULT_FLAG_WP;

// Entries of /proc/self/pagemap, one for each page (Documentation/admin-guide/mm/pagemap.rst).
constexpr std::uint64_t page_is_present = 1ULL << 63;
constexpr std::uint64_t page_is_shared = 1ULL << 61;

Status unsupported(std::string_view what, int error) {
  return Status::error(Code::unsupported, fmt::format("{}: {}", what, describe_system_error(error)))
      .hint(remedy_for_system_error(error));
}

Result<Descriptor> open_events() {
  Descriptor events(
      static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY)));
  if (events.get() < 0) {
    const int error = errno;
    const char* const remedy = error == EPERM
                                   ? "allow userfaultfd(2) in the container's seccomp profile"
                                   : "use Linux 5.11 or newer with CONFIG_USERFAULTFD";
    return unsupported("userfaultfd(2) cannot be used", error).hint(remedy);
  }
  uffdio_api api{.api = UFFD_API, .features = needed_features, .ioctls = 0};
  if (ioctl(events.get(), UFFDIO_API, &api) != 0) {
    return unsupported("the kernel's userfaultfd(2) does not report what is unmapped", errno);
  }
  return events;
}

std::optional<MappingChange> change_of(const uffd_msg& message) noexcept {
  const auto& [from, to, bytes] = message.arg.remap;
  switch (message.event) {
    case UFFD_EVENT_UNMAP:
    case UFFD_EVENT_REMOVE:
      return MappingChange{.range = {message.arg.remove.start, message.arg.remove.end},
                           .is_gone = message.event == UFFD_EVENT_UNMAP,
                           .moved_to = {}};
    case UFFD_EVENT_REMAP:
      return MappingChange{
          .range = {from, from + bytes}, .is_gone = true, .moved_to = {to, to + bytes}};
    default:
      return std::nullopt;
  }
}

}  // namespace

void MappingChanges::add(const MappingChange& change) noexcept {
  if (count_ == list_.size()) {
    list_[0] = {
        .range = {0, std::numeric_limits<std::uintptr_t>::max()}, .is_gone = false, .moved_to = {}};
    count_ = 1;
    return;
  }
  list_[count_++] = change;
}

UnmapMonitor::UnmapMonitor(Descriptor events, Descriptor pages, Descriptor stop,
                           ForkDetector fork_detector) noexcept
    : events_(events.release()),
      pages_(std::move(pages)),
      stop_(std::move(stop)),
      fork_detector_(std::move(fork_detector)) {}

Result<std::unique_ptr<UnmapMonitor>> UnmapMonitor::create() {
  TESSERA_ASSIGN_OR_RETURN(ForkDetector fork_detector, ForkDetector::create());
  TESSERA_ASSIGN_OR_RETURN(Descriptor events, open_events());
  Descriptor pages(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  if (pages.get() < 0) {
    return unsupported("cannot open /proc/self/pagemap", errno);
  }
  Descriptor stop(eventfd(0, EFD_CLOEXEC));
  if (stop.get() < 0) {
    return unsupported("cannot make an eventfd", errno);
  }
  // NOLINTNEXTLINE(modernize-make-unique): the constructor is private
  std::unique_ptr<UnmapMonitor> monitor(new UnmapMonitor(
      std::move(events), std::move(pages), std::move(stop), std::move(fork_detector)));
  TESSERA_RETURN_IF_ERROR(monitor->start());
  TESSERA_RETURN_IF_ERROR(monitor->probe().context("checking that unmapping is reported"));
  return monitor;
}

// A signal handler in this thread might unmap memory, and wait for itself.
Status UnmapMonitor::start() {
  TESSERA_ASSIGN_OR_RETURN(thread_, detail::start_thread_with_signals_blocked([this] { run(); }));
  return {};
}

UnmapMonitor::~UnmapMonitor() {
  if (!thread_.joinable()) {
    close(events_);
    return;
  }
  if (fork_detector_.is_in_child()) {
    thread_.detach();  // it exists in the parent only
    close(events_);
    return;
  }
  const std::uint64_t one = 1;
  static_cast<void>(!write(stop_.get(), &one, sizeof(one)));
  // Joining may unmap other threads' stacks; by then the thread reads events or has closed the
  // descriptor.
  thread_.join();
}

Status UnmapMonitor::probe() {
  const std::size_t bytes = page_bytes();
  void* const page =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    return Status::error(Code::no_memory, "cannot map a page");
  }
  *static_cast<volatile char*>(page) = 1;  // present from now on
  const auto begin = reinterpret_cast<std::uintptr_t>(page);
  Status seen = check_probe({begin, begin + bytes});
  munmap(page, bytes);
  if (!seen.ok()) {
    return seen;
  }
  const MappingChanges changes = take();
  const auto list = changes.list();
  if (std::none_of(list.begin(), list.end(), [&](const MappingChange& change) {
        return change.range == PageRange{begin, begin + bytes};
      })) {
    return Status::error(Code::unsupported, "the kernel did not report that a page was unmapped");
  }
  if (!has_reported_change_ || !is_quiet()) {
    return Status::error(Code::unsupported,
                         "the kernel does not report whether changes are pending");
  }
  return {};
}

// Checks the page before it is unmapped.
Status UnmapMonitor::check_probe(PageRange page) {
  TESSERA_RETURN_IF_ERROR(watch(page));
  return is_private(page)
             ? Status()
             : Status::error(Code::unsupported,
                             "/proc/self/pagemap does not report which memory is shared");
}

Status UnmapMonitor::watch(PageRange range) {
  uffdio_register request{.range = {.start = range.begin, .len = range.bytes()},
                          .mode = UFFDIO_REGISTER_MODE_WP,
                          .ioctls = 0};
  if (ioctl(events_, UFFDIO_REGISTER, &request) != 0) {
    return unsupported("this memory cannot be watched", errno);
  }
  return {};
}

void UnmapMonitor::unwatch(PageRange range) noexcept {
  uffdio_range request{.start = range.begin, .len = range.bytes()};
  // Fails if nothing is mapped any longer, which is harmless.
  static_cast<void>(ioctl(events_, UFFDIO_UNREGISTER, &request));
}

bool UnmapMonitor::is_private(PageRange range) const noexcept {
  const std::size_t page = page_bytes();
  std::array<std::uint64_t, 512> entries{};
  std::size_t left = range.bytes() / page;
  auto offset = static_cast<off_t>(range.begin / page * sizeof(std::uint64_t));
  while (left > 0) {
    const std::size_t bytes = std::min(left, entries.size()) * sizeof(std::uint64_t);
    const ssize_t got = pread(pages_.get(), entries.data(), bytes, offset);
    if (got != static_cast<ssize_t>(bytes)) {
      return false;
    }
    const auto read = std::span(entries).first(bytes / sizeof(std::uint64_t));
    if (!std::all_of(read.begin(), read.end(), [](std::uint64_t entry) {
          return (entry & page_is_present) != 0 && (entry & page_is_shared) == 0;
        })) {
      return false;
    }
    left -= read.size();
    offset += got;
  }
  return true;
}

// The kernel checks its count of unread changes before it reads the request, which is null.
bool UnmapMonitor::is_quiet() const noexcept {
  const bool is_changing = ioctl(events_, UFFDIO_WRITEPROTECT, nullptr) != 0 && errno != EFAULT;
  return !is_changing;
}

MappingChanges UnmapMonitor::take() noexcept {
  const std::lock_guard guard(mutex_);
  const MappingChanges taken = changes_;
  changes_.clear();
  return taken;
}

void UnmapMonitor::run() noexcept {
  pthread_setname_np(pthread_self(), "tessera-unmap");
  std::array<pollfd, 2> watched{pollfd{.fd = events_, .events = POLLIN, .revents = 0},
                                pollfd{.fd = stop_.get(), .events = POLLIN, .revents = 0}};
  while (watched[1].revents == 0) {
    if (poll(watched.data(), watched.size(), -1) < 0) {
      continue;  // EINTR, from a debugger
    }
    if (watched[0].revents != 0) {
      read_events();
    }
  }
  close(events_);
}

// The first event is that of probe(), whose munmap is waiting now.
void UnmapMonitor::read_events() noexcept {
  if (!has_reported_change_) {
    has_reported_change_ = !is_quiet();
  }
  const std::lock_guard guard(mutex_);
  uffd_msg message{};
  while (read(events_, &message, sizeof(message)) == sizeof(message)) {
    if (const auto change = change_of(message)) {
      changes_.add(*change);
    }
  }
}

}  // namespace tessera::rma::verbs
