// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays/checkpoint.hpp"
#include "arrays/checkpoint/attributes.hpp"
#include "arrays/checkpoint/checksum.hpp"
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

constexpr std::int64_t max_piece_bytes = std::int64_t{1} << 30U;

Status check_name(const std::string& name, const std::vector<std::string>& taken) {
  if (name.empty() || name == "." ||
      name.find_first_of(std::string("/\0", 2)) != std::string::npos) {
    return invalid(fmt::format("'{}' is not a valid name for a data set", name))
        .hint("a name has at least one character, no '/' and no zero byte");
  }
  if (std::find(taken.begin(), taken.end(), name) != taken.end()) {
    return invalid(fmt::format("the name '{}' is already in use", name))
        .hint("give each array of a checkpoint a different name");
  }
  return {};
}

Status check_new_attribute(const std::string& name, const AttributeValue& value,
                           const std::vector<std::string>& taken) {
  TESSERA_RETURN_IF_ERROR(check_name(name, taken));
  return check_attribute(name, value);
}

// A hash of all properties of an array that its file stores.
std::uint64_t array_hash(const ArrayBase& array) {
  const std::uint64_t words[] = {
      fingerprint(array.distribution()), array.element_bytes(),
      array.element().type ? static_cast<std::uint64_t>(*array.element().type) + 1 : 0};
  return checksum(std::as_bytes(std::span(words)));
}

StoredArray describe(const ArrayBase& array, const std::string& name, std::int64_t piece_bytes) {
  StoredArray stored;
  stored.name = name;
  stored.extents = array.extents();
  stored.type = array.element().type;
  stored.is_opaque = !array.element().type;
  stored.element_bytes = static_cast<std::int64_t>(array.element_bytes());
  stored.distribution = to_string(array.distribution());
  stored.distribution_numbers = to_numbers(array.distribution());
  stored.piece_elements = std::max<std::int64_t>(piece_bytes / stored.element_bytes, 1);
  return stored;
}

}  // namespace

class CheckpointWriterState {
 public:
  CheckpointWriterState(rma::Job job, const rma::Team& team, std::string path,
                        const CheckpointOptions& options)
      : job_(std::move(job)), team_(team), path_(std::move(path)), options_(options) {}
  CheckpointWriterState(const CheckpointWriterState&) = delete;
  CheckpointWriterState& operator=(const CheckpointWriterState&) = delete;
  ~CheckpointWriterState() { give_up(); }

  /// Collective, like all functions here.
  Status begin();
  Status add(ArrayBase& array, const std::string& name);
  Status add_attribute(const std::string& name, const AttributeValue& value);
  Status commit();

  [[nodiscard]] std::string describe_file() const { return fmt::format("checkpoint '{}'", path_); }

 private:
  [[nodiscard]] rma::Label call(std::string_view verb) const noexcept {
    return {.verb = verb, .kind = "checkpoint writer", .name = path_};
  }
  Status begin_as_leader();
  Status open_as_member();
  /// The same on all members, since they agree on every error that ends a writer.
  [[nodiscard]] Status check_usable() const;
  Status make_room(StoredArray& stored);
  Status write_elements(StoredArray& stored, ArrayBase& array);
  Status share_checksums(StoredArray& stored, std::vector<std::uint64_t> mine);
  [[nodiscard]] bool is_to_sync() const;
  Status complete_as_leader();
  /// Stores an error, so that the file is never committed.
  Status record_failure(Status status);
  void give_up() noexcept;

  rma::Job job_;
  rma::Team team_;
  std::string path_;
  CheckpointOptions options_;
  std::string target_;  // on the leader only, like hdf5_
  std::string temporary_;
  File file_;
  std::optional<Hdf5Writer> hdf5_;
  std::vector<std::string> names_;
  std::vector<std::string> attribute_names_;
  Status failure_;
  bool is_over_ = false;
  pid_t maker_ = getpid();
};

Status CheckpointWriterState::begin() {
  const rma::LabelScope scope(team_, call("create"));
  TESSERA_RETURN_IF_ERROR(check_same_call(team_, "path or piece_bytes", path_,
                                          static_cast<std::uint64_t>(options_.piece_bytes)));
  TESSERA_RETURN_IF_ERROR(team_.agree(is_leader(team_) ? begin_as_leader() : check_hdf5()));
  TESSERA_RETURN_IF_ERROR(share(team_, temporary_));
  return team_.agree(is_leader(team_) ? Status() : open_as_member());
}

