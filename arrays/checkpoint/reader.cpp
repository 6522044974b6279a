// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "arrays/call_signature.hpp"
#include "arrays/checkpoint.hpp"
#include "arrays/checkpoint/checksum.hpp"
#include "arrays/checkpoint/chunk_reader.hpp"
#include "arrays/checkpoint/element_converter.hpp"
#include "arrays/checkpoint/file.hpp"
#include "arrays/checkpoint/hdf5.hpp"
#include "arrays/checkpoint/members.hpp"
#include "arrays/checkpoint/pieces.hpp"
#include "arrays/checkpoint/stored_distribution.hpp"
#include "arrays/checkpoint/trailer.hpp"

namespace tessera::arrays {
namespace detail {

using rma::Code;
using rma::Result;
using rma::Status;

namespace {

// For messages such as "it holds …, not …".
std::string name_of(std::optional<rma::ElementType> type, std::int64_t element_bytes) {
  return type ? std::string(rma::to_string(*type))
              : fmt::format("elements of {} bytes without a type", element_bytes);
}

Status check_type(const StoredArray& stored, const ElementKind& element) {
  const auto& type = element.type;
  const auto bytes = static_cast<std::int64_t>(element.bytes);
  const bool fits = type ? (stored.compatible_types >> static_cast<unsigned>(*type) & 1U) != 0
                         : stored.is_opaque && stored.element_bytes == bytes;
  return fits ? Status()
              : invalid(fmt::format("it holds {}, not {}", stored.type_text, name_of(type, bytes)))
                    .hint(
                        "ask for the type that the file has, or one that holds all its values "
                        "(Checkpoint::info)");
}

// A value that is equal on members that opened the same file: its length, and a checksum of its
// first and last bytes. These differ if any description in the file differs.
Result<std::array<std::uint64_t, 2>> identity_of(const File& file) {
  TESSERA_ASSIGN_OR_RETURN(const std::uint64_t size, description_end(file));
  std::array<std::byte, 128> both = {};
  const std::uint64_t count = std::min<std::uint64_t>(size, both.size() / 2);
  TESSERA_RETURN_IF_ERROR(file.read_at(0, std::span(both).first(count)));
  TESSERA_RETURN_IF_ERROR(file.read_at(size - count, std::span(both).last(count)));
  return std::array<std::uint64_t, 2>{size, checksum(both)};
}

// The offsets of this number of chunks are broadcast at a time: about 1 MiB.
constexpr std::int64_t chunks_at_a_time = 32768;

std::string list_names(const std::vector<std::string>& names) {
  return names.empty() ? "nothing" : fmt::format("'{}'", fmt::join(names, "', '"));
}

}  // namespace

class CheckpointState {
 public:
  CheckpointState(rma::Job job, const rma::Team& team, std::string path)
      : job_(std::move(job)), team_(team), path_(std::move(path)) {}

  /// Collective, as are check_call() and read().
  Status begin();
  /// Checks that all members request the same array, that the file has it, and that elements have
  /// this type.
  Status check_call(const std::string& name, const Status& own_status);
  Status read(const StoredArray& stored, const ArrayPart* part);

  [[nodiscard]] Result<const StoredArray*> find(std::string_view name) const;
  /// Of an array or a group; "/" is the file itself.
  [[nodiscard]] Result<const StoredAttributes*> attributes_of(std::string_view object) const;
  [[nodiscard]] Status check_readable(const StoredArray& stored) const;
  [[nodiscard]] Result<const StoredArray*> find(const std::string& name,
                                                const ElementKind& element) const;
  [[nodiscard]] std::optional<Distribution> distribution_of(const StoredArray& stored) const;

  [[nodiscard]] const rma::Job& job() const noexcept { return job_; }
  [[nodiscard]] rma::Team& team() noexcept { return team_; }
  [[nodiscard]] const Catalog& catalog() const noexcept { return catalog_; }
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] std::string describe_file() const { return fmt::format("checkpoint '{}'", path_); }
  [[nodiscard]] std::string describe(std::string_view verb, std::string_view name) const {
    return fmt::format("{} array '{}' of {}", verb, name, describe_file());
  }

