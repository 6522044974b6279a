// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/region_state.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/base/memory.hpp"
#include "rma/base/rounding.hpp"
#include "rma/engine/access.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/engine/region_numbers.hpp"

namespace tessera::rma::detail {
namespace {

// As far as this member knows. False on a single node, where the processor's atomics are faster and
// no other node accesses the region.
bool may_use_device(const RegionState& region) {
  const bool spans_nodes = region.team_state().node_members() < region.team_state().size();
  const Transport* const between_nodes = region.job().transports().between_nodes();
  return region.options().atomics == Atomics::device && spans_nodes && !region.options().sparse &&
         !region.is_attached() && between_nodes != nullptr &&
         between_nodes->capabilities().device_atomics;
}

// Collective. Checks that all members give the same mode.
Status check_same_access(RegionState& region, AccessMode mode, Conflicts conflicts) {
  Team& team = region.team();
  struct RequestedMode {
    AccessMode mode;
    Conflicts conflicts;
  };
  TESSERA_ASSIGN_OR_RETURN(const auto asked, team.allgather_value(RequestedMode{mode, conflicts}));
  const auto other = std::find_if(asked.begin(), asked.end(), [&](const RequestedMode& each) {
    return each.mode != asked[0].mode || each.conflicts != asked[0].conflicts;
  });
  if (other == asked.end()) {
    return {};
  }
  const auto who = static_cast<std::size_t>(other - asked.begin());
  return worded(Code::invalid_argument, [&] {
    return Status::error(
               Code::invalid_argument,
               fmt::format("rank {} gave another access mode for {} than rank {}",
                           team.members()[who].value, region.describe(), team.members()[0].value))
        .hint("all members must give the same");
  });
}

}  // namespace

// What each member contributes before an allocation.
struct RegionState::MemberTerms {
  std::uint64_t bytes = 0;
  std::uint32_t id = 0;  ///< the region's number; only the first member's is used
  std::uint8_t sparse = 0;
  std::uint8_t huge_pages = 0;
  std::uint8_t access_mode = 0;
  std::uint8_t conflicts = 0;
  std::uint8_t atomics = 0;
  std::uint8_t attached = 0;
  std::uint8_t device_atomics = 0;  ///< this member supports device atomics
  Origin origin = {};

  [[nodiscard]] bool same_options(const MemberTerms& other) const noexcept {
    return sparse == other.sparse && huge_pages == other.huge_pages &&
           access_mode == other.access_mode && conflicts == other.conflicts &&
           atomics == other.atomics && attached == other.attached;
  }
};

RegionState::RegionState(Team& team, const RegionOptions& options, bool is_attached)
    : keep_job_(team.state().job().weak_from_this().lock()),
      team_(team),
      options_(options),
      is_attached_(is_attached),
      exposed_(team.state().job().node()) {
  const Transport* const between_nodes = job().transports().between_nodes();
  has_remote_updates_ = team_state().node_members() < team_.size() && between_nodes != nullptr &&
                        between_nodes->capabilities().handles_all_updates;
}

// Collective. Exchanges the sizes, checks that the options are equal, and sets the number, which
// the first member draws.
Status RegionState::exchange_terms(void* memory, std::size_t bytes) {
  const bool is_first = team_.rank().value == 0;
  const MemberTerms mine{.bytes = bytes,
                         .id = is_first ? draw_region_id(job()).value : 0,
                         .sparse = options_.sparse,
                         .huge_pages = options_.huge_pages,
                         .access_mode = static_cast<std::uint8_t>(options_.access_mode),
                         .conflicts = static_cast<std::uint8_t>(options_.conflicts),
                         .atomics = static_cast<std::uint8_t>(options_.atomics),
                         .attached = is_attached_,
                         .device_atomics = may_use_device(*this),
                         .origin = {getpid(), reinterpret_cast<std::uintptr_t>(memory)}};
  TESSERA_ASSIGN_OR_RETURN(const std::vector<MemberTerms> offers, team_.allgather_value(mine));
  id_.value = offers[0].id;
  if (id_.value == 0) {
    return worded(Code::limit_exceeded, [&] {
      return Status::error(Code::limit_exceeded,
                           fmt::format("all {} region numbers of this job are exhausted",
                                       std::numeric_limits<std::uint32_t>::max()));
    });
  }
  std::size_t largest_bytes = 0;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    largest_bytes = std::max<std::size_t>(largest_bytes, offers[i].bytes);
    if (!offers[i].same_options(offers[0])) {
      // all members find the same, and no further meeting follows
      return worded(Code::invalid_argument, [&] {
        return Status::error(Code::invalid_argument,
                             fmt::format("rank {} gave other region options than rank {}",
                                         team_.members()[i].value, team_.members()[0].value))
            .hint("all members must give the same RegionOptions");
      });
    }
  }
  foreign_stride_ = round_up(largest_bytes, granule_bytes);
  has_device_atomics_ = std::all_of(offers.begin(), offers.end(), [](const MemberTerms& each) {
    return each.device_atomics != 0;
  });
  if (is_attached_) {
    for (const MemberTerms& each : offers) {
      origins_.push_back(each.origin);
    }
  }
  equal_bytes_ = offers[0].bytes;
  const bool equal = std::all_of(offers.begin(), offers.end(), [&](const MemberTerms& each) {
    return each.bytes == equal_bytes_;
  });
  if (!equal) {
    sizes_.reserve(offers.size());
    for (const MemberTerms& each : offers) {
      sizes_.push_back(each.bytes);
    }
  }
  return {};
}