Status CheckpointWriterState::begin_as_leader() {
  if (options_.piece_bytes < 1 || options_.piece_bytes > max_piece_bytes) {
    return invalid(fmt::format("piece_bytes is {}; 1 to {} are possible", options_.piece_bytes,
                               max_piece_bytes));
  }
  TESSERA_RETURN_IF_ERROR(check_hdf5());
  TESSERA_ASSIGN_OR_RETURN(target_, checkpoint_target(path_));
  remove_stale_temporaries(target_);
  TESSERA_ASSIGN_OR_RETURN(file_, File::create_temporary(target_));
  temporary_ = file_.path();
  TESSERA_ASSIGN_OR_RETURN(hdf5_, Hdf5Writer::create());
  return {};
}

Status CheckpointWriterState::open_as_member() {
  TESSERA_ASSIGN_OR_RETURN(file_, File::open_to_write(temporary_));
  return {};
}

Status CheckpointWriterState::check_usable() const {
  if (is_over_) {
    return team_.name_rank(Status::error(Code::closed, "it was already committed"));
  }
  return Status(failure_).context("an earlier step failed");
}

Status CheckpointWriterState::record_failure(Status status) {
  if (!status.ok() && failure_.ok()) {
    failure_ = status;
  }
  return status;
}

void CheckpointWriterState::give_up() noexcept {
  hdf5_.reset();
  // A child process made by fork() leaves its parent's file in place.
  if (is_leader(team_) && !is_over_ && file_.is_open() && getpid() == maker_) {
    remove_file(temporary_);
  }
  file_.close();
}

Status CheckpointWriterState::add(ArrayBase& array, const std::string& name) {
  TESSERA_RETURN_IF_ERROR(check_usable());
  const rma::LabelScope scope(team_, call("add"));
  Status mine = check_name(name, names_);
  if (mine.ok()) {
    mine = check_array(array, team_, Transfer::get());
  }
  TESSERA_RETURN_IF_ERROR(team_.agree(mine));
  TESSERA_RETURN_IF_ERROR(check_same_call(team_, "array", name, array_hash(array)));
  TESSERA_RETURN_IF_ERROR(array.sync());

  StoredArray stored = describe(array, name, options_.piece_bytes);
  names_.push_back(name);
  TESSERA_RETURN_IF_ERROR(record_failure(make_room(stored)));
  return record_failure(write_elements(stored, array));
}

Status CheckpointWriterState::make_room(StoredArray& stored) {
  Status mine;
  if (is_leader(team_)) {
    auto offset = hdf5_->add_array(stored);
    mine = offset.status();
    stored.offset = offset.ok() ? *offset : -1;
  }
  TESSERA_RETURN_IF_ERROR(team_.agree(mine));
  return team_.broadcast_value(stored.offset, leader);
}

Status CheckpointWriterState::write_elements(StoredArray& stored, ArrayBase& array) {
  const Slab slab = slab_of(stored, team_.rank(), team_.size());
  auto checksums = write_slab(file_, stored, slab, ArrayPart(array));
  // This also means that no member reads the array any more.
  TESSERA_RETURN_IF_ERROR(team_.agree(checksums.status()));
  TESSERA_RETURN_IF_ERROR(share_checksums(stored, std::move(checksums).take()));
  const bool has_any = is_leader(team_) && !stored.checksums.empty();
  return team_.agree(has_any ? hdf5_->set_checksums(stored.name, stored.checksums) : Status());
}

// Slabs follow each other in the order of the members, so their checksums need no sorting.
Status CheckpointWriterState::share_checksums(StoredArray& stored,
                                              std::vector<std::uint64_t> mine) {
  const auto each = static_cast<std::size_t>(pieces_per_member(stored, team_.size()));
  if (each == 0) {
    return {};
  }
  mine.resize(each);
  std::vector<std::uint64_t> all(each * static_cast<std::size_t>(team_.size()));
  TESSERA_RETURN_IF_ERROR(
      team_.allgather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all))));
  all.resize(static_cast<std::size_t>(piece_count(stored)));
  stored.checksums = std::move(all);
  return {};
}

