// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>
#include <limits>
#include <utility>

#include "arrays/checkpoint/hdf5.hpp"
#include "arrays/checkpoint/hdf5_types.hpp"

namespace tessera::arrays::detail {
namespace {

using rma::Code;
using rma::Result;
using rma::Status;

// The same as H5T_VARIABLE, which is written with a C cast.
constexpr std::size_t any_length = std::numeric_limits<std::size_t>::max();

Status failed(const std::string& action) {
  return Status::error(Code::internal,
                       fmt::format("libhdf5 can't {}: {}", action, hdf5_error_message()));
}

Hdf5Id space_of(const Extents& extents) {
  std::array<hsize_t, max_dims> dims = {};
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    dims[static_cast<std::size_t>(dim)] = static_cast<hsize_t>(extents[dim]);
  }
  return Hdf5Id(H5Screate_simple(extents.ndims(), dims.data(), nullptr));
}

// Contiguous and allocated at once; all ranks write the elements, without libhdf5.
Hdf5Id contiguous_layout() {
  Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE));
  const bool is_made = list.is_valid() && H5Pset_layout(list.get(), H5D_CONTIGUOUS) >= 0 &&
                       H5Pset_alloc_time(list.get(), H5D_ALLOC_TIME_EARLY) >= 0 &&
                       H5Pset_fill_time(list.get(), H5D_FILL_TIME_NEVER) >= 0;
  return is_made ? std::move(list) : Hdf5Id();
}

Status write_attribute(hid_t object, const char* name, hid_t type, const Hdf5Id& space,
                       const void* value) {
  const Hdf5Id attribute(H5Acreate2(object, name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT));
  if (!attribute.is_valid() || H5Awrite(attribute.get(), type, value) < 0) {
    return failed(fmt::format("write attribute '{}'", name));
  }
  return {};
}

Status write_scalar(hid_t object, const char* name, const std::int64_t& value) {
  return write_attribute(object, name, H5T_NATIVE_INT64, Hdf5Id(H5Screate(H5S_SCALAR)), &value);
}

Status write_scalar(hid_t object, const char* name, const double& value) {
  return write_attribute(object, name, H5T_NATIVE_DOUBLE, Hdf5Id(H5Screate(H5S_SCALAR)), &value);
}

Status write_scalar(hid_t object, const char* name, const std::string& value) {
  const Hdf5Id type(H5Tcopy(H5T_C_S1));
  if (H5Tset_size(type.get(), any_length) < 0 || H5Tset_cset(type.get(), H5T_CSET_UTF8) < 0) {
    return failed("make a text type");
  }
  const char* const text = value.c_str();
  return write_attribute(object, name, type.get(), Hdf5Id(H5Screate(H5S_SCALAR)), &text);
}

template <class T>
Status write_list(hid_t object, const char* name, hid_t type, const std::vector<T>& list) {
  const Hdf5Id space = space_of({static_cast<std::int64_t>(list.size())});
  return write_attribute(object, name, type, space, list.data());
}

}  // namespace

struct Hdf5Writer::State {
  FileImage image;
  Hdf5Id file;  // declared so that it ends before the image that it writes to
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
    return failed("begin a file");
  }
  TESSERA_RETURN_IF_ERROR(write_scalar(state->file.get(), "tessera_checkpoint", checkpoint_format));
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
    return failed(fmt::format("make a data set '{}'", array.name));
  }
  TESSERA_RETURN_IF_ERROR(write_scalar(set.get(), "tessera_distribution", array.distribution));
  TESSERA_RETURN_IF_ERROR(write_list(set.get(), "tessera_distribution_numbers", H5T_NATIVE_INT64,
                                     array.distribution_numbers));
  TESSERA_RETURN_IF_ERROR(write_scalar(set.get(), "tessera_piece_elements", array.piece_elements));
  if (volume(array.extents) == 0) {
    return std::int64_t{-1};
  }
  const haddr_t offset = H5Dget_offset(set.get());
  if (offset == HADDR_UNDEF) {
    return failed(fmt::format("find room for data set '{}'", array.name));
  }
  return static_cast<std::int64_t>(offset);
}

Status Hdf5Writer::set_checksums(const std::string& array,
                                 const std::vector<std::uint64_t>& checksums) {
  const Hdf5ErrorSilencer quiet;
  const Hdf5Id set(H5Dopen2(state_->file.get(), array.c_str(), H5P_DEFAULT));
  if (!set.is_valid()) {
    return failed(fmt::format("find data set '{}' again", array));
  }
  return write_list(set.get(), "tessera_checksums", H5T_NATIVE_UINT64, checksums);
}

Status Hdf5Writer::add_attribute(const std::string& name, const StoredValue& value) {
  const Hdf5ErrorSilencer quiet;
  return std::visit(
      [&](const auto& held) { return write_scalar(state_->file.get(), name.c_str(), held); },
      value);
}

Result<FileImage> Hdf5Writer::finish() {
  const Hdf5ErrorSilencer quiet;
  if (H5Fclose(state_->file.release()) < 0) {
    return failed("complete the file");
  }
  state_->image.set_end(state_->image.superblock_end());
  return std::exchange(state_->image, FileImage());
}

}  // namespace tessera::arrays::detail