namespace {

// A process that accesses another one's memory (a member, or the agent) names it by its process
// number. In another PID namespace that number may be another process's, or its own; the access
// would then go to the wrong memory.
Status check_pid_namespaces(const JobState& job, std::span<const WorldRank> members) {
  const auto apart = std::find_if(members.begin(), members.end(), [&](WorldRank rank) {
    return std::binary_search(job.layout().other_pid_namespace.begin(),
                              job.layout().other_pid_namespace.end(), rank);
  });
  if (apart == members.end()) {
    return {};
  }
  return Status::error_at(
             *apart, Code::unsupported,
             fmt::format("rank {} is in another PID namespace than the first rank of its node, so "
                         "memory that is attached there cannot be reached",
                         apart->value))
      .hint(
          "allocate the region, or start a node's ranks in one PID namespace (containers: "
          "--pid=host)");
}

Result<std::unique_ptr<Segment>> provides_no_memory(std::string_view transport) {
  return Status::error(Code::unsupported,
                       fmt::format("{} moves data but provides no memory", transport))
      .hint(fmt::format("name shm first: TESSERA_TRANSPORT=shm,{}", transport));
}

}  // namespace

Status RegionState::make_segment(void* memory, std::size_t bytes) {
  if (is_attached_) {
    TESSERA_RETURN_IF_ERROR(check_pid_namespaces(job(), team_.members()));
  }
  Transport& first = *job().transports().all().front();
  DataTransport* const link = job().transports().data_between_nodes();
  DataTransport& data = link == nullptr ? first.data() : *link;
  const MemoryRequest request{.bytes = bytes, .is_attached = is_attached_, .attached = memory};
  auto segment = first.memory() == nullptr
                     ? provides_no_memory(first.name())
                     : data.allocate_over(*first.memory(), team_, request, options_);
  if (!segment.ok()) {
    // All members have failed, so no further meeting follows.
    return worded(segment.status().code(), [&] {
      return std::move(segment).status().context(
          fmt::format("{} {}", is_attached_ ? "attaching" : "allocating", human_bytes(bytes)));
    });
  }
  segment_ = std::move(segment).take();
  return {};
}

Status RegionState::publish() {
  direct_ = segment_->direct();
  if (RegionCounts* const counts = job().slices().counters().regions()) {
    counts->record_made(id_, options_.name, bytes(team_.rank()));
  }
  job().slices().regions().insert(id_, *this);
  for_each_mapped_slice([&](std::byte* slice, std::size_t bytes) {
    is_attached_ ? job().slices().addresses().attach(slice, bytes, id_)
                 : job().slices().addresses().assign(slice, bytes, id_);
  });
  return expose();
}

