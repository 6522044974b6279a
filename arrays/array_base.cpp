// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/array_base.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "arrays/detail/same_on_all.hpp"
#include "arrays/process_grid.hpp"
#include "rma/transfer.hpp"

namespace tessera::arrays {

using rma::Code;
using rma::Handle;
using rma::Result;
using rma::Status;

namespace {

// The slice of every rank in bytes must fit a size; the distribution has checked elements only.
Status check_bytes(const Distribution& distribution, std::size_t element_bytes) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(distribution.most_local_elements(),
                             static_cast<std::int64_t>(element_bytes), &bytes)) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} elements of {} bytes on one rank overflow 63 bits",
                                     distribution.most_local_elements(), element_bytes));
  }
  return {};
}

// All members must have asked for the same array: a hash of all of it tells.
Status check_same_on_all(rma::Team& team, const Distribution& distribution,
                         std::size_t element_bytes, const std::string& element_name) {
  const std::uint64_t mine = (fingerprint(distribution) * 31 + element_bytes) * 31 +
                             std::hash<std::string>{}(element_name);
  return detail::check_same_on_all(
      team, mine, "array",
      "all members must give the same element type, extents, distribution (cuts, owners, orders, "
      "grids, ghosts) and options");
}

rma::Team team_of(const rma::Job& job, const ArrayOptions& options) {
  return options.team ? *options.team : job.world();
}

// From where all members are, not from this rank's node only: nodes may be of unlike sizes, and
// every member must come to the same distribution.
std::int64_t ranks_per_node_of(const rma::Job& job, const rma::Team& team) {
  std::vector<rma::NodeId> nodes;
  nodes.reserve(static_cast<std::size_t>(team.size()));
  for (const rma::WorldRank member : team.members()) {
    nodes.push_back(job.node_of(member));
  }
  return ranks_per_node(nodes);
}

}  // namespace

ArrayBase::ArrayBase(const rma::Job& job, std::string name, const Distribution& distribution,
                     rma::Region region, ElementKind element)
    : job_(job),
      name_(std::move(name)),
      type_name_(std::move(element.name)),
      distribution_(distribution),
      region_(std::move(region)),
      element_bytes_(element.bytes) {}

// The job is copied: failed handles need it, also those of an array that was moved from.
ArrayBase::ArrayBase(ArrayBase&& other) noexcept
    : job_(other.job_),  // NOLINT(performance-move-constructor-init): said above
      name_(std::move(other.name_)),
      type_name_(std::move(other.type_name_)),
      distribution_(other.distribution_),
      region_(std::move(other.region_)),
      element_bytes_(other.element_bytes_),
      is_freed_(other.is_freed_) {}

ArrayBase& ArrayBase::operator=(ArrayBase&& other) noexcept {
  if (this != &other) {
    region_ = std::move(other.region_);  // first, as it frees the old one with the old job
    job_ = other.job_;
    name_ = std::move(other.name_);
    type_name_ = std::move(other.type_name_);
    distribution_ = other.distribution_;
    element_bytes_ = other.element_bytes_;
    is_freed_ = other.is_freed_;
  }
  return *this;
}

Result<ArrayBase::Made> ArrayBase::make(const rma::Job& job, const Extents& extents,
                                        const ElementKind& element, const ArrayOptions& options) {
  rma::Team team = team_of(job, options);
  const auto distribution = Distribution::regular(extents, team.size(),
                                                  {.min_block = options.min_block,
                                                   .process_grid = options.process_grid,
                                                   .ghosts = options.ghosts,
                                                   .ranks_per_node = ranks_per_node_of(job, team),
                                                   .order = options.order});
  // Agreed here, because a rank that returns early would leave the others waiting.
  TESSERA_RETURN_IF_ERROR(
      team.agree(distribution.status())
          .context(fmt::format("creating array '{}' {}", options.name, to_string(extents))));
  return make(job, *distribution, element, options);
}

Result<ArrayBase::Made> ArrayBase::make(const rma::Job& job, const Distribution& distribution,
                                        const ElementKind& element, const ArrayOptions& options) {
  rma::Team team = team_of(job, options);
  const auto attempt = [&](Status status) {
    return std::move(status).context(
        fmt::format("creating array '{}' {}", options.name, to_string(distribution.extents())));
  };
  Status mine = check_bytes(distribution, element.bytes);
  if (mine.ok() && distribution.nranks() != team.size()) {
    mine = Status::error(Code::invalid_argument,
                         fmt::format("a distribution over {} ranks does not fit a team of {}",
                                     distribution.nranks(), team.size()));
  }
  TESSERA_RETURN_IF_ERROR(attempt(team.agree(mine)));
  TESSERA_RETURN_IF_ERROR(
      attempt(check_same_on_all(team, distribution, element.bytes, element.name)));
  const auto bytes =
      static_cast<std::size_t>(distribution.local_elements(team.rank())) * element.bytes;
  auto region = rma::Region::allocate(team, bytes, options.region);
  if (!region.ok()) {
    return attempt(std::move(region).status());
  }
  return Made{distribution, std::move(region).take()};
}

Status ArrayBase::free() {
  is_freed_ = true;
  return region_.free();
}

Status ArrayBase::fence() {
  TESSERA_RETURN_IF_ERROR(check_open());
  return region_.fence();
}

// One meeting that carries the result: a barrier after a failed fence would tell only this rank,
// and one instead of it would leave the others waiting.
Status ArrayBase::sync(Status mine) {
  TESSERA_RETURN_IF_ERROR(check_open());
  Status fenced = region_.fence();
  return team().agree(mine.ok() ? fenced : mine);
}

