// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/array_base.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>
#include <vector>

#include "arrays/call_signature.hpp"
#include "arrays/detail/tile_cache.hpp"
#include "arrays/process_grid.hpp"

namespace tessera::arrays {

using rma::Code;
using rma::Result;
using rma::Status;

namespace {

// The slice of every rank in bytes must fit a std::size_t; the distribution has checked elements
// only.
Status check_bytes(const Distribution& distribution, std::size_t element_bytes) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(distribution.max_local_elements(),
                             static_cast<std::int64_t>(element_bytes), &bytes)) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} elements of {} bytes on one rank overflow 63 bits",
                                     distribution.max_local_elements(), element_bytes));
  }
  return {};
}

// All members must request the same array: they compare a hash of all that defines it.
Status check_same_on_all(rma::Team& team, const Distribution& distribution,
                         const ElementKind& element, const rma::RegionOptions& options,
                         std::string_view check) {
  const std::uint64_t signature = detail::CallSignature()
                                      .add(fingerprint(distribution))
                                      .add(element.bytes)
                                      .add(element.name)
                                      .add(options.access_mode)
                                      .add(options.atomics)
                                      .add(check)
                                      .hash();
  return detail::check_same_on_all(team, signature, "array",
                                   "all members must give the same element type, extents, "
                                   "distribution (partitions, owners, orders, "
                                   "grids, ghosts) and options, and have the same TESSERA_CHECK");
}

// Elements that other ranks may poll with gets of a single element, as flags.
bool is_flag_element(const ElementKind& element) {
  return element.type == rma::ElementType::i32 || element.type == rma::ElementType::i64 ||
         element.type == rma::ElementType::u32 || element.type == rma::ElementType::u64;
}

rma::Label creating(const ArrayOptions& options) noexcept {
  return {.verb = "create", .kind = "array", .name = options.name};
}

rma::Team team_of(const rma::Job& job, const ArrayOptions& options) {
  return options.team ? *options.team : job.world();
}

// Computed from the nodes of all members, not from this rank's node only: nodes may have different
// sizes, and every member must choose the same distribution.
std::int64_t ranks_per_node_of(const rma::Job& job, const rma::Team& team) {
  std::vector<rma::NodeId> nodes;
  nodes.reserve(static_cast<std::size_t>(team.size()));
  for (const rma::WorldRank member : team.members()) {
    nodes.push_back(job.node_of(member));
  }
  return ranks_per_node(nodes);
}

}  // namespace

struct ArrayBase::Memory {
  enum class Kind : std::uint8_t { allocated, attached, borrowed };
  Kind kind = Kind::allocated;
  void* attached = nullptr;
  std::size_t attached_bytes = 0;
  const ArrayBase* lender = nullptr;

  // Errors: no_memory or invalid_argument if this rank's memory has no room for `bytes`.
  [[nodiscard]] Status check_room(std::size_t bytes) const {
    const std::size_t given = kind == Kind::attached ? attached_bytes
                              : kind == Kind::borrowed
                                  ? lender->region().bytes(lender->team().rank())
                                  : bytes;
    return given >= bytes ? Status()
                          : Status::error(Code::invalid_argument,
                                          fmt::format("the given memory has {} bytes, but this "
                                                      "rank's part of the array needs {}",
                                                      given, bytes));
  }
  [[nodiscard]] Result<rma::Region> take(rma::Team& team, std::size_t bytes,
                                         const rma::RegionOptions& options) const {
    switch (kind) {
      case Kind::attached:
        return rma::Region::attach(team, attached, bytes, options);
      case Kind::borrowed:
        return lender->region().borrow();
      case Kind::allocated:
        break;
    }
    return rma::Region::allocate(team, bytes, options);
  }
};

ArrayBase::ArrayBase() noexcept = default;

ArrayBase::ArrayBase(const rma::Job& job, std::shared_ptr<detail::ArrayState> state,
                     const Distribution& distribution, rma::Region region, ElementKind element)
    : job_(job),
      state_(std::move(state)),
      name_(state_->name),
      element_(std::move(element)),
      distribution_(distribution),
      region_(std::move(region)),
      members_(region_.team().members().data()),
      region_id_(region_.id()),
      access_mode_(region_.options().access_mode),
      uses_(uses_of(access_mode_)) {}

namespace {

// Destructors and assignments can't return the race of a job with TESSERA_CHECK=races-fail.
void log_race(const std::optional<rma::Job>& job, const Status& race) noexcept {
  if (!race.ok()) {
    job->log().line(rma::LogLevel::warning, [&] { return race.message(); });
  }
}

}  // namespace

