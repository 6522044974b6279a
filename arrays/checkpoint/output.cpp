// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/output.hpp"

#include <fmt/format.h>

#include <utility>

#include "arrays/checkpoint/output_state.hpp"

namespace tessera::arrays {

using rma::Code;
using rma::Result;
using rma::Status;

namespace {

// Local: an output that was moved from has no team to synchronise with.
Status output_moved_from() {
  return Status::error(Code::closed, "the output was moved from");
}

Section whole_section(const Box& box) {
  return {box, Extents::filled(box.ndims(), 1)};
}

}  // namespace

Output::Output(std::unique_ptr<detail::OutputState> state) noexcept : state_(std::move(state)) {}
Output::Output(Output&&) noexcept = default;
Output& Output::operator=(Output&&) noexcept = default;
Output::~Output() = default;

Result<Output> Output::open(const rma::Job& job, const std::string& path, OutputMode mode) {
  return open(job, job.world(), path, mode);
}

Result<Output> Output::open(const rma::Job& job, const rma::Team& team, const std::string& path,
                            OutputMode mode) {
  auto state = std::make_unique<detail::OutputState>(job, team, path, mode);
  TESSERA_RETURN_IF_ERROR(state->begin().context("opening " + state->describe_file()));
  return Output(std::move(state));
}

Status Output::write(ArrayBase& array, const std::string& name, const DatasetOptions& options) {
  return write(array, array.box(), name, options);
}
Status Output::write(ArrayBase& array, const Box& part, const std::string& name,
                     const DatasetOptions& options) {
  return write(array, whole_section(part), name, options);
}
Status Output::write(ArrayBase& array, const Section& part, const std::string& name,
                     const DatasetOptions& options) {
  return state_ ? state_->write(array, part, name, options, false)
                      .context(fmt::format("writing '{}' to {}", name, state_->describe_file()))
                : output_moved_from();
}

Status Output::append(ArrayBase& array, const std::string& name, const DatasetOptions& options) {
  return append(array, array.box(), name, options);
}
Status Output::append(ArrayBase& array, const Box& part, const std::string& name,
                      const DatasetOptions& options) {
  return append(array, whole_section(part), name, options);
}
Status Output::append(ArrayBase& array, const Section& part, const std::string& name,
                      const DatasetOptions& options) {
  return state_ ? state_->write(array, part, name, options, true)
                      .context(fmt::format("appending a step to '{}' of {}", name,
                                           state_->describe_file()))
                : output_moved_from();
}

Status Output::create_group(const std::string& name) {
  return state_ ? state_->create_group(name).context(
                      fmt::format("creating group '{}' of {}", name, state_->describe_file()))
                : output_moved_from();
}

Status Output::set_attribute(const std::string& object, const std::string& name,
                             const AttributeValue& value) {
  return state_ ? state_->set_attribute(object, name, value)
                      .context(fmt::format("setting attribute '{}' of '{}' of {}", name, object,
                                           state_->describe_file()))
                : output_moved_from();
}

Status Output::set_grid(const UniformGrid& grid) {
  return state_ ? state_->set_grid(grid).context("setting the grid of " + state_->describe_file())
                : output_moved_from();
}

Status Output::flush() {
  return state_ ? state_->flush().context("flushing " + state_->describe_file())
                : output_moved_from();
}

Status Output::close() {
  return state_ ? state_->close().context("closing " + state_->describe_file())
                : output_moved_from();
}

std::int64_t Output::steps(const std::string& name) const {
  return state_ ? state_->steps(name) : 0;
}

}  // namespace tessera::arrays
