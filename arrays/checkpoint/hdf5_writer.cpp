// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <utility>

#include "arrays/checkpoint/hdf5.hpp"
#include "arrays/checkpoint/hdf5_attributes.hpp"
#include "arrays/checkpoint/hdf5_types.hpp"

namespace tessera::arrays::detail {
namespace {

using rma::Result;
using rma::Status;

// Contiguous and allocated at once; all ranks write the elements, without libhdf5.
Hdf5Id contiguous_layout() {
  Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE));
  const bool is_made = list.is_valid() && H5Pset_layout(list.get(), H5D_CONTIGUOUS) >= 0 &&
                       H5Pset_alloc_time(list.get(), H5D_ALLOC_TIME_EARLY) >= 0 &&
                       H5Pset_fill_time(list.get(), H5D_FILL_TIME_NEVER) >= 0;
  return is_made ? std::move(list) : Hdf5Id();
}

}  // namespace

struct Hdf5Writer::State {
  FileImage image;
  Hdf5Id file;  // after the image, so that it is closed before the image is destroyed
};

Status check_hdf5() {
  return {};
}

Hdf5Writer::Hdf5Writer(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Hdf5Writer::Hdf5Writer(Hdf5Writer&&) noexcept = default;
Hdf5Writer& Hdf5Writer::operator=(Hdf5Writer&&) noexcept = default;

Hdf5Writer::~Hdf5Writer() {
  const Hdf5ErrorSilencer quiet;
  state_.reset();
}

Result<Hdf5Writer> Hdf5Writer::create() {
  const Hdf5ErrorSilencer quiet;
  auto state = std::make_unique<State>();
  const Hdf5Id access = file_access_list(state->image);
  state->file = Hdf5Id(H5Fcreate("checkpoint", H5F_ACC_TRUNC, H5P_DEFAULT, access.get()));
  if (!state->file.is_valid()) {
    return hdf5_failure("begin a file");
  }
  TESSERA_RETURN_IF_ERROR(
      write_attribute(state->file.get(), "tessera_checkpoint", checkpoint_format));
  return Hdf5Writer(std::move(state));
}

Result<std::int64_t> Hdf5Writer::add_array(const StoredArray& array) {
  const Hdf5ErrorSilencer quiet;
  const Hdf5Id type = type_of(array);
  const Hdf5Id space = space_of(array.extents);
  const Hdf5Id layout = contiguous_layout();
  const Hdf5Id set(H5Dcreate2(state_->file.get(), array.name.c_str(), type.get(), space.get(),
                              H5P_DEFAULT, layout.get(), H5P_DEFAULT));
  if (!set.is_valid()) {
    return hdf5_failure(fmt::format("make a data set '{}'", array.name));
  }
  TESSERA_RETURN_IF_ERROR(write_attribute(set.get(), "tessera_distribution", array.distribution));
  TESSERA_RETURN_IF_ERROR(
      write_attribute(set.get(), "tessera_distribution_numbers", array.distribution_numbers));
  TESSERA_RETURN_IF_ERROR(
      write_attribute(set.get(), "tessera_piece_elements", array.piece_elements));
  if (volume(array.extents) == 0) {
    return std::int64_t{-1};
  }
  const haddr_t offset = H5Dget_offset(set.get());
  if (offset == HADDR_UNDEF) {
    return hdf5_failure(fmt::format("find room for data set '{}'", array.name));
  }
  return static_cast<std::int64_t>(offset);
}

Status Hdf5Writer::set_checksums(const std::string& array,
                                 const std::vector<std::uint64_t>& checksums) {
  const Hdf5ErrorSilencer quiet;
  const Hdf5Id set(H5Dopen2(state_->file.get(), array.c_str(), H5P_DEFAULT));
  if (!set.is_valid()) {
    return hdf5_failure(fmt::format("find data set '{}' again", array));
  }
  return write_attribute(set.get(), "tessera_checksums", checksums);
}

Status Hdf5Writer::add_attribute(const std::string& name, const AttributeValue& value) {
  const Hdf5ErrorSilencer quiet;
  return write_attribute(state_->file.get(), name, value);
}

Result<FileImage> Hdf5Writer::finish() {
  const Hdf5ErrorSilencer quiet;
  if (H5Fclose(state_->file.release()) < 0) {
    return hdf5_failure("complete the file");
  }
  if (state_->image.lacked_memory()) {
    return Status::no_memory("no memory for the description of the arrays");
  }
  state_->image.set_end(state_->image.superblock_end());
  return std::exchange(state_->image, FileImage());
}

}  // namespace tessera::arrays::detail
