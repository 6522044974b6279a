// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/output_state.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <utility>

#include "arrays/call_signature.hpp"
#include "arrays/checkpoint/attributes.hpp"
#include "arrays/checkpoint/hdf5.hpp"
#include "arrays/checkpoint/members.hpp"
#include "arrays/checkpoint/output_names.hpp"
#include "arrays/checkpoint/pieces.hpp"
#include "arrays/checkpoint/stored_distribution.hpp"
#include "arrays/checkpoint/trailer.hpp"
#include "arrays/checkpoint/xdmf.hpp"

namespace tessera::arrays::detail {

using rma::Code;
using rma::Result;
using rma::Status;

namespace {

// The superblock has a page of its own.
constexpr std::uint64_t page_bytes = 4096;
constexpr std::size_t sector_bytes = 512;  // devices write a sector completely or not at all
constexpr std::int64_t piece_bytes = std::int64_t{1} << 20;
// libhdf5's limit.
constexpr std::int64_t max_chunk_bytes = (std::int64_t{1} << 32U) - 1;
constexpr const char* time_attribute = "time";

std::uint64_t next_page(std::uint64_t offset) noexcept {
  return (offset + page_bytes - 1) / page_bytes * page_bytes;
}

Status check_options(const DatasetOptions& options, const Extents& extents,
                     std::int64_t element_bytes) {
  if (options.compression < 0 || options.compression > 9) {
    return invalid(fmt::format("compression is {}; 0 to 9 are possible", options.compression));
  }
  const Extents& chunk = options.chunk;
  if (chunk.ndims() == 0) {
    return {};
  }
  if (chunk.ndims() != extents.ndims()) {
    return invalid(fmt::format("chunks have {} dimensions, but the part has {}", chunk.ndims(),
                               extents.ndims()));
  }
  std::int64_t bytes = element_bytes;
  for (int dim = 0; dim < chunk.ndims(); ++dim) {
    if (chunk[dim] < 1 || chunk[dim] > std::max<std::int64_t>(extents[dim], 1)) {
      return invalid(fmt::format("chunks of {} don't fit a part of {}", to_string(chunk),
                                 to_string(extents)))
          .hint("each length is at least 1 and at most that of the part");
    }
    if (__builtin_mul_overflow(bytes, chunk[dim], &bytes) || bytes > max_chunk_bytes) {
      return invalid(fmt::format("chunks of {} have more than 4 GiB", to_string(chunk)))
          .hint("choose smaller chunks; about 1 MiB is usual");
    }
  }
  return {};
}

Extents with_steps(std::int64_t steps, const Extents& extents) {
  Extents all = Extents::zeros(extents.ndims() + 1);
  all[0] = steps;
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    all[dim + 1] = extents[dim];
  }
  return all;
}

bool is_whole(const ArrayBase& array, const Section& part) {
  return part.box() == array.box() &&
         std::all_of(part.steps().begin(), part.steps().end(), [](auto step) { return step == 1; });
}

std::vector<StoredFilter> filters_of(const DatasetOptions& options, std::int64_t element_bytes) {
  std::vector<StoredFilter> filters;
  if (options.compression > 0 && options.shuffle && element_bytes > 1) {
    filters.push_back({FilterKind::shuffle, static_cast<std::uint32_t>(element_bytes)});
  }
  if (options.compression > 0) {
    filters.push_back({FilterKind::deflate, static_cast<std::uint32_t>(options.compression)});
  }
  return filters;
}

void add_groups(KnownFile& known, const std::vector<std::string>& groups) {
  for (const std::string& group : groups) {
    known.catalog.groups.push_back({group, {}});
    known.changes.groups.push_back(group);
  }
}

void add_array(Catalog& catalog, const StoredArray& stored) {
  const auto old = std::find_if(catalog.arrays.begin(), catalog.arrays.end(),
                                [&](const StoredArray& each) { return each.name == stored.name; });
  if (old == catalog.arrays.end()) {
    catalog.arrays.push_back(stored);
  } else {
    *old = stored;
  }
}

void add_change(FileChanges& changes, const StoredArray& stored, bool is_new,
                const std::vector<ChunkPlace>& places) {
  auto at = std::find_if(changes.arrays.begin(), changes.arrays.end(),
                         [&](const ChangedArray& each) { return each.stored.name == stored.name; });
  if (at == changes.arrays.end()) {
    at = changes.arrays.insert(at, ChangedArray());
    at->is_new = is_new;
  }
  at->stored = stored;
  at->chunks.insert(at->chunks.end(), places.begin(), places.end());
}

std::vector<double> times_of(const Catalog& catalog, const std::string& name) {
  for (const auto& [each, value] : *catalog.attributes_of(name)) {
    if (each == time_attribute) {
      const auto one = value_as<double>(value);
      return one ? std::vector<double>{*one}
                 : value_as<std::vector<double>>(value).value_or(std::vector<double>());
    }
  }
  return {};
}

// Requires: the object exists.
void change_attribute(KnownFile& known, const ChangedAttribute& change, bool is_leader) {
  StoredAttributes& attributes = *known.catalog.attributes_of(change.object);
  const auto at = std::find_if(attributes.begin(), attributes.end(),
                               [&](const auto& each) { return each.first == change.name; });
  if (at == attributes.end()) {
    attributes.emplace_back(change.name, change.value);
  } else {
    at->second = change.value;
  }
  if (!is_leader) {
    return;
  }
  std::erase_if(known.changes.attributes, [&](const ChangedAttribute& each) {
    return each.object == change.object && each.name == change.name;
  });
  known.changes.attributes.push_back(change);
}

}  // namespace