// Makes this node's slices known to its agent; the first member on the node does it for all.
Status RegionState::expose() {
  if (job().link() == nullptr || team_.state().order() != 0) {
    return {};
  }
  if (direct_.base == nullptr && !is_attached_) {
    return {};  // agents cannot access it
  }
  const Node& node = job().node();
  std::vector<DirectorySlice> slices;
  for (std::int32_t member = 0; member < team_.size(); ++member) {
    const WorldRank owner = team_.world_rank(TeamRank{member});
    if (node.local_rank_of(owner) < 0 || bytes(TeamRank{member}) == 0) {
      continue;
    }
    DirectorySlice slice{.owner = owner,
                         .bytes = bytes(TeamRank{member}),
                         .strict = options_.atomics == Atomics::strict,
                         .device_atomics = atomics() == Atomics::device,
                         .sparse = options_.sparse,
                         .access_mode = options_.access_mode,
                         .conflicts = options_.conflicts};
    if (is_attached_) {
      const Origin& origin = origins_[static_cast<std::size_t>(member)];
      slice.process = origin.process;
      slice.location = origin.address;
    } else {
      slice.location = static_cast<std::uint64_t>(direct(TeamRank{member}) - node.memory().base());
    }
    slices.push_back(slice);
  }
  return exposed_.expose(id_, std::move(slices));
}

// Calls `action` for the slices that this process can access.
template <class Action>
void RegionState::for_each_mapped_slice(const Action& action) const {
  bool has_own = false;
  for (std::int32_t member = 0; member < team_.size(); ++member) {
    if (std::byte* const slice = direct(TeamRank{member})) {
      action(slice, bytes(TeamRank{member}));
      has_own = has_own || TeamRank{member} == team_.rank();
    }
  }
  if (!has_own) {
    action(segment_->local(), bytes(team_.rank()));
  }
}

Result<std::shared_ptr<RegionState>> RegionState::create(Team& team, void* memory,
                                                         std::size_t bytes,
                                                         const RegionOptions& options,
                                                         bool is_attached) {
  return team.state().do_together([&]() -> Result<std::shared_ptr<RegionState>> {
    std::shared_ptr<RegionState> state(new RegionState(team, options, is_attached));
    TESSERA_RETURN_IF_ERROR(state->exchange_terms(memory, bytes));
    TESSERA_RETURN_IF_ERROR(state->make_segment(memory, bytes));
    // No member may use an address that another member doesn't know yet.
    if (Status met = team.agree([&] { return state->publish(); }); !met.ok()) {
      state->freed_.store(true);
      state->withdraw();
      state->exposed_.hide();
      state->segment_->abandon();
      return met;
    }
    return state;
  });
}

// Reverses publish().
void RegionState::withdraw() {
  JobState& state = job();
  state.slices().regions().remove(id_);
  if (RegionCounts* const counts = state.slices().counters().regions()) {
    counts->record_freed(id_, bytes(team_.rank()));
  }
  for_each_mapped_slice([&](std::byte* slice, std::size_t bytes) {
    is_attached_ ? state.slices().addresses().detach(slice, id_)
                 : state.slices().addresses().withdraw(slice, bytes, id_);
  });
  if (std::byte* const foreign = foreign_base_.load()) {
    state.slices().addresses().release_foreign(
        foreign, foreign_stride_ * static_cast<std::size_t>(team_.size()));
  }
}

std::string RegionState::describe() const {
  return options_.name.empty() && options_.kind == "region"
             ? fmt::format("region {}", id_.value)
             : fmt::format("{} '{}' (region {})", options_.kind, options_.name, id_.value);
}

Status RegionState::fence() {
  return job().fence(
      TargetRanks::such([&](WorldRank rank) { return team_.team_rank(rank).value >= 0; }), id_);
}

// Members must not use the new mode while others still have the old one, or the reverse. The first
// meeting completes earlier operations; later ones start after the last meeting.
Status RegionState::set_access_mode(AccessMode mode, Conflicts conflicts) {
  const LabelScope scope(team_, label("set_access_mode"));
  const auto prepare = [&]() -> Status {
    if (!exists(mode)) {
      return Status::error(Code::invalid_argument,
                           fmt::format("there is no access mode {}", static_cast<int>(mode)));
    }
    TESSERA_RETURN_IF_ERROR(fence());
    job().slices().regions().prepare_epoch();
    return {};
  };
  TESSERA_RETURN_IF_ERROR(team_.agree(prepare));
  TESSERA_RETURN_IF_ERROR(check_same_access(*this, mode, conflicts));
  options_.access_mode = mode;
  options_.conflicts = conflicts;
  segment_->set_access(mode, conflicts);
  job().slices().regions().renew_epoch();
  exposed_.set_access(mode, conflicts);
  return team_.barrier();
}

void RegionState::set_in_use_bytes(std::uint64_t bytes) noexcept {
  if (job().link() == nullptr || !options_.sparse) {
    return;  // used for access by RDMA devices only
  }
  exposed_.set_in_use(id_, team_.world_rank(team_.rank()), bytes);
}