 private:
  [[nodiscard]] rma::Label call(std::string_view verb) const noexcept {
    return {.verb = verb, .kind = "checkpoint", .name = path_};
  }
  Status load_catalog();
  Status open_file();
  Status read_all_chunks(const StoredArray& stored, const ArrayPart* part,
                         const ElementConverter& converter);
  Result<std::vector<ChunkPlace>> places_of(const StoredArray& stored, const ChunkRange& range,
                                            std::int64_t first);

  rma::Job job_;
  rma::Team team_;
  std::string path_;
  File file_;
  std::optional<FileImage> image_;  // on the leader only
  Catalog catalog_;
};

Status CheckpointState::begin() {
  const rma::LabelScope scope(team_, call("open"));
  TESSERA_RETURN_IF_ERROR(check_same_call(team_, "path", path_));
  TESSERA_RETURN_IF_ERROR(
      team_.agree([&] { return is_leader(team_) ? load_catalog() : check_hdf5(); }));
  std::vector<std::byte> bytes;
  if (is_leader(team_)) {
    bytes = pack(catalog_);
  }
  TESSERA_RETURN_IF_ERROR(share(team_, bytes));
  if (!is_leader(team_)) {
    catalog_ = unpack(bytes);
  }
  TESSERA_RETURN_IF_ERROR(team_.agree(is_leader(team_) ? Status() : open_file()));
  const auto identity = identity_of(file_);
  TESSERA_RETURN_IF_ERROR(team_.agree(identity.status()));
  return check_same_on_all(
      team_, *identity, "file",
      "the path must mean the same file on all nodes; if it was just replaced, "
      "open it again");
}

Status CheckpointState::open_file() {
  TESSERA_ASSIGN_OR_RETURN(file_, File::open_to_read(path_));
  return {};
}

Status CheckpointState::load_catalog() {
  TESSERA_RETURN_IF_ERROR(check_hdf5());
  TESSERA_RETURN_IF_ERROR(open_file());
  TESSERA_ASSIGN_OR_RETURN(image_, read_image(file_));
  TESSERA_ASSIGN_OR_RETURN(catalog_, read_catalog(*image_, path_));
  for (StoredArray& stored : catalog_.arrays) {
    if (stored.piece_elements == 0) {
      stored.piece_elements =
          std::max<std::int64_t>(CheckpointOptions().piece_bytes / stored.element_bytes, 1);
    }
  }
  return {};
}

std::vector<std::string> CheckpointState::names() const {
  std::vector<std::string> names;
  for (const StoredArray& stored : catalog_.arrays) {
    names.push_back(stored.name);
  }
  return names;
}

Result<const StoredArray*> CheckpointState::find(std::string_view name) const {
  const StoredArray* const stored = catalog_.find(name);
  if (stored == nullptr) {
    return team_.name_rank(
        invalid(fmt::format("there is no array '{}' in {}", name, describe_file()))
            .hint(fmt::format("it has {}", list_names(names()))));
  }
  return stored;
}

Result<const StoredAttributes*> CheckpointState::attributes_of(std::string_view object) const {
  const StoredAttributes* const attributes = catalog_.attributes_of(object);
  if (attributes == nullptr) {
    return team_.name_rank(
        invalid(fmt::format("there is no array or group '{}' in {}", object, describe_file())));
  }
  return attributes;
}

Result<const StoredArray*> CheckpointState::find(const std::string& name,
                                                 const ElementKind& element) const {
  TESSERA_ASSIGN_OR_RETURN(const StoredArray* const stored, find(name));
  TESSERA_RETURN_IF_ERROR(check_readable(*stored));
  TESSERA_RETURN_IF_ERROR(check_type(*stored, element));
  return stored;
}

Status CheckpointState::check_readable(const StoredArray& stored) const {
  return stored.unreadable_reason.empty()
             ? Status()
             : Status::error(
                   catalog_.is_ours && !stored.is_foreign ? Code::protocol : Code::unsupported,
                   "it can't be read: " + stored.unreadable_reason);
}

std::optional<Distribution> CheckpointState::distribution_of(const StoredArray& stored) const {
  if (stored.distribution_numbers.empty()) {
    return std::nullopt;
  }
  auto distribution = distribution_from(stored.distribution_numbers);
  const bool fits = distribution.ok() && distribution->extents() == stored.extents;
  return fits ? std::optional<Distribution>(std::move(distribution).take()) : std::nullopt;
}

Status CheckpointState::check_call(const std::string& name, const Status& own_status) {
  const rma::LabelScope scope(team_, call("read"));
  TESSERA_RETURN_IF_ERROR(team_.agree(own_status));
  return check_same_call(team_, "array", name);
}

Status CheckpointState::read(const StoredArray& stored, const ArrayPart* part) {
  const rma::LabelScope scope(team_, call("read"));
  const Box box = part == nullptr ? Box::whole(stored.extents) : part->stored();
  auto converter =
      part == nullptr ? Result<ElementConverter>(ElementConverter()) : team_.agree([&] {
        return ElementConverter::create(stored, part->array().element().type);
      });
  TESSERA_RETURN_IF_ERROR(converter.status());
  Status own_status;
  if (box.is_empty()) {
    // Nothing to read; the members still synchronise.
  } else if (stored.is_chunked()) {
    own_status = read_all_chunks(stored, part, *converter);
  } else {
    const Slab slab = slab_of(stored, box, team_.rank(), team_.size());
    own_status = rma::detail::catch_bad_alloc(
        [&] { return read_slab(file_, stored, slab, part, *converter); });
  }
  return part == nullptr ? team_.agree(own_status) : part->array().sync(std::move(own_status));
}

// Members agree after each batch, so that all stop after the same one.
Status CheckpointState::read_all_chunks(const StoredArray& stored, const ArrayPart* part,
                                        const ElementConverter& converter) {
  const Box box = part == nullptr ? Box::whole(stored.extents) : part->stored();
  const ChunkRange range(ChunkGrid(stored.extents, stored.chunk), box);
  for (std::int64_t first = 0; first < range.count(); first += chunks_at_a_time) {
    TESSERA_ASSIGN_OR_RETURN(const std::vector<ChunkPlace> all, places_of(stored, range, first));
    TESSERA_RETURN_IF_ERROR(team_.agree([&] {
      std::vector<ChunkPlace> own;
      const auto members = static_cast<std::size_t>(team_.size());
      for (auto i = static_cast<std::size_t>(team_.rank().value); i < all.size(); i += members) {
        own.push_back(all[i]);
      }
      return read_chunks(file_, stored, own, part, converter);
    }));
  }
  return {};
}

Result<std::vector<ChunkPlace>> CheckpointState::places_of(const StoredArray& stored,
                                                           const ChunkRange& range,
                                                           std::int64_t first) {
  return team_.do_together([&]() -> Result<std::vector<ChunkPlace>> {
    const std::int64_t last = std::min(range.count(), first + chunks_at_a_time);
    std::vector<ChunkPlace> places(static_cast<std::size_t>(last - first));
    const auto found = team_.agree([&] {
      return is_leader(team_) ? find_chunks(*image_, stored, range, first, last)
                              : Result<std::vector<ChunkPlace>>(std::vector<ChunkPlace>());
    });
    TESSERA_RETURN_IF_ERROR(found.status());
    if (is_leader(team_)) {
      places = *found;
    }
    TESSERA_RETURN_IF_ERROR(team_.broadcast(std::as_writable_bytes(std::span(places)), leader));
    return places;
  });
}

}  // namespace detail