OutputState::~OutputState() {
  // A child process made by fork() leaves its parent's file in place.
  if (is_leader(team_) && !is_in_place_ && file_.is_open() && getpid() == maker_) {
    remove_file(file_path_);
  }
}

std::string OutputState::describe_file() const {
  return fmt::format("output '{}'", path_);
}

Status OutputState::check_usable() const {
  return is_over_ ? team_.name_rank(Status::error(Code::closed, "it was already closed"))
                  : Status();
}

std::int64_t OutputState::steps(std::string_view name) const noexcept {
  const StoredArray* const stored = known_.catalog.find(name);
  return stored != nullptr && stored->is_extendible ? stored->extents[0] : 0;
}

Status OutputState::begin() {
  const rma::LabelScope scope(team_, call("open"));
  maker_ = getpid();
  TESSERA_RETURN_IF_ERROR(
      check_same_call(team_, "path or mode", path_, static_cast<std::uint64_t>(mode_)));
  TESSERA_RETURN_IF_ERROR(
      team_.agree([&] { return is_leader(team_) ? open_as_leader() : check_hdf5(); }));
  TESSERA_RETURN_IF_ERROR(share(team_, file_path_));
  TESSERA_RETURN_IF_ERROR(team_.agree([&]() -> Status {
    if (!is_leader(team_)) {
      TESSERA_ASSIGN_OR_RETURN(file_, File::open_to_write(file_path_));
    }
    return {};
  }));
  TESSERA_RETURN_IF_ERROR(share_catalog());
  TESSERA_RETURN_IF_ERROR(team_.broadcast_value(has_changes_, leader));
  TESSERA_ASSIGN_OR_RETURN(next_chunk_, Counter::create(job_, team_));
  TESSERA_ASSIGN_OR_RETURN(end_, Counter::create(job_, team_));
  return set_end(end_of_file_);
}

Status OutputState::open_as_leader() {
  TESSERA_RETURN_IF_ERROR(check_hdf5());
  TESSERA_ASSIGN_OR_RETURN(target_, checkpoint_target(path_));
  const bool exists = does_exist(target_);
  if (exists && mode_ == OutputMode::create) {
    return invalid(fmt::format("the file {} already exists", target_))
        .hint("open it to append or to replace it, or choose another name");
  }
  if (exists && mode_ == OutputMode::append) {
    return open_existing();
  }
  remove_stale_temporaries(target_);
  TESSERA_ASSIGN_OR_RETURN(file_, File::create_temporary(target_));
  file_path_ = file_.path();
  known_.catalog.groups.push_back({"/", {}});
  end_of_file_ = page_bytes;
  return {};
}