// The job is copied, not moved: failed handles need it, also those of an array that was moved from.
ArrayBase::ArrayBase(ArrayBase&& other) noexcept
    : job_(other.job_),  // NOLINT(performance-move-constructor-init): see above
      state_(std::move(other.state_)),
      name_(std::move(other.name_)),
      element_(other.element_),
      distribution_(other.distribution_),
      region_(std::move(other.region_)),
      members_(other.members_),
      region_id_(other.region_id_),
      node_copy_(std::move(other.node_copy_)),
      tiles_(std::move(other.tiles_)),
      access_mode_(other.access_mode_),
      uses_(std::exchange(other.uses_, std::uint8_t{0})),
      is_freed_(other.is_freed_),
      is_alias_(other.is_alias_) {}

ArrayBase& ArrayBase::operator=(ArrayBase&& other) noexcept {
  if (this != &other) {
    log_race(job_, end_array_state());
    node_copy_ = std::move(other.node_copy_);
    tiles_ = std::move(other.tiles_);
    region_ = std::move(other.region_);  // first, since it frees the old region with the old job
    job_ = other.job_;
    state_ = std::move(other.state_);
    name_ = std::move(other.name_);
    element_ = other.element_;
    distribution_ = other.distribution_;
    members_ = other.members_;
    region_id_ = other.region_id_;
    access_mode_ = other.access_mode_;
    uses_ = std::exchange(other.uses_, std::uint8_t{0});
    is_freed_ = other.is_freed_;
    is_alias_ = other.is_alias_;
  }
  return *this;
}

ArrayBase::~ArrayBase() {
  log_race(job_, end_array_state());
}

// Collective if the race check is on. Borrowed memory is not freed here, and after an exception
// this rank's destructor may run alone, so the members don't synchronise then.
Status ArrayBase::end_array_state() noexcept {
  if (!state_ || is_alias_ || state_->is_freed.exchange(true) || !state_->races) {
    return {};
  }
  Status race;
  if (!region_.is_borrowed() && std::uncaught_exceptions() == 0) {
    state_->races->check(team(), label("free"), race)
        .ignore("freeing the memory reports the same error");
  }
  state_->races->close();
  return race;
}

ArrayBase ArrayBase::alias() const {
  ArrayBase other(*job_, state_, distribution_, region_.borrow(), element_);
  other.is_alias_ = true;
  return other;
}

Result<ArrayBase> ArrayBase::create(const rma::Job& job, const Extents& extents,
                                    const ElementKind& element, const ArrayOptions& options) {
  rma::Team team = team_of(job, options);
  const rma::LabelScope scope(team, creating(options));
  const RegularOptions regular{.min_block = options.min_block,
                               .process_grid = options.process_grid,
                               .ghosts = options.ghosts,
                               .ranks_per_node = ranks_per_node_of(job, team),
                               .order = options.order};
  const auto distribution =
      options.holders.empty()
          ? Distribution::regular(extents, team.size(), regular)
          : Distribution::restricted(extents, options.holders, team.size(), regular);
  // Agreed here, because a rank that returned early would leave the others waiting.
  TESSERA_RETURN_IF_ERROR(team.agree(distribution.status())
                              .context(fmt::format("creating array '{}' {}", options.name,
                                                   arrays::to_string(extents))));
  return make(job, *distribution, element, options, {});
}

Result<ArrayBase> ArrayBase::create(const rma::Job& job, const Distribution& distribution,
                                    const ElementKind& element, const ArrayOptions& options) {
  return make(job, distribution, element, options, {});
}

Result<ArrayBase> ArrayBase::attach(const rma::Job& job, const Distribution& distribution,
                                    const ElementKind& element, void* memory, std::size_t bytes,
                                    const ArrayOptions& options) {
  return make(job, distribution, element, options,
              {.kind = Memory::Kind::attached, .attached = memory, .attached_bytes = bytes});
}

Result<ArrayBase> ArrayBase::overlay(const ArrayBase& base, const Distribution& distribution,
                                     const ElementKind& element, std::string name) {
  TESSERA_RETURN_IF_ERROR(base.check_open().context("making an array in the memory of another"));
  return make(base.job(), distribution, element,
              {.name = std::move(name), .team = base.team(), .region = base.region().options()},
              {.kind = Memory::Kind::borrowed, .lender = &base});
}

Result<ArrayBase> ArrayBase::duplicate(std::string name) const {
  TESSERA_RETURN_IF_ERROR(check_open().context("duplicating"));
  return make(*job_, distribution_, element_,
              {.name = std::move(name), .team = team(), .region = region().options()}, {});
}

