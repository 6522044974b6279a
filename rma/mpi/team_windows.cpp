// SPDX-License-Identifier: BSD-3-Clause
#include "rma/mpi/team_windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>

#include "rma/memory.hpp"
#include "rma/mpi/creation.hpp"
#include "rma/mpi/error.hpp"
#include "rma/mpi/pages.hpp"
#include "rma/within_memory.hpp"

namespace tessera::rma::mpi {
namespace {

constexpr std::size_t shared_bytes = std::size_t{4} << 20U;
constexpr std::size_t most_small_bytes = std::size_t{256} << 10U;

// Pages of the process, for MPI libraries whose own windows are not to be used.
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

constexpr std::size_t cache_line = 64;

// Room for a part that begins with a cache line.
std::size_t with_line(std::size_t bytes) noexcept {
  return bytes == 0 ? 0 : bytes + cache_line;
}

// Collective. How far behind MPI's parts, of which this rank's is `memory`, they begin with a cache
// line on all members; 0 where that differs. Open MPI's begin 8 bytes behind one, where types of 16
// bytes are not aligned, and memcpy takes up to 25 times as long.
Result<std::size_t> agree_on_shift(Team& team, const std::byte* memory) {
  const auto beyond = reinterpret_cast<std::uintptr_t>(memory) % cache_line;
  const std::size_t mine = memory == nullptr ? cache_line : (cache_line - beyond) % cache_line;
  TESSERA_ASSIGN_OR_RETURN(const std::vector<std::size_t> all, team.allgather_value(mine));
  std::size_t shift = cache_line;
  for (const std::size_t each : all) {
    if (each != cache_line && shift != cache_line && each != shift) {
      return std::size_t{0};
    }
    shift = each == cache_line ? shift : each;
  }
  return shift == cache_line ? 0 : shift;
}

std::uint64_t largest_of(const std::vector<std::uint64_t>& sizes) {
  return *std::max_element(sizes.begin(), sizes.end());
}

// Before MPI is asked, which may end the process where memory doesn't suffice.
Status check_room(const std::vector<std::uint64_t>& sizes, std::size_t mine,
                  const MemorySource& source) {
  std::uint64_t needed = 0;
  for (const std::uint64_t size : sizes) {
    if (__builtin_add_overflow(needed, size, &needed)) {
      return Status::error(Code::no_memory, "the slices are more than 64 bits count");
    }
  }
  needed = source.is_one_machine ? needed : mine;
  return check_shared_memory(needed, source.is_one_machine && sizes.size() > 1);
}

}  // namespace

Result<std::unique_ptr<TeamWindows>> TeamWindows::create(std::shared_ptr<World> world, Team& team,
                                                         std::uint64_t number,
                                                         Discipline discipline) {
  std::unique_ptr<TeamWindows> made(new TeamWindows(std::move(world), number, discipline));
  Status mine;
  TESSERA_RETURN_IF_ERROR(create_in_turn(
      team, [&] { mine = detail::within_memory([&] { return made->make_communicator(team); }); }));
  Status all = team.agree(mine);
  if (!all.ok()) {
    return all;
  }
  return made;
}

Status TeamWindows::make_communicator(const Team& team) {
  constexpr std::uint64_t tags = 32'768;  // that every MPI has
  std::vector<int> ranks;
  for (const WorldRank member : team.members()) {
    ranks.push_back(member.value);
  }
  is_world_ = team.size() == world_->size() && std::is_sorted(ranks.begin(), ranks.end());
  if (is_world_) {
    communicator_ = world_->windows();
    return {};
  }
  const auto turn = world_->enter();
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group members = MPI_GROUP_NULL;
  MPI_Comm_group(world_->windows(), &all);
  MPI_Group_incl(all, team.size(), ranks.data(), &members);
  const int code = MPI_Comm_create_group(world_->windows(), members,
                                         static_cast<int>(number_ % tags), &communicator_);
  MPI_Group_free(&members);
  MPI_Group_free(&all);
  if (code == MPI_SUCCESS) {
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
  }
  return check("MPI_Comm_create_group", code).hint(remedy);
}

Result<WindowPart> TeamWindows::take(Team& team, const std::vector<std::uint64_t>& sizes,
                                     const RegionOptions& options, const MemorySource& source) {
  const std::uint64_t largest = largest_of(sizes);
  const auto mine = static_cast<std::size_t>(sizes[static_cast<std::size_t>(team.rank().value)]);
  const bool is_plain = !options.sparse && !options.huge_pages;
  if (is_plain && largest > 0 && largest <= most_small_bytes) {
    return take_small(team, static_cast<std::size_t>(largest), mine, source);
  }
  TESSERA_ASSIGN_OR_RETURN(SharedWindow * shared, make(team, sizes, options, source));
  Status ready;
  if (source.transport == nullptr) {
    if (options.access_mode == AccessMode::no_local_access) {
      spread_pages(shared->base, mine);
      shared->spread_bytes = mine;
    }
    ready = options.sparse ? clear_lazily(shared->base, mine) : take_pages(shared->base, mine);
  }
  if (Status all = team.agree(ready); !all.ok()) {
    remove(shared).ignore("the members have agreed on the first error");
    return all;
  }
  shared->regions = 1;
  return WindowPart{shared, 0, 0};
}

Result<WindowPart> TeamWindows::take_small(Team& team, std::size_t bytes, std::size_t mine,
                                           const MemorySource& source) {
  const std::size_t granules = (bytes + source.granule_bytes() - 1) / source.granule_bytes();
  auto found = find_room(granules);
  if (!found.ok()) {
    TESSERA_RETURN_IF_ERROR(make_shared(team, source));
    found = find_room(granules);
  }
  TESSERA_ASSIGN_OR_RETURN(WindowPart part, std::move(found));
  part.offset *= source.granule_bytes();
  std::byte* const own = part.shared->base + part.offset;
  const Status ready =
      source.transport == nullptr
          ? take_pages(own, mine)
          : source.node->arena().back(
                static_cast<std::uint64_t>(own - source.node->memory().base()), mine);
  if (Status all = team.agree(ready); !all.ok()) {
    give_back(part, source).ignore("the members have agreed on the first error");
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
  return Status::without_text(Code::no_memory);
}

Status TeamWindows::make_shared(Team& team, const MemorySource& source) {
  const std::vector<std::uint64_t> sizes(static_cast<std::size_t>(team.size()), shared_bytes);
  const RegionOptions lazily{.sparse = true};
  TESSERA_ASSIGN_OR_RETURN(SharedWindow * shared, make(team, sizes, lazily, source));
  shared->taken.resize(shared_bytes / source.granule_bytes());
  return {};
}

Result<SharedWindow*> TeamWindows::make(Team& team, const std::vector<std::uint64_t>& sizes,
                                        const RegionOptions& options, const MemorySource& source) {
  const auto mine = static_cast<std::size_t>(sizes[static_cast<std::size_t>(team.rank().value)]);
  SharedWindow made;
  if (source.transport != nullptr) {
    TESSERA_ASSIGN_OR_RETURN(made.memory, source.transport->allocate(team, mine, options));
    made.is_exposed = true;
    made.base = made.memory->local();
    made.direct = made.memory->direct();
  } else if (!options.sparse) {
    TESSERA_RETURN_IF_ERROR(
        team.agree(detail::within_memory([&] { return check_room(sizes, mine, source); })));
  }
  if (source.transport == nullptr && world_->library().allocated_windows_break) {
    auto pages = detail::within_memory([&] { return PageSegment::create(mine); });
    TESSERA_RETURN_IF_ERROR(team.agree(pages.status()));
    made.memory = std::move(pages).take();
    made.is_exposed = true;
    made.base = made.memory->local();
  }
  TESSERA_RETURN_IF_ERROR(add_window(team, std::move(made), mine));
  return &windows_.back();
}

Status TeamWindows::add_window(Team& team, SharedWindow made, std::size_t bytes) {
  const bool is_exposed = made.is_exposed;
  std::unique_ptr<Window> window;
  Status mine;
  TESSERA_RETURN_IF_ERROR(create_in_turn(team, [&] {
    auto created = detail::within_memory([&] {
      return is_exposed ? Window::expose(world_, communicator_, made.base, bytes, discipline_)
                        : Window::allocate(world_, communicator_, with_line(bytes), discipline_);
    });
    mine = created.status();
    window = created.ok() ? std::move(created).take() : nullptr;
  }));
  Status all = team.agree(std::move(mine).hint(remedy));
  if (window != nullptr) {
    if (!is_exposed && all.ok()) {
      TESSERA_ASSIGN_OR_RETURN(made.shift, agree_on_shift(team, window->memory()));
      made.base = window->memory() == nullptr ? nullptr : window->memory() + made.shift;
    }
    made.window = std::move(window);
    (all.ok() ? windows_ : failed_).push_back(std::move(made));
  }
  return all;
}

Result<WindowPart> TeamWindows::expose(Team& team, std::byte* memory, std::size_t bytes,
                                       std::unique_ptr<Segment> keeper) {
  SharedWindow made;
  made.direct = keeper == nullptr ? DirectMap() : keeper->direct();
  made.memory = std::move(keeper);
  made.is_exposed = true;
  made.base = memory;
  TESSERA_RETURN_IF_ERROR(add_window(team, std::move(made), bytes));
  windows_.back().regions = 1;
  return WindowPart{&windows_.back(), 0, 0};
}

Status TeamWindows::give_back(const WindowPart& part, const MemorySource& source) {
  SharedWindow& shared = *part.shared;
  --shared.regions;
  if (part.granules > 0) {
    const std::size_t first = part.offset / source.granule_bytes();
    std::fill_n(shared.taken.begin() + static_cast<std::ptrdiff_t>(first), part.granules, false);
    if (source.transport != nullptr) {
      const std::byte* const own = shared.base + part.offset;
      source.node->arena().unback(static_cast<std::uint64_t>(own - source.node->memory().base()),
                                  part.granules * source.granule_bytes());
    }
  }
  // All ranks use the job's own team again: one empty window is kept for it.
  const bool is_kept = is_world_ && part.granules > 0 &&
                       std::count_if(windows_.begin(), windows_.end(), [](const auto& each) {
                         return !each.taken.empty() && each.regions == 0;
                       }) <= 1;
  return shared.regions > 0 || is_kept ? Status() : remove(part.shared);
}

Status TeamWindows::remove(SharedWindow* shared) {
  place_pages_near(shared->base, shared->spread_bytes);
  Status freed = shared->window->free();
  if (shared->memory != nullptr) {
    Status given = shared->memory->free();
    freed = freed.ok() ? std::move(given) : std::move(freed);
  }
  windows_.remove_if([&](const SharedWindow& each) { return &each == shared; });
  return freed;
}

void TeamWindows::close() noexcept {
  while (!windows_.empty()) {
    remove(&windows_.front()).ignore("the job ends");
  }
  if (!is_world_ && communicator_ != MPI_COMM_NULL) {
    const auto turn = world_->enter();
    MPI_Comm_free(&communicator_);
  }
}

}  // namespace tessera::rma::mpi