std::string ArrayBase::describe() const {
  return region_ ? fmt::format("array '{}' ({}, {})", name_, type_name_, to_string(extents()))
                 : fmt::format("an array ({}) that was moved from", to_string(extents()));
}

std::string ArrayBase::describe(std::string_view verb, const Box& box) const {
  return fmt::format("{} of {} of {}", verb, to_string(box), describe());
}

Status ArrayBase::explain(Status status, std::string_view verb, const Box& box) const {
  return status.ok() ? Status() : std::move(status).context(describe(verb, box));
}

Status ArrayBase::explain_closed() const {
  return Status::error(
      Code::closed, region_ ? fmt::format("{} was freed", describe()) : "the array was moved from");
}

Status ArrayBase::explain_outside(std::string_view verb, const Index& index) const {
  return check_inside(index, extents())
      .context(fmt::format("{} of element {} of {}", verb, to_string(index), describe()));
}

Status ArrayBase::check_room(std::string_view verb, const Box& box, std::int64_t given) const {
  // A box outside the array is reported by the operation itself, which knows better what is wrong.
  if (!is_inside(box, extents()) || given >= box.volume()) {
    return {};
  }
  return explain(Status::error(Code::invalid_argument,
                               fmt::format("the local buffer has {} elements and the box {}", given,
                                           box.volume())),
                 verb, box);
}

Status ArrayBase::check_view(std::string_view verb, const Box& box, const Extents& given,
                             const Strides& strides) const {
  if (!is_inside(box, extents())) {
    return {};
  }
  if (given != box.extents()) {
    return explain(Status::error(Code::invalid_argument,
                                 fmt::format("the local view is {} and the box {}",
                                             to_string(given), to_string(box.extents()))),
                   verb, box);
  }
  if (strides.ndims() != box.ndims()) {
    return explain(Status::error(Code::invalid_argument,
                                 fmt::format("the view has {} stride{} for {} dimension{}",
                                             strides.ndims(), strides.ndims() == 1 ? "" : "s",
                                             box.ndims(), box.ndims() == 1 ? "" : "s")),
                   verb, box);
  }
  return {};
}

// The walk: one call of `action(address, local pointer, shape)` for each patch.
template <class Action>
Status ArrayBase::for_each_patch(std::string_view verb, const Box& box, const LocalBuffer& local,
                                 Action&& action) const {
  if (!is_inside(box, extents())) [[unlikely]] {
    return explain(check_inside(box, extents()), verb, box);
  }
  if (!is_open()) [[unlikely]] {
    return explain(
        Status::error(Code::closed, region_ ? "the array was freed" : "the array was moved from"),
        verb, box);
  }
  if (local.data == nullptr && !box.is_empty()) [[unlikely]] {
    return explain(Status::error(Code::invalid_argument, "the local buffer is null"), verb, box);
  }
  auto* const corner = static_cast<std::byte*>(local.data);
  for (const Patch& patch : distribution_.patches(box, team().rank().value)) {
    const std::int64_t place = distance(box.lo(), patch.box.lo(), local.strides);
    Status status =
        action(address(patch), corner + place * static_cast<std::int64_t>(element_bytes_),
               copy_shape(patch, local.strides, element_bytes_));
    if (!status.ok()) [[unlikely]] {
      return explain(std::move(status), verb, box);
    }
  }
  return {};
}

Status ArrayBase::put_box(const Box& box, const LocalBuffer& from) const {
  return for_each_patch("put", box, from,
                        [&](rma::RemoteAddress to, std::byte* local, const rma::CopyShape& shape) {
                          return rma::put(job_, to, local, shape);
                        });
}

Status ArrayBase::get_box(const Box& box, const LocalBuffer& to) const {
  return for_each_patch(
      "get", box, to, [&](rma::RemoteAddress from, std::byte* local, const rma::CopyShape& shape) {
        return rma::get(job_, from, local, shape);
      });
}

Status ArrayBase::accumulate_box(const Box& box, const LocalBuffer& from,
                                 const rma::Scale& scale) const {
  return for_each_patch("accumulate", box, from,
                        [&](rma::RemoteAddress to, std::byte* local, const rma::CopyShape& shape) {
                          return rma::accumulate(job_, to, local, shape, scale);
                        });
}

Handle ArrayBase::put_box_async(const Box& box, const LocalBuffer& from) const {
  Handle all;
  Status status = for_each_patch(
      "put", box, from, [&](rma::RemoteAddress to, std::byte* local, const rma::CopyShape& shape) {
        all.collect(rma::put_async(job_, to, local, shape));
        return Status();
      });
  if (!status.ok()) {
    all.collect(Handle::failed(job_, std::move(status)));
  }
  return all;
}

Handle ArrayBase::get_box_async(const Box& box, const LocalBuffer& to) const {
  Handle all;
  Status status = for_each_patch(
      "get", box, to, [&](rma::RemoteAddress from, std::byte* local, const rma::CopyShape& shape) {
        all.collect(rma::get_async(job_, from, local, shape));
        return Status();
      });
  if (!status.ok()) {
    all.collect(Handle::failed(job_, std::move(status)));
  }
  return all;
}

Handle ArrayBase::accumulate_box_async(const Box& box, const LocalBuffer& from,
                                       const rma::Scale& scale) const {
  Handle all;
  Status status =
      for_each_patch("accumulate", box, from,
                     [&](rma::RemoteAddress to, std::byte* local, const rma::CopyShape& shape) {
                       all.collect(rma::accumulate_async(job_, to, local, shape, scale));
                       return Status();
                     });
  if (!status.ok()) {
    all.collect(Handle::failed(job_, std::move(status)));
  }
  return all;
}

}  // namespace tessera::arrays