Status RegionState::free(std::string_view verb) {
  if (freed_.exchange(true)) {
    return {};
  }
  if (job().is_in_forked_child()) {
    static_cast<void>(segment_.release());
    return Status::error(Code::closed, "the region belongs to the parent of this process");
  }
  const LabelScope scope(team_, label(verb));
  const WaitScope wait(job().recorder(), Wait::memory, WorldRank{-1}, 0, team_state().label());
  // This rank's operations may still be on their way to another node, and must find their slice.
  Status fenced = job().link() == nullptr ? Status() : fence();
  withdraw();
  // The memory is freed when all members have arrived. If that is impossible (a member died, the
  // job stopped), it is freed after the last remaining one has arrived.
  Status status = team_.barrier();
  exposed_.hide();
  if (status.ok()) {
    status = segment_->free();
  } else {
    segment_->abandon();
  }
  segment_.reset();
  return status.ok() ? std::move(fenced) : std::move(status);
}

void RegionState::release() noexcept {
  if (freed_.exchange(true)) {
    return;
  }
  if (job().is_in_forked_child()) {
    static_cast<void>(segment_.release());
    return;
  }
  withdraw();
  exposed_.hide();
  segment_->abandon();
  segment_.reset();
}

std::byte* RegionState::direct(TeamRank rank) const noexcept {
  if (direct_.base == nullptr || bytes(rank) == 0) {
    return nullptr;
  }
  const std::int32_t order = team_state().order_of(team_.world_rank(rank));
  if (order < 0) {
    return nullptr;
  }
  const auto at = static_cast<std::size_t>(order);
  return direct_.base + (direct_.offsets.empty() ? at * direct_.stride : direct_.offsets[at]);
}

MappedSlice RegionState::plain_slice(WorldRank rank) const noexcept {
  const TeamRank member = team_state().team_rank(rank);
  if (member.value < 0) {
    return {};
  }
  MappedSlice slice{.bytes = bytes(member), .raw = raw_start(member)};
  if (allows(options_.access_mode, Op::get) && !has_remote_updates_) {
    slice.readable = direct(member);
  }
  if (allows_all(options_.access_mode) && !has_remote_updates_) {
    slice.start = direct(member);
    slice.has_conflicts = options_.conflicts == Conflicts::possible;
    slice.atomics = atomics();
    // With TESSERA_CHECK, atomic operations take the slow path, which reports them to the observer.
    if (slice.atomics == Atomics::separate && job().settings().check != "off") {
      slice.atomics = Atomics::strict;
    }
  }
  return slice;
}

Result<std::byte*> RegionState::raw_pointer(TeamRank rank) {
  if (bytes(rank) == 0) {
    return nullptr;
  }
  if (std::byte* const mapped = direct(rank)) {
    return mapped;
  }
  if (rank == team_.rank()) {
    return segment_->local();
  }
  const std::lock_guard guard(foreign_mutex_);
  if (foreign_base_.load() == nullptr) {
    TESSERA_ASSIGN_OR_RETURN(std::byte* const reserved,
                             job().slices().addresses().reserve_foreign(
                                 foreign_stride_ * static_cast<std::size_t>(team_.size()), id_));
    foreign_base_.store(reserved);
  }
  return foreign_base_.load() + static_cast<std::size_t>(rank.value) * foreign_stride_;
}

const std::byte* RegionState::raw_start(TeamRank member) const noexcept {
  if (const std::byte* const mapped = direct(member)) {
    return mapped;
  }
  if (member == team_.rank()) {
    return segment_->local();
  }
  const std::byte* const foreign = foreign_base_.load();
  return foreign == nullptr ? nullptr
                            : foreign + static_cast<std::size_t>(member.value) * foreign_stride_;
}

Result<RemoteAddress> RegionState::translate(WorldRank rank, const std::byte* pointer) const {
  const TeamRank member = team_.team_rank(rank);
  const std::byte* const slice = member.value < 0 ? nullptr : raw_start(member);
  if (slice != nullptr && pointer >= slice && pointer < slice + bytes(member)) {
    return RemoteAddress{rank, id_, static_cast<std::uint64_t>(pointer - slice)};
  }
  return Status::error_at(rank, Code::out_of_range,
                          fmt::format("address {} lies in a region, but not in rank {}'s slice",
                                      fmt::ptr(pointer), rank.value));
}

}  // namespace tessera::rma::detail
