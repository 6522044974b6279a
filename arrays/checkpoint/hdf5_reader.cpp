// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "arrays/checkpoint/hdf5.hpp"
#include "arrays/checkpoint/hdf5_types.hpp"

namespace tessera::arrays::detail {
namespace {

using rma::Code;
using rma::Result;
using rma::Status;

// No list or text that Tessera writes is longer; in other programs' files the size could be
// anything.
constexpr std::int64_t max_list_bytes = std::int64_t{1} << 30U;

// One attribute of an object.
class Attribute {
 public:
  Attribute(hid_t object, const char* name) {
    if (H5Aexists(object, name) > 0) {
      id_ = Hdf5Id(H5Aopen(object, name, H5P_DEFAULT));
      type_ = Hdf5Id(H5Aget_type(id_.get()));
      const Hdf5Id space(H5Aget_space(id_.get()));
      count_ = H5Sget_simple_extent_npoints(space.get());
    }
  }

  [[nodiscard]] std::optional<StoredValue> value() const {
    if (count_ != 1) {
      return std::nullopt;
    }
    switch (H5Tget_class(type_.get())) {
      case H5T_INTEGER:
        return as_value(list<std::int64_t>(H5T_NATIVE_INT64));
      case H5T_FLOAT:
        return as_value(list<double>(H5T_NATIVE_DOUBLE));
      case H5T_STRING:
        return text();
      default:
        return std::nullopt;
    }
  }

  /// All numbers; empty if the attribute is not a list of numbers.
  template <class T>
  [[nodiscard]] std::vector<T> list(hid_t memory_type) const {
    const bool is_list = count_ > 0 && count_ <= max_list_bytes / std::int64_t{sizeof(T)};
    std::vector<T> list(is_list ? static_cast<std::size_t>(count_) : 0);
    const bool is_read = is_list && H5Aread(id_.get(), memory_type, list.data()) >= 0;
    return is_read ? list : std::vector<T>();
  }

 private:
  template <class T>
  static std::optional<StoredValue> as_value(const std::vector<T>& list) {
    return list.empty() ? std::nullopt : std::optional<StoredValue>(list[0]);
  }
  [[nodiscard]] std::optional<StoredValue> text() const {
    if (H5Tis_variable_str(type_.get()) > 0) {
      char* text = nullptr;
      if (H5Aread(id_.get(), type_.get(), &text) < 0 || text == nullptr) {
        return std::nullopt;
      }
      std::string copy(text);
      H5free_memory(text);
      return copy;
    }
    const std::size_t bytes = H5Tget_size(type_.get());
    if (bytes > static_cast<std::size_t>(max_list_bytes)) {
      return std::nullopt;
    }
    std::string text(bytes, '\0');
    if (H5Aread(id_.get(), type_.get(), text.data()) < 0) {
      return std::nullopt;
    }
    text.resize(std::min(text.size(), text.find('\0')));
    return text;
  }