using detail::StoredArray;
using rma::Code;
using rma::Result;
using rma::Status;

namespace {

// Local: a checkpoint that was moved from has no team to synchronise with.
Status moved_from() {
  return Status::error(Code::closed, "the checkpoint was moved from");
}

}  // namespace

Checkpoint::Checkpoint(std::unique_ptr<detail::CheckpointState> state) noexcept
    : state_(std::move(state)) {}
Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;
Checkpoint& Checkpoint::operator=(Checkpoint&&) noexcept = default;
Checkpoint::~Checkpoint() = default;

Result<Checkpoint> Checkpoint::open(const rma::Job& job, const std::string& path) {
  return open(job, job.world(), path);
}

Result<Checkpoint> Checkpoint::open(const rma::Job& job, const rma::Team& team,
                                    const std::string& path) {
  auto state = std::make_unique<detail::CheckpointState>(job, team, path);
  TESSERA_RETURN_IF_ERROR(state->begin().context("opening " + state->describe_file()));
  return Checkpoint(std::move(state));
}

std::vector<std::string> Checkpoint::names() const {
  return state_ ? state_->names() : std::vector<std::string>();
}

Result<StoredArrayInfo> Checkpoint::info(std::string_view name) const {
  if (!state_) {
    return moved_from();
  }
  TESSERA_ASSIGN_OR_RETURN(const StoredArray* const stored, state_->find(name));
  return StoredArrayInfo{stored->name,
                         stored->extents,
                         stored->type,
                         stored->element_bytes,
                         stored->type_text,
                         state_->distribution_of(*stored),
                         !stored->checksums.empty(),
                         stored->chunk,
                         stored->is_extendible,
                         stored->unreadable_reason};
}