Status OutputState::open_existing() {
  TESSERA_ASSIGN_OR_RETURN(file_, File::open_to_append(target_));
  file_path_ = target_;
  is_in_place_ = true;
  has_changes_ = false;
  TESSERA_ASSIGN_OR_RETURN(image_, read_image(file_));
  TESSERA_ASSIGN_OR_RETURN(known_.catalog, read_catalog(*image_, target_));
  if (!known_.catalog.not_kept.empty()) {
    return Status::error(Code::unsupported,
                         fmt::format("Tessera can't add to {}, as it could not keep {}", target_,
                                     known_.catalog.not_kept))
        .hint("write to a new file, which can link to the old one (h5py.ExternalLink)");
  }
  TESSERA_ASSIGN_OR_RETURN(end_of_file_, description_end(file_));
  return {};
}

Status OutputState::share_catalog() {
  return team_.do_together([&]() -> Status {
    std::vector<std::byte> bytes;
    if (is_leader(team_)) {
      bytes = pack(known_.catalog);
    }
    TESSERA_RETURN_IF_ERROR(share(team_, bytes));
    if (!is_leader(team_)) {
      known_.catalog = unpack(bytes);
    }
    return team_.barrier();
  });
}

Status OutputState::set_end(std::uint64_t end) {
  TESSERA_RETURN_IF_ERROR(team_.broadcast_value(end, leader));
  return end_->reset(static_cast<std::int64_t>(end));
}

// --- writing ---

Result<OutputState::Plan> OutputState::plan(const ArrayBase& array, const Section& part,
                                            const std::string& given, const DatasetOptions& options,
                                            bool is_step) const {
  TESSERA_RETURN_IF_ERROR(check_array(array, team_, Transfer::get()));
  TESSERA_RETURN_IF_ERROR(check_inside(part, array.extents()).context(array.describe()));
  TESSERA_ASSIGN_OR_RETURN(const std::string name, checked_name(given));
  const Extents extents = part.extents();
  Plan plan;
  StoredArray& stored = plan.stored;
  stored.name = name;
  stored.extents = is_step ? with_steps(1, extents) : extents;
  stored.type = array.element().type;
  stored.is_opaque = !stored.type;
  stored.is_native = true;
  stored.element_bytes = static_cast<std::int64_t>(array.element_bytes());
  stored.type_text = stored.type ? std::string(rma::to_string(*stored.type))
                                 : fmt::format("{}-byte elements", stored.element_bytes);
  stored.is_extendible = is_step;
  plan.box = Box::whole(stored.extents);
  if (is_step && (extents.ndims() >= max_dims || volume(extents) == 0)) {
    return invalid(extents.ndims() >= max_dims
                       ? fmt::format("a step has at most {} dimensions", max_dims - 1)
                       : "a step needs elements");
  }
  const StoredArray* const old = is_step ? known_.catalog.find(name) : nullptr;
  if (old != nullptr) {
    TESSERA_RETURN_IF_ERROR(plan_step(*old, plan));
    return plan;
  }
  TESSERA_ASSIGN_OR_RETURN(plan.groups, missing_groups(known_.catalog, name));
  TESSERA_RETURN_IF_ERROR(check_options(options, extents, stored.element_bytes));
  const bool is_chunked =
      volume(extents) > 0 && (is_step || options.compression > 0 || options.chunk.ndims() > 0);
  if (is_chunked) {
    const Extents chunk = options.chunk.ndims() > 0 ? options.chunk : default_chunk(array, part);
    stored.chunk = is_step ? with_steps(1, chunk) : chunk;
    stored.filters = filters_of(options, stored.element_bytes);
  } else {
    stored.piece_elements = std::max<std::int64_t>(piece_bytes / stored.element_bytes, 1);
  }
  if (!is_step && is_whole(array, part)) {
    stored.distribution = to_string(array.distribution());
    stored.distribution_numbers = to_numbers(array.distribution());
  }
  return plan;
}