Status CheckpointWriterState::add_attribute(const std::string& name, const AttributeValue& value) {
  TESSERA_RETURN_IF_ERROR(check_usable());
  const rma::LabelScope scope(team_, call("add_attribute"));
  TESSERA_RETURN_IF_ERROR(team_.agree(check_new_attribute(name, value, attribute_names_)));
  TESSERA_RETURN_IF_ERROR(check_same_call(team_, "attribute", name, hash_of(value)));
  attribute_names_.push_back(name);
  return record_failure(
      team_.agree(is_leader(team_) ? hdf5_->add_attribute(name, value) : Status()));
}

Status CheckpointWriterState::commit() {
  TESSERA_RETURN_IF_ERROR(check_usable());
  const rma::LabelScope scope(team_, call("commit"));
  TESSERA_RETURN_IF_ERROR(record_failure(team_.agree(is_to_sync() ? file_.sync() : Status())));
  TESSERA_RETURN_IF_ERROR(
      record_failure(team_.agree(is_leader(team_) ? complete_as_leader() : Status())));
  is_over_ = true;
  file_.close();
  return {};
}

// A machine has one cache for a file, whichever process wrote it. So one member of each node writes
// it to the device; on the leader's node that is the leader, after all writes.
bool CheckpointWriterState::is_to_sync() const {
  const auto members = team_.members();
  const rma::WorldRank own = job_.rank();
  const auto is_first_on_node = std::find_if(
      members.begin(), members.end(),
      [&](rma::WorldRank member) { return job_.node_of(member) == job_.node_of(own); });
  return *is_first_on_node == own && !is_leader(team_);
}

Status CheckpointWriterState::complete_as_leader() {
  TESSERA_ASSIGN_OR_RETURN(const FileImage image, hdf5_->finish());
  hdf5_.reset();
  TESSERA_RETURN_IF_ERROR(write_with_trailer(file_, image));
  TESSERA_RETURN_IF_ERROR(file_.sync());
  file_.copy_permissions_of(target_);
  return replace(temporary_, target_);
}

}  // namespace detail

using rma::Code;
using rma::Result;
using rma::Status;

namespace {

// Local: a writer that was moved from has no team to synchronise with.
Status writer_moved_from() {
  return Status::error(Code::closed, "the checkpoint writer was moved from");
}

}  // namespace

CheckpointWriter::CheckpointWriter(std::unique_ptr<detail::CheckpointWriterState> state) noexcept
    : state_(std::move(state)) {}
CheckpointWriter::CheckpointWriter(CheckpointWriter&&) noexcept = default;
CheckpointWriter& CheckpointWriter::operator=(CheckpointWriter&&) noexcept = default;
CheckpointWriter::~CheckpointWriter() = default;

Result<CheckpointWriter> CheckpointWriter::create(const rma::Job& job, const std::string& path,
                                                  const CheckpointOptions& options) {
  return create(job, job.world(), path, options);
}

Result<CheckpointWriter> CheckpointWriter::create(const rma::Job& job, const rma::Team& team,
                                                  const std::string& path,
                                                  const CheckpointOptions& options) {
  auto state = std::make_unique<detail::CheckpointWriterState>(job, team, path, options);
  TESSERA_RETURN_IF_ERROR(state->begin().context("creating " + state->describe_file()));
  return CheckpointWriter(std::move(state));
}

Status CheckpointWriter::add(ArrayBase& array, const std::string& name) {
  if (!state_) {
    return writer_moved_from();
  }
  return state_->add(array, name)
      .context(fmt::format("adding array '{}' to {}", name, state_->describe_file()));
}

Status CheckpointWriter::add_attribute(const std::string& name, const AttributeValue& value) {
  if (!state_) {
    return writer_moved_from();
  }
  return state_->add_attribute(name, value)
      .context(fmt::format("adding attribute '{}' to {}", name, state_->describe_file()));
}

Status CheckpointWriter::commit() {
  if (!state_) {
    return writer_moved_from();
  }
  return state_->commit().context("committing " + state_->describe_file());
}

}  // namespace tessera::arrays
