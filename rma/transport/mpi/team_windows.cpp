// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/team_windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "rma/base/memory.hpp"
#include "rma/base/page_placement.hpp"
#include "rma/transport/mpi/creation.hpp"
#include "rma/transport/mpi/error.hpp"
#include "rma/transport/mpi/pages.hpp"

namespace tessera::rma::mpi {
namespace {

constexpr std::size_t shared_bytes = std::size_t{4} << 20U;
constexpr std::size_t max_small_bytes = std::size_t{256} << 10U;

// Pages of the process, for MPI libraries whose own windows must not be used.
class PageSegment final : public Segment {
 public:
  static Result<std::unique_ptr<Segment>> create(std::size_t bytes) {
    TESSERA_ASSIGN_OR_RETURN(std::byte* const pages, map_pages(bytes));
    return std::unique_ptr<Segment>(new PageSegment(pages, bytes));
  }
  ~PageSegment() override { unmap_pages(pages_, bytes_); }
  PageSegment(const PageSegment&) = delete;
  PageSegment& operator=(const PageSegment&) = delete;
  [[nodiscard]] std::byte* local() const noexcept override { return pages_; }
  Status free() override { return {}; }

 private:
  PageSegment(std::byte* pages, std::size_t bytes) noexcept : pages_(pages), bytes_(bytes) {}
  std::byte* pages_;
  std::size_t bytes_;
};

constexpr const char* remedy =
    "give the MPI library more room for windows (for Open MPI and MPICH on one machine: /dev/shm), "
    "or use TESSERA_TRANSPORT=shm,tcp";

std::uint64_t largest_of(const std::vector<std::uint64_t>& sizes) {
  return *std::max_element(sizes.begin(), sizes.end());
}

// Checked before the call of MPI, which may end the process if memory does not suffice.
Status check_room(const std::vector<std::uint64_t>& sizes, std::size_t own_bytes,
                  const MemorySource& source) {
  std::uint64_t needed = 0;
  for (const std::uint64_t size : sizes) {
    if (__builtin_add_overflow(needed, size, &needed)) {
      return Status::error(Code::no_memory, "the sum of the slices' sizes exceeds 64 bits");
    }
  }
  needed = source.is_one_machine ? needed : own_bytes;
  return check_shared_memory(needed, source.is_one_machine && sizes.size() > 1);
}

}  // namespace

Result<std::unique_ptr<TeamWindows>> TeamWindows::create(std::shared_ptr<World> world, Team& team,
                                                         const Terms& terms) {
  std::unique_ptr<TeamWindows> made(new TeamWindows(std::move(world), terms));
  Status own_status;
  TESSERA_RETURN_IF_ERROR(
      create_exclusively(team, own_status, [&] { return made->make_communicator(team); }));
  Status all = team.agree(own_status);
  if (!all.ok()) {
    return all;
  }
  return made;
}

Status TeamWindows::make_communicator(const Team& team) {
  constexpr std::uint64_t tags = 32'768;  // that every MPI supports
  std::vector<int> ranks;
  for (const WorldRank member : team.members()) {
    ranks.push_back(member.value);
  }
  group_.is_one_machine = world_->are_on_one_machine(team.members());
  is_world_ = team.size() == world_->size() && std::is_sorted(ranks.begin(), ranks.end());
  if (is_world_) {
    group_.communicator = world_->windows();
    return {};
  }
  const auto mpi_guard = world_->lock_calls();
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group members = MPI_GROUP_NULL;
  MPI_Comm_group(world_->windows(), &all);
  MPI_Group_incl(all, team.size(), ranks.data(), &members);
  const int code = MPI_Comm_create_group(
      world_->windows(), members, static_cast<int>(terms_.number % tags), &group_.communicator);
  MPI_Group_free(&members);
  MPI_Group_free(&all);
  if (code == MPI_SUCCESS) {
    MPI_Comm_set_errhandler(group_.communicator, MPI_ERRORS_RETURN);
  }
  return check("MPI_Comm_create_group", code).hint(remedy);
}

Result<WindowPart> TeamWindows::take(Team& team, const std::vector<std::uint64_t>& sizes,
                                     const RegionOptions& options, const MemorySource& source) {
  const std::uint64_t largest = largest_of(sizes);
  const auto own_bytes =
      static_cast<std::size_t>(sizes[static_cast<std::size_t>(team.rank().value)]);
  const bool is_plain = !options.sparse && !options.huge_pages;
  if (is_plain && largest > 0 && largest <= max_small_bytes) {
    return take_small(team, static_cast<std::size_t>(largest), own_bytes, source);
  }
  TESSERA_ASSIGN_OR_RETURN(SharedWindow * shared, make(team, sizes, options, source));
  Status ready;
  if (source.transport == nullptr) {
    if (options.access_mode == AccessMode::no_local_access) {
      place_pages(shared->base, own_bytes, PagePlacement::interleaved);
      shared->spread_bytes = own_bytes;
    }
    ready = options.sparse ? zero_lazily(shared->base, own_bytes)
                           : commit_pages(shared->base, own_bytes);
  }
  if (Status all = team.agree(ready); !all.ok()) {
    remove(shared).ignore("the members have agreed on the first error");
    return all;
  }
  shared->regions = 1;
  return WindowPart{shared, 0, 0};
}

Result<WindowPart> TeamWindows::take_small(Team& team, std::size_t bytes, std::size_t own_bytes,
                                           const MemorySource& source) {
  const std::size_t granules = (bytes + source.granule_bytes() - 1) / source.granule_bytes();
  auto found = find_room(granules);
  if (!found.ok()) {
    TESSERA_RETURN_IF_ERROR(add_shared_window(team, source));
    found = find_room(granules);
  }
  TESSERA_ASSIGN_OR_RETURN(WindowPart part, std::move(found));
  part.offset *= source.granule_bytes();
  std::byte* const own = part.shared->base + part.offset;
  const Status ready =
      source.transport == nullptr
          ? commit_pages(own, own_bytes)
          : source.node->arena().back(
                static_cast<std::uint64_t>(own - source.node->memory().base()), own_bytes);
  if (Status all = team.agree(ready); !all.ok()) {
    free_part(part, source).ignore("the members have agreed on the first error");
    return all;
  }
  return part;
}

// The part's offset is in granules.
Result<WindowPart> TeamWindows::find_room(std::size_t granules) noexcept {
  for (SharedWindow& each : windows_) {
    std::vector<bool>& taken = each.taken;
    std::size_t gap = 0;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      gap = taken[i] ? 0 : gap + 1;
      if (gap == granules) {
        const std::size_t first = i + 1 - granules;
        std::fill_n(taken.begin() + static_cast<std::ptrdiff_t>(first), granules, true);
        ++each.regions;
        return WindowPart{&each, first, granules};
      }
    }
  }
  return Status::code_only(Code::no_memory);
}