Status OutputState::plan_step(const StoredArray& old, Plan& plan) const {
  const StoredArray step = std::move(plan.stored);
  plan.stored = old;
  plan.is_new = false;
  if (!old.is_extendible) {
    return invalid(fmt::format("the data set '{}' has no dimension for steps", old.name))
        .hint("append() needs a data set that append() began; choose another name");
  }
  if (old.chunk[0] != 1) {
    return Status::error(Code::unsupported,
                         fmt::format("the chunks of '{}' have {} steps each; append() needs 1",
                                     old.name, old.chunk[0]))
        .hint("copy it with h5repack -l and chunks of one step");
  }
  Extents wanted = old.extents;
  wanted[0] = 1;
  if (step.extents != wanted) {
    return invalid(fmt::format("a step of '{}' has extents {}, but this part has {}", old.name,
                               to_string(wanted), to_string(step.extents)));
  }
  const bool is_same_type = step.type ? old.is_native && old.type == step.type : old.is_opaque;
  if (!is_same_type || old.element_bytes != step.element_bytes) {
    return invalid(fmt::format("'{}' holds {}, but the array holds {}", old.name, old.type_text,
                               step.type_text));
  }
  plan.box = Box::whole(old.extents);
  plan.box.set(0, old.extents[0], old.extents[0] + 1);
  ++plan.stored.extents[0];
  return {};
}

Status OutputState::write(ArrayBase& array, const Section& part, const std::string& name,
                          const DatasetOptions& options, bool is_step) {
  TESSERA_RETURN_IF_ERROR(check_usable());
  const rma::LabelScope scope(team_, call(is_step ? "append" : "write"));
  auto plan = team_.agree([&] { return this->plan(array, part, name, options, is_step); });
  TESSERA_RETURN_IF_ERROR(plan.status());
  CallSignature same;
  same.add(array, part.box()).add(std::string_view(name)).add(is_step);
  same.add(std::string_view(to_string(part.steps()) + to_string(options.chunk)));
  same.add(options.compression).add(options.shuffle);
  same.add(options.time.value_or(0.0)).add(options.time.has_value());
  TESSERA_RETURN_IF_ERROR(check_same_on_all(team_, same.hash(), "array, part, name or options"));
  TESSERA_RETURN_IF_ERROR(array.sync());
  const auto source = team_.agree([&] { return ArrayPart::create(array, part, plan->box); });
  TESSERA_RETURN_IF_ERROR(source.status());
  TESSERA_ASSIGN_OR_RETURN(std::vector<ChunkPlace> places, write_elements(*plan, *source));
  return record(*plan, std::move(places), options.time);
}

Result<std::vector<ChunkPlace>> OutputState::write_elements(Plan& plan, const ArrayPart& part) {
  if (plan.box.is_empty()) {
    return std::vector<ChunkPlace>();
  }
  const StoredArray& stored = plan.stored;
  const std::int64_t rows =
      stored.is_chunked() ? ChunkRange(ChunkGrid(stored.extents, stored.chunk), plan.box).count()
                          : piece_count(stored);
  TESSERA_ASSIGN_OR_RETURN(PlaceTable table, PlaceTable::create(job_, team_, rows));
  if (!stored.is_chunked()) {
    TESSERA_RETURN_IF_ERROR(write_pieces(plan, part, table));
    return table.collect({});
  }
  TESSERA_RETURN_IF_ERROR(next_chunk_->reset());
  return table.collect(rma::detail::catch_bad_alloc([&] {
    const ChunkRange range(ChunkGrid(stored.extents, stored.chunk), plan.box);
    return write_chunks(file_, stored, part, range, *next_chunk_, *end_, table);
  }));
}

Status OutputState::write_pieces(Plan& plan, const ArrayPart& part, PlaceTable& table) {
  StoredArray& stored = plan.stored;
  const auto make_room = [&]() -> Status {
    if (is_leader(team_)) {
      const std::int64_t bytes = volume(stored.extents) * stored.element_bytes;
      TESSERA_ASSIGN_OR_RETURN(const std::int64_t end,
                               end_->next(bytes + static_cast<std::int64_t>(page_bytes) - 1));
      stored.offset = static_cast<std::int64_t>(next_page(static_cast<std::uint64_t>(end)));
    }
    return {};
  };
  TESSERA_RETURN_IF_ERROR(team_.agree(make_room()));
  TESSERA_RETURN_IF_ERROR(team_.broadcast_value(stored.offset, leader));
  return team_.agree([&]() -> Status {
    const Slab slab = slab_of(stored, team_.rank(), team_.size());
    TESSERA_ASSIGN_OR_RETURN(const auto checksums, write_slab(file_, stored, slab, part));
    for (std::size_t i = 0; i < checksums.size(); ++i) {
      const std::int64_t row = slab.first + static_cast<std::int64_t>(i);
      const ChunkPlace place{.number = static_cast<std::uint64_t>(row), .checksum = checksums[i]};
      TESSERA_RETURN_IF_ERROR(table.put(row, place));
    }
    return {};
  });
}