namespace {

std::vector<std::string> names_of(const detail::StoredAttributes& attributes) {
  std::vector<std::string> names;
  for (const auto& [name, value] : attributes) {
    names.push_back(name);
  }
  return names;
}

// "attribute 'step' of checkpoint 'run.h5'", or of one of its objects.
std::string describe_attribute(std::string_view name, std::string_view object,
                               const std::string& file) {
  return object == "/" ? fmt::format("attribute '{}' of {}", name, file)
                       : fmt::format("attribute '{}' of '{}' of {}", name, object, file);
}

}  // namespace

Result<std::vector<std::string>> Checkpoint::attribute_names(std::string_view object) const {
  if (!state_) {
    return moved_from();
  }
  TESSERA_ASSIGN_OR_RETURN(const detail::StoredAttributes* const attributes,
                           state_->attributes_of(object));
  return names_of(*attributes);
}

Result<AttributeValue> Checkpoint::find_attribute(std::string_view object,
                                                  std::string_view name) const {
  if (!state_) {
    return moved_from();
  }
  TESSERA_ASSIGN_OR_RETURN(const detail::StoredAttributes* const attributes,
                           state_->attributes_of(object));
  for (const auto& [each, value] : *attributes) {
    if (each == name) {
      return value;
    }
  }
  const std::string where = object == "/"
                                ? state_->describe_file()
                                : fmt::format("'{}' of {}", object, state_->describe_file());
  return state_->team().name_rank(
      detail::invalid(fmt::format("there is no attribute '{}' in {}", name, where))
          .hint(fmt::format("it has {}", detail::list_names(names_of(*attributes)))));
}

Status Checkpoint::explain_kind(std::string_view object, std::string_view name,
                                const AttributeValue& value, const AttributeValue& wanted) const {
  const std::string what = describe_attribute(name, object, state_->describe_file());
  return state_->team().name_rank(detail::invalid(
      kind_of(value) == kind_of(wanted)
          ? fmt::format("{} is {} that the requested type can't hold", what, kind_of(value))
          : fmt::format("{} is {}, not {}", what, kind_of(value), kind_of(wanted))));
}