  Hdf5Id id_;
  Hdf5Id type_;
  hssize_t count_ = 0;
};

template <class T>
T value_or(const Attribute& attribute, T otherwise) {
  const std::optional<StoredValue> value = attribute.value();
  const T* const held = value ? std::get_if<T>(&*value) : nullptr;
  return held == nullptr ? otherwise : *held;
}

// Sets the extents; returns false if they can't be those of an array.
bool read_extents(hid_t set, StoredArray& array) {
  const Hdf5Id space(H5Dget_space(set));
  const int ndims = H5Sget_simple_extent_ndims(space.get());
  if (ndims < 1 || ndims > max_dims) {
    array.unreadable_reason =
        fmt::format("it has {} dimensions; 1 to {} are possible", ndims, max_dims);
    return false;
  }
  std::array<hsize_t, max_dims> dims = {};
  H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr);
  array.extents = Extents::zeros(ndims);
  for (int dim = 0; dim < ndims; ++dim) {
    array.extents[dim] = static_cast<std::int64_t>(dims[static_cast<std::size_t>(dim)]);
  }
  if (Status status = check_extents(array.extents); !status.ok()) {
    array.unreadable_reason = status.message();
    return false;
  }
  return true;
}

// Finds the offset of the elements; sets unreadable_reason if they are not contiguous within the
// file.
void read_offset(hid_t set, std::uint64_t file_end, StoredArray& array) {
  const Hdf5Id layout(H5Dget_create_plist(set));
  if (H5Pget_layout(layout.get()) != H5D_CONTIGUOUS || H5Pget_external_count(layout.get()) > 0) {
    array.unreadable_reason =
        "its elements are not contiguous in the file; `h5repack -l CONTI` makes a copy in which "
        "they are";
    return;
  }
  const std::int64_t elements = volume(array.extents);
  if (elements == 0) {
    return;
  }
  const haddr_t offset = H5Dget_offset(set);
  std::int64_t bytes = 0;
  if (offset == HADDR_UNDEF) {
    array.unreadable_reason = "its elements were never written";
  } else if (__builtin_mul_overflow(elements, array.element_bytes, &bytes) || offset > file_end ||
             static_cast<std::uint64_t>(bytes) > file_end - offset) {
    array.unreadable_reason = "its elements lie beyond the end of the file";
  } else {
    array.offset = static_cast<std::int64_t>(offset);
  }
}

void read_own_attributes(hid_t set, StoredArray& array) {
  array.distribution = value_or(Attribute(set, "tessera_distribution"), std::string());
  array.distribution_numbers =
      Attribute(set, "tessera_distribution_numbers").list<std::int64_t>(H5T_NATIVE_INT64);
  array.piece_elements = value_or(Attribute(set, "tessera_piece_elements"), std::int64_t{0});
  array.checksums = Attribute(set, "tessera_checksums").list<std::uint64_t>(H5T_NATIVE_UINT64);
  const bool fits = array.piece_elements >= 0 && piece_count(array) == std::ssize(array.checksums);
  if (array.piece_elements < 0) {
    array.unreadable_reason = "its pieces have a negative number of elements";
  } else if (!array.checksums.empty() && !fits) {
    array.unreadable_reason = "its number of checksums differs from its number of pieces";
  }
  array.piece_elements =
      std::min(array.piece_elements, std::max<std::int64_t>(volume(array.extents), 1));
}

StoredArray read_array(hid_t set, std::string name, std::uint64_t file_end) {
  StoredArray array;
  array.name = std::move(name);
  recognise(Hdf5Id(H5Dget_type(set)).get(), array);
  if (read_extents(set, array)) {
    read_own_attributes(set, array);
    read_offset(set, file_end, array);
  }
  return array;
}

void read_arrays(hid_t file, std::uint64_t file_end, Catalog& catalog) {
  H5G_info_t group = {};
  H5Gget_info(file, &group);
  for (hsize_t i = 0; i < group.nlinks; ++i) {
    const ssize_t length =
        H5Lget_name_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_INC, i, nullptr, 0, H5P_DEFAULT);
    if (length < 0) {
      continue;
    }
    std::string name(static_cast<std::size_t>(length), '\0');
    H5Lget_name_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), name.size() + 1,
                       H5P_DEFAULT);
    H5L_info_t link = {};
    // Links to other objects are not followed: they may lead into another file.
    if (H5Lget_info(file, name.c_str(), &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD) {
      continue;
    }
    const Hdf5Id object(H5Oopen(file, name.c_str(), H5P_DEFAULT));
    if (object.is_valid() && H5Iget_type(object.get()) == H5I_DATASET) {
      catalog.arrays.push_back(read_array(object.get(), name, file_end));
    }
  }
}

void read_attributes(hid_t file, Catalog& catalog) {
  for (hsize_t i = 0;; ++i) {
    const ssize_t length =
        H5Aget_name_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_INC, i, nullptr, 0, H5P_DEFAULT);
    if (length < 0) {
      return;
    }
    std::string name(static_cast<std::size_t>(length), '\0');
    H5Aget_name_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), name.size() + 1,
                       H5P_DEFAULT);
    auto value = Attribute(file, name.c_str()).value();
    if (value && !name.starts_with(reserved_prefix)) {
      catalog.attributes.emplace_back(std::move(name), std::move(*value));
    }
  }
}

Status check_format(hid_t file, const FileImage& image, const std::string& path, Catalog& catalog) {
  const auto format = value_or(Attribute(file, "tessera_checkpoint"), std::int64_t{0});
  catalog.is_ours = format != 0;
  if (catalog.is_ours && format != checkpoint_format) {
    return Status::error(
               Code::unsupported,
               fmt::format(
                   "{} is a checkpoint of format {}, but this version of Tessera reads format {}",
                   path, format, checkpoint_format))
        .hint("read it with the version of Tessera that wrote it");
  }
  if (catalog.is_ours && image.superblock_end() != image.end()) {
    return Status::error(
               Code::protocol,
               fmt::format("{} is damaged: its HDF5 part ends at byte {}, but the file has "
                           "{} bytes",
                           path, image.superblock_end(), image.end()))
        .hint("use an older checkpoint; the file changed after it was written");
  }
  return {};
}

}  // namespace

Result<Catalog> read_catalog(FileImage& image, const std::string& path) {
  const Hdf5ErrorSilencer quiet;
  const Hdf5Id access = file_access_list(image);
  const Hdf5Id file(H5Fopen("checkpoint", H5F_ACC_RDONLY, access.get()));
  if (!file.is_valid()) {
    return Status::error(Code::protocol,
                         fmt::format("{} can't be read as HDF5: {}", path, hdf5_error_message()))
        .hint("it is damaged, truncated, or not an HDF5 file; use another file");
  }
  Catalog catalog;
  TESSERA_RETURN_IF_ERROR(check_format(file.get(), image, path, catalog));
  read_arrays(file.get(), image.end(), catalog);
  read_attributes(file.get(), catalog);
  return catalog;
}

}  // namespace tessera::arrays::detail