template <class Body>
Status OutputState::change(const Body& body) {
  TESSERA_ASSIGN_OR_RETURN(KnownFile next, team_.agree([&]() -> Result<KnownFile> {
    KnownFile copy = known_;
    TESSERA_RETURN_IF_ERROR(body(copy));
    return copy;
  }));
  known_ = std::move(next);
  has_changes_ = true;
  return {};
}

Status OutputState::record(const Plan& plan, std::vector<ChunkPlace> places,
                           std::optional<double> time) {
  std::sort(places.begin(), places.end(),
            [](const ChunkPlace& a, const ChunkPlace& b) { return a.number < b.number; });
  return change([&](KnownFile& known) -> Status {
    add_groups(known, plan.groups);
    StoredArray stored = plan.stored;
    // If the earlier chunks have no checksums, the new ones get none.
    const std::int64_t older = piece_count(stored) - std::ssize(places);
    if (is_leader(team_) && std::ssize(stored.checksums) == (plan.is_new ? 0 : older)) {
      for (const ChunkPlace& place : places) {
        stored.checksums.push_back(place.checksum);
      }
    }
    add_array(known.catalog, stored);
    if (is_leader(team_)) {
      add_change(known.changes, stored, plan.is_new, places);
    }
    if (time && stored.is_extendible) {
      // Earlier steps without a time have a NaN.
      std::vector<double> times = times_of(known.catalog, stored.name);
      times.resize(static_cast<std::size_t>(stored.extents[0]),
                   std::numeric_limits<double>::quiet_NaN());
      times.back() = *time;
      change_attribute(known, {stored.name, time_attribute, std::move(times)}, is_leader(team_));
    }
    return {};
  });
}

Status OutputState::create_group(const std::string& given) {
  TESSERA_RETURN_IF_ERROR(check_usable());
  const rma::LabelScope scope(team_, call("create_group"));
  TESSERA_RETURN_IF_ERROR(check_same_call(team_, "name", given));
  return change([&](KnownFile& known) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const std::string name, checked_name(given));
    if (known.catalog.attributes_of(name) != nullptr && known.catalog.find(name) == nullptr) {
      return {};
    }
    TESSERA_ASSIGN_OR_RETURN(std::vector<std::string> groups, missing_groups(known.catalog, name));
    groups.push_back(name);
    add_groups(known, groups);
    return {};
  });
}

Status OutputState::set_attribute(const std::string& object, const std::string& name,
                                  const AttributeValue& value) {
  TESSERA_RETURN_IF_ERROR(check_usable());
  const rma::LabelScope scope(team_, call("set_attribute"));
  TESSERA_RETURN_IF_ERROR(
      check_same_call(team_, "object, name or value", object + "\n" + name, hash_of(value)));
  return change([&](KnownFile& known) -> Status {
    TESSERA_RETURN_IF_ERROR(check_attribute(name, value));
    if (name.empty() || name.find('\0') != std::string::npos) {
      return invalid(fmt::format("'{}' is not a valid name for an attribute", name));
    }
    if (known.catalog.attributes_of(object) == nullptr) {
      return invalid(fmt::format("there is no data set or group '{}'", object))
          .hint("write it first, or create the group; '/' is the file itself");
    }
    change_attribute(known, {object, name, value}, is_leader(team_));
    return {};
  });
}

Status OutputState::set_grid(const UniformGrid& grid) {
  TESSERA_RETURN_IF_ERROR(check_usable());
  const rma::LabelScope scope(team_, call("set_grid"));
  TESSERA_RETURN_IF_ERROR(team_.agree([&] { return check_grid(grid); }));
  const std::vector<double> numbers = to_numbers(grid);
  const auto bytes = std::as_bytes(std::span(numbers));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  TESSERA_RETURN_IF_ERROR(check_same_call(team_, "grid", text));
  TESSERA_RETURN_IF_ERROR(team_.agree(
      [&] { return is_leader(team_) ? check_xdmf_path(xdmf_path(target_)) : Status(); }));
  return change([&](KnownFile& known) -> Status {
    known.catalog.grid = numbers;
    if (is_leader(team_)) {
      known.changes.attributes.push_back({"/", grid_attribute, numbers});
    }
    return {};
  });
}