Status TeamWindows::add_shared_window(Team& team, const MemorySource& source) {
  const std::vector<std::uint64_t> sizes(static_cast<std::size_t>(team.size()), shared_bytes);
  const RegionOptions lazily{.sparse = true};
  TESSERA_ASSIGN_OR_RETURN(SharedWindow * shared, make(team, sizes, lazily, source));
  shared->taken.resize(shared_bytes / source.granule_bytes());
  return {};
}

Result<SharedWindow*> TeamWindows::make(Team& team, const std::vector<std::uint64_t>& sizes,
                                        const RegionOptions& options, const MemorySource& source) {
  const auto own_bytes =
      static_cast<std::size_t>(sizes[static_cast<std::size_t>(team.rank().value)]);
  SharedWindow made;
  if (source.transport != nullptr) {
    TESSERA_ASSIGN_OR_RETURN(made.memory, source.transport->allocate(team, own_bytes, options));
    made.is_exposed = true;
    made.base = made.memory->local();
    made.direct = made.memory->direct();
  } else if (!options.sparse) {
    TESSERA_RETURN_IF_ERROR(team.agree([&] { return check_room(sizes, own_bytes, source); }));
  }
  if (source.transport == nullptr && world_->library().allocated_windows_break &&
      group_.is_one_machine) {
    TESSERA_ASSIGN_OR_RETURN(made.memory,
                             team.agree([&] { return PageSegment::create(own_bytes); }));
    made.is_exposed = true;
    made.base = made.memory->local();
  }
  TESSERA_RETURN_IF_ERROR(add_window(team, std::move(made), own_bytes, options.access_mode));
  return &windows_.back();
}