Result<ArrayBase> ArrayBase::make(const rma::Job& job, const Distribution& distribution,
                                  const ElementKind& element, const ArrayOptions& options,
                                  const Memory& memory) {
  rma::Team team = team_of(job, options);
  const rma::LabelScope scope(team, creating(options));
  const auto attempt = [&](Status status) {
    return std::move(status).context(fmt::format("creating array '{}' {}", options.name,
                                                 arrays::to_string(distribution.extents())));
  };
  std::size_t bytes = 0;
  std::shared_ptr<detail::ArrayState> state;
  const auto prepare = [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(check_bytes(distribution, element.bytes));
    if (distribution.nranks() != team.size()) {
      return Status::error(Code::invalid_argument,
                           fmt::format("a distribution over {} ranks does not fit a team of {}",
                                       distribution.nranks(), team.size()));
    }
    bytes = static_cast<std::size_t>(distribution.local_elements(team.rank())) * element.bytes;
    TESSERA_RETURN_IF_ERROR(memory.check_room(bytes));
    state = std::make_shared<detail::ArrayState>();
    state->name = options.name;
    TESSERA_ASSIGN_OR_RETURN(state->races, detail::RaceLog::create(job, team));
    return {};
  };
  TESSERA_RETURN_IF_ERROR(attempt(team.agree(prepare)));
  TESSERA_RETURN_IF_ERROR(attempt(
      check_same_on_all(team, distribution, element, options.region, job.settings().check)));
  rma::RegionOptions region_options = options.region;
  region_options.name = options.name;
  region_options.kind = "array";
  auto region = memory.take(team, bytes, region_options);
  if (!region.ok()) {
    return attempt(std::move(region).status());
  }
  ArrayBase made(job, std::move(state), distribution, std::move(region).take(), element);
  if (made.state_->races) {
    made.state_->races->open(
        {.text = made.describe(),
         .number =
             detail::CallSignature().add(made, made.box()).add(fingerprint(distribution)).hash(),
         .distribution = distribution,
         .self = team.rank(),
         .slice = made.region_.local(),
         .element_bytes = element.bytes,
         .is_strict = made.region_.options().atomics == rma::Atomics::strict,
         .has_flags = is_flag_element(element),
         .address_of = [team, distribution, id = made.region_.id(),
                        bytes = element.bytes](const Index& index) {
           const ElementLocation location = distribution.locate(index);
           return rma::RemoteAddress{team.world_rank(location.owner), id,
                                     static_cast<std::uint64_t>(location.offset) * bytes};
         }});
  }
  return made;
}

Status ArrayBase::free() {
  is_freed_ = true;
  uses_ = 0;
  Status race = end_array_state();
  node_copy_.reset();
  tiles_.reset();
  // Keep a region that belongs to another array: team() may be called on arrays that were freed.
  Status freed = region_.is_borrowed() ? Status() : region_.free();
  return freed.ok() ? race : freed;
}

Status ArrayBase::fence() const {
  TESSERA_RETURN_IF_ERROR(check_open());
  return region_.fence();
}

// One collective step that also carries the result. A barrier after a failed fence would report the
// error on this rank only; a return without a barrier would leave the other ranks waiting.
Status ArrayBase::sync(Status own_status) const {
  TESSERA_RETURN_IF_ERROR(check_open());
  Status fenced = region_.fence();
  if (state_->races) [[unlikely]] {
    Status race;
    TESSERA_RETURN_IF_ERROR(state_->races->check(team(), label("sync"), race));
    own_status = own_status.ok() ? race : own_status;
  }
  return team().agree(own_status.ok() ? fenced : own_status, {.label = label("sync")});
}

std::string ArrayBase::describe() const {
  if (region_) {
    return fmt::format("array '{}' ({}, {})", name_, element_.name, arrays::to_string(extents()));
  }
  return job_ ? fmt::format("an array ({}) that was moved from", arrays::to_string(extents()))
              : std::string("an array that was never made");
}

std::string_view ArrayBase::closed_reason() const noexcept {
  return region_ ? (state_->is_grown ? "grown, which freed this memory of it" : "freed")
         : job_  ? "moved from"
                 : "never made";
}

Status ArrayBase::closed(std::string array) const {
  Status status = Status::error(Code::closed, fmt::format("{} was {}", array, closed_reason()));
  return job_ ? std::move(status)
              : std::move(status).hint("assign to it what Array::create() returned");
}

Status ArrayBase::explain_closed() const {
  return name_rank(closed(region_ ? describe() : std::string("the array")));
}

Status ArrayBase::explain_outside(std::string_view verb, const Index& index) const {
  Status wrong = job_ ? check_inside(index, extents()) : explain_closed();
  return name_rank(std::move(wrong).context(
      fmt::format("{} of element {} of {}", verb, arrays::to_string(index), describe())));
}

Result<rma::RemoteAddress> ArrayBase::atomic_address(std::string_view verb,
                                                     const Index& index) const {
  TESSERA_RETURN_IF_ERROR(check_element(verb, index));
  if ((uses_ & Use::put) == 0) {
    return explain_use(Use::put).context(
        fmt::format("{} of element {} of {}", verb, arrays::to_string(index), describe()));
  }
  if (state_->races) [[unlikely]] {
    state_->races->note(detail::AccessKind::atomic, Box::at(index));
  }
  const ElementLocation location = distribution_.locate(index);
  return region_.at(location.owner, static_cast<std::uint64_t>(location.offset) * element_.bytes);
}

}  // namespace tessera::arrays