// --- completing ---

// A machine has one cache for a file, whichever process wrote it. So one member of each node writes
// it to the device; on the leader's node that is the leader.
bool OutputState::is_to_sync() const {
  const auto members = team_.members();
  const rma::WorldRank own = job_.rank();
  const auto first = std::find_if(members.begin(), members.end(), [&](rma::WorldRank member) {
    return job_.node_of(member) == job_.node_of(own);
  });
  return *first == own && !is_leader(team_);
}

Status OutputState::flush() {
  TESSERA_RETURN_IF_ERROR(check_usable());
  const rma::LabelScope scope(team_, call("flush"));
  if (!has_changes_) {
    return team_.barrier();
  }
  TESSERA_RETURN_IF_ERROR(team_.agree(is_to_sync() ? file_.sync() : Status()));
  const Status done =
      team_.agree([&] { return is_leader(team_) ? complete_as_leader() : Status(); });
  const Status moved = set_end(end_of_file_);
  TESSERA_RETURN_IF_ERROR(Status(done));
  TESSERA_RETURN_IF_ERROR(Status(moved));
  known_.changes = FileChanges();
  is_in_place_ = true;
  has_changes_ = false;
  return team_.agree([&] { return is_leader(team_) ? write_xdmf() : Status(); });
}

Status OutputState::complete_as_leader() {
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t end, end_->next(0));
  end_of_file_ = static_cast<std::uint64_t>(end);  // after all elements that ranks have written
  const std::uint64_t start = (end_of_file_ + 7) / 8 * 8;
  TESSERA_ASSIGN_OR_RETURN(FileImage image,
                           describe_again(image_ ? &*image_ : nullptr, known_.changes, start));
  const auto& superblock = *image.fragments().begin();
  const auto& next = *std::next(image.fragments().begin());
  if (superblock.first != 0 || superblock.second.size() > sector_bytes || next.first < start) {
    return Status::error(Code::internal, "libhdf5 places descriptions where old ones may be");
  }
  // 1. All that is new, none of which the old superblock refers to.
  for (const auto& [offset, bytes] : image.fragments()) {
    if (offset > 0) {
      TESSERA_RETURN_IF_ERROR(file_.write_at(offset, bytes));
    }
  }
  const std::vector<std::uint64_t> trailer = trailer_with_header(image);
  const auto trailer_bytes = std::as_bytes(std::span(trailer));
  TESSERA_RETURN_IF_ERROR(file_.write_at(image.end(), trailer_bytes));
  TESSERA_RETURN_IF_ERROR(file_.resize(image.end() + trailer_bytes.size()));
  TESSERA_RETURN_IF_ERROR(file_.sync());
  // 2. The superblock, in one write within one sector. From then on the file is the new one.
  TESSERA_RETURN_IF_ERROR(file_.write_at(0, superblock.second));
  end_of_file_ = image.end() + trailer_bytes.size();
  image_ = std::move(image);
  known_.changes = FileChanges();
  TESSERA_RETURN_IF_ERROR(file_.sync());
  return is_in_place_ ? Status() : put_in_place();
}

Status OutputState::put_in_place() {
  if (mode_ != OutputMode::replace && does_exist(target_)) {
    return invalid(fmt::format("the file {} exists now, but did not when this output was opened",
                               target_))
        .hint("another program made it; open an output of another name");
  }
  file_.copy_permissions_of(target_);
  return replace(file_path_, target_);
}

Status OutputState::write_xdmf() const {
  return write_xdmf_file(xdmf_path(target_), target_, known_.catalog,
                         grid_from(known_.catalog.grid));
}

Status OutputState::close() {
  TESSERA_RETURN_IF_ERROR(flush());
  is_over_ = true;
  file_.close();
  const Status counters = next_chunk_->free();
  const Status end = end_->free();
  return counters.ok() ? end : counters;
}

}  // namespace tessera::arrays::detail