Status TeamWindows::add_window(Team& team, SharedWindow made, std::size_t bytes, AccessMode mode) {
  const WindowUse use{terms_.epoch_mode, mode};
  const bool is_exposed = made.is_exposed;
  Result<std::unique_ptr<Window>> created = Status::code_only(Code::internal);
  TESSERA_RETURN_IF_ERROR(create_exclusively(team, created, [&] {
    return is_exposed ? Window::expose(world_, group_, made.base, bytes, use)
                      : Window::allocate(world_, group_, bytes, use);
  }));
  Status own_status = created.status();
  std::unique_ptr<Window> window = created.ok() ? std::move(created).take() : nullptr;
  Status all = team.agree(
      own_status.code() == Code::limit_exceeded ? own_status : std::move(own_status).hint(remedy));
  if (all.ok()) {
    all = exchange_starts(team, *window, made);
  }
  if (window != nullptr) {
    made.base = is_exposed ? made.base : window->memory();
    made.window = std::move(window);
    (all.ok() ? windows_ : failed_).push_back(std::move(made));
  }
  return all;
}

// Collective. Finds the start of each member's part; one number if all are equal. An empty part has
// no start of its own.
Status TeamWindows::exchange_starts(Team& team, const Window& window, SharedWindow& made) {
  constexpr auto anywhere = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t own_start = window.memory() == nullptr ? anywhere : window.start();
  TESSERA_ASSIGN_OR_RETURN(auto starts, team.allgather_value(own_start));
  made.start = 0;
  bool differ = false;
  const auto first = std::find_if(starts.begin(), starts.end(),
                                  [](std::uint64_t each) { return each != anywhere; });
  if (first != starts.end()) {
    made.start = *first;
    differ = std::any_of(starts.begin(), starts.end(), [&](std::uint64_t each) {
      return each != anywhere && each != made.start;
    });
  }
  made.starts = differ ? std::move(starts) : std::vector<std::uint64_t>();
  return {};
}

Result<WindowPart> TeamWindows::expose(Team& team, std::byte* memory, std::size_t bytes,
                                       std::unique_ptr<Segment> segment, AccessMode mode) {
  SharedWindow made;
  made.direct = segment == nullptr ? DirectMap() : segment->direct();
  made.memory = std::move(segment);
  made.is_exposed = true;
  made.base = memory;
  TESSERA_RETURN_IF_ERROR(add_window(team, std::move(made), bytes, mode));
  windows_.back().regions = 1;
  return WindowPart{&windows_.back(), 0, 0};
}

Status TeamWindows::free_part(const WindowPart& part, const MemorySource& source) {
  SharedWindow& shared = *part.shared;
  --shared.regions;
  if (part.granules > 0) {
    const std::size_t first = part.offset / source.granule_bytes();
    std::fill_n(shared.taken.begin() + static_cast<std::ptrdiff_t>(first), part.granules, false);
    if (source.transport != nullptr) {
      const std::byte* const own = shared.base + part.offset;
      source.node->arena().decommit(static_cast<std::uint64_t>(own - source.node->memory().base()),
                                    part.granules * source.granule_bytes());
    }
  }
  // All ranks use the job's own team again, which usually is the first team of all ranks.
  const bool is_kept = keeps_one() && part.granules > 0 &&
                       std::count_if(windows_.begin(), windows_.end(), [](const auto& each) {
                         return !each.taken.empty() && each.regions == 0;
                       }) <= 1;
  return shared.regions > 0 || is_kept ? Status() : remove(part.shared);
}

Status TeamWindows::remove(SharedWindow* shared) {
  place_pages(shared->base, shared->spread_bytes, PagePlacement::local);
  Status freed = shared->window->free();
  if (shared->memory != nullptr) {
    Status memory_freed = shared->memory->free();
    freed = freed.ok() ? std::move(memory_freed) : std::move(freed);
  }
  windows_.remove_if([&](const SharedWindow& each) { return &each == shared; });
  return freed;
}

void TeamWindows::close() noexcept {
  while (!windows_.empty()) {
    remove(&windows_.front()).ignore("the job ends");
  }
  if (!is_world_ && group_.communicator != MPI_COMM_NULL) {
    const auto mpi_guard = world_->lock_calls();
    MPI_Comm_free(&group_.communicator);
  }
}

}  // namespace tessera::rma::mpi