Result<Checkpoint::Plan> Checkpoint::plan_for(const std::string& name, const ElementKind& element) {
  if (!state_) {
    return moved_from();
  }
  const auto stored = state_->find(name, element);
  TESSERA_RETURN_IF_ERROR(
      state_->check_call(name, stored.status()).context(state_->describe("reading", name)));
  Plan plan{state_->job(), (*stored)->extents, state_->distribution_of(**stored), {}};
  plan.options.name = name;
  plan.options.team = state_->team();
  if (plan.distribution && plan.distribution->nranks() != state_->team().size()) {
    plan.options.ghosts = plan.distribution->ghosts();
    plan.options.order = plan.distribution->order();
    plan.distribution.reset();
  }
  return plan;
}

Result<ArrayBase> Checkpoint::filled(const std::string& name, Result<ArrayBase> array) {
  if (array.ok()) {
    TESSERA_RETURN_IF_ERROR(read_into(name, *array));
  }
  return array;
}

Result<ArrayBase> Checkpoint::read(const std::string& name, const ElementKind& element) {
  TESSERA_ASSIGN_OR_RETURN(const Plan plan, plan_for(name, element));
  return filled(name, plan.distribution
                          ? ArrayBase::create(plan.job, *plan.distribution, element, plan.options)
                          : ArrayBase::create(plan.job, plan.extents, element, plan.options));
}

Result<ArrayBase> Checkpoint::read(const std::string& name, const Distribution& distribution,
                                   const ElementKind& element) {
  TESSERA_ASSIGN_OR_RETURN(const Plan plan, plan_for(name, element));
  return filled(name, ArrayBase::create(plan.job, distribution, element, plan.options));
}

Status Checkpoint::read_into(const std::string& name, ArrayBase& array) {
  if (!state_) {
    return moved_from();
  }
  const auto stored = state_->find(name, array.element());
  Status own_status = stored.status();
  if (own_status.ok()) {
    own_status = detail::check_array(array, state_->team(), Transfer::put());
  }
  if (own_status.ok() && array.extents() != (*stored)->extents) {
    own_status = detail::invalid(fmt::format("extents differ: {} in the file, and {} in {}",
                                             to_string((*stored)->extents),
                                             to_string(array.extents()), array.describe()))
                     .hint("read into an array with the extents in the file, or read a part of it");
  }
  const std::string attempt = state_->describe("reading", name);
  TESSERA_RETURN_IF_ERROR(state_->check_call(name, own_status).context(attempt));
  const detail::ArrayPart whole(array);
  return state_->read(**stored, &whole).context(attempt);
}

Status Checkpoint::read_part(const std::string& name, const Box& from, ArrayBase& array,
                             const Box& to) {
  if (!state_) {
    return moved_from();
  }
  const auto stored = state_->find(name, array.element());
  const auto make_part = [&]() -> Result<detail::ArrayPart> {
    TESSERA_RETURN_IF_ERROR(stored.status());
    TESSERA_RETURN_IF_ERROR(detail::check_array(array, state_->team(), Transfer::put()));
    TESSERA_RETURN_IF_ERROR(check_inside(from, (*stored)->extents).context("the box in the file"));
    return detail::ArrayPart::create(array, Section(to, Extents::filled(to.ndims(), 1)), from);
  };
  const auto part = make_part();
  const std::string attempt = state_->describe("reading a part of", name);
  const std::string boxes = fmt::format("{} {} {}", name, to_string(from), to_string(to));
  TESSERA_RETURN_IF_ERROR(state_->check_call(boxes, part.status()).context(attempt));
  return state_->read(**stored, &*part).context(attempt);
}

Status Checkpoint::verify(const std::string& name) {
  if (!state_) {
    return moved_from();
  }
  const auto stored = state_->find(name);
  Status own_status = stored.ok() ? state_->check_readable(**stored) : stored.status();
  if (own_status.ok() && (*stored)->checksums.empty() && detail::piece_count(**stored) > 0) {
    own_status = Status::error(Code::unsupported, "it has no checksums")
                     .hint("only files that Tessera wrote have checksums");
  }
  const std::string attempt = state_->describe("verifying", name);
  TESSERA_RETURN_IF_ERROR(state_->check_call(name, own_status).context(attempt));
  return state_->read(**stored, nullptr).context(attempt);
}

}  // namespace tessera::arrays
