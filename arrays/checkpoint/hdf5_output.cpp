// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "arrays/checkpoint/file_changes.hpp"
#include "arrays/checkpoint/hdf5.hpp"
#include "arrays/checkpoint/hdf5_attributes.hpp"
#include "arrays/checkpoint/hdf5_chunks.hpp"
#include "arrays/checkpoint/hdf5_types.hpp"

namespace tessera::arrays::detail {
namespace {

using rma::Result;
using rma::Status;

Hdf5Id link_list() {
  Hdf5Id list(H5Pcreate(H5P_LINK_CREATE));
  const bool is_made = H5Pset_create_intermediate_group(list.get(), 1) >= 0 &&
                       H5Pset_char_encoding(list.get(), H5T_CSET_UTF8) >= 0;
  return is_made ? std::move(list) : Hdf5Id();
}

bool set_filter(hid_t list, const StoredFilter& filter) {
  switch (filter.kind) {
    case FilterKind::shuffle:
      return H5Pset_shuffle(list) >= 0;
    case FilterKind::fletcher32:
      return H5Pset_fletcher32(list) >= 0;
    case FilterKind::deflate:
      break;
  }
  return H5Pset_deflate(list, filter.parameter) >= 0;
}

// The properties of a new data set.
Hdf5Id creation_list(const StoredArray& array) {
  Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE));
  bool is_made = list.is_valid() && H5Pset_fill_time(list.get(), H5D_FILL_TIME_NEVER) >= 0;
  if (array.is_chunked()) {
    std::array<hsize_t, max_dims> lengths = {};
    std::copy(array.chunk.begin(), array.chunk.end(), lengths.begin());
    is_made = is_made && H5Pset_chunk(list.get(), array.chunk.ndims(), lengths.data()) >= 0;
    for (const StoredFilter& filter : array.filters) {
      is_made = is_made && set_filter(list.get(), filter);
    }
  } else {
    is_made = is_made && H5Pset_alloc_time(list.get(), H5D_ALLOC_TIME_EARLY) >= 0;
  }
  return is_made ? std::move(list) : Hdf5Id();
}

class Describer {
 public:
  Describer(FileImage* old, const FileChanges& changes, std::uint64_t start)
      : old_(old), changes_(changes) {
    image_.begin_at(start);
  }

  Result<FileImage> run() {
    const Hdf5Id access = file_access_list(image_);
    file_ = Hdf5Id(H5Fcreate("output", H5F_ACC_TRUNC, H5P_DEFAULT, access.get()));
    if (!file_.is_valid()) {
      return hdf5_failure("begin a file");
    }
    TESSERA_RETURN_IF_ERROR(write_attribute(file_.get(), "tessera_checkpoint", checkpoint_format));
    TESSERA_RETURN_IF_ERROR(set_attributes("/", file_.get()));
    TESSERA_RETURN_IF_ERROR(copy_old());
    TESSERA_RETURN_IF_ERROR(add_new());
    if (H5Fclose(file_.release()) < 0) {
      return hdf5_failure("complete the file");
    }
    image_.set_end(image_.superblock_end());
    image_.begin_at(std::nullopt);
    return std::move(image_);
  }

  [[nodiscard]] bool lacked_memory() const noexcept { return image_.lacked_memory(); }

 private:
  Status copy_old() {
    if (old_ == nullptr) {
      return {};
    }
    const Hdf5Id access = file_access_list(*old_);
    const Hdf5Id file(H5Fopen("old", H5F_ACC_RDONLY, access.get()));
    return file.is_valid() ? copy_group(file.get(), file_.get(), "")
                           : hdf5_failure("open the file again");
  }

  Status copy_group(hid_t from, hid_t to, const std::string& path) {
    TESSERA_RETURN_IF_ERROR(copy_attributes(from, to));
    H5G_info_t info = {};
    H5Gget_info(from, &info);
    for (hsize_t i = 0; i < info.nlinks; ++i) {
      const ssize_t length =
          H5Lget_name_by_idx(from, ".", H5_INDEX_NAME, H5_ITER_INC, i, nullptr, 0, H5P_DEFAULT);
      std::string name(static_cast<std::size_t>(std::max<ssize_t>(length, 0)), '\0');
      H5Lget_name_by_idx(from, ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), name.size() + 1,
                         H5P_DEFAULT);
      const Hdf5Id object(H5Oopen(from, name.c_str(), H5P_DEFAULT));
      if (!object.is_valid()) {
        return hdf5_failure(fmt::format("copy '{}{}'", path, name));
      }
      TESSERA_RETURN_IF_ERROR(H5Iget_type(object.get()) == H5I_GROUP
                                  ? copy_subgroup(object.get(), path + name)
                                  : copy_set(object.get(), path + name));
    }
    return {};
  }

  Status copy_subgroup(hid_t from, const std::string& path) {
    TESSERA_ASSIGN_OR_RETURN(const Hdf5Id group, make_group(path));
    TESSERA_RETURN_IF_ERROR(set_attributes(path, group.get()));
    return copy_group(from, group.get(), path + "/");
  }

  Result<Hdf5Id> make_group(const std::string& path) {
    Hdf5Id group(
        H5Gcreate2(file_.get(), path.c_str(), link_list().get(), H5P_DEFAULT, H5P_DEFAULT));
    if (!group.is_valid()) {
      return hdf5_failure(fmt::format("make group '{}'", path));
    }
    return group;
  }

  [[nodiscard]] const ChangedArray* change_of(const std::string& path) const {
    const auto at =
        std::find_if(changes_.arrays.begin(), changes_.arrays.end(),
                     [&](const ChangedArray& each) { return each.stored.name == path; });
    return at == changes_.arrays.end() ? nullptr : &*at;
  }

  // Copies the description of a data set. Its elements keep their offsets in the file.
  Status copy_set(hid_t from, const std::string& path) {
    const ChangedArray* const change = change_of(path);
    const Hdf5Id type(H5Dget_type(from));
    const Hdf5Id list(H5Dget_create_plist(from));
    const bool is_chunked = H5Pget_layout(list.get()) == H5D_CHUNKED;
    const haddr_t offset = is_chunked ? HADDR_UNDEF : H5Dget_offset(from);
    if (offset != HADDR_UNDEF) {
      image_.place_elements(ByteRange{offset, H5Dget_storage_size(from)});
    }
    H5Pset_alloc_time(list.get(), is_chunked              ? H5D_ALLOC_TIME_INCR
                                  : offset != HADDR_UNDEF ? H5D_ALLOC_TIME_EARLY
                                                          : H5D_ALLOC_TIME_LATE);
    H5Pset_fill_time(list.get(), offset != HADDR_UNDEF ? H5D_FILL_TIME_NEVER : H5D_FILL_TIME_IFSET);
    const Hdf5Id space =
        change == nullptr ? Hdf5Id(H5Dget_space(from)) : space_of(change->stored.extents, true);
    const Hdf5Id set(H5Dcreate2(file_.get(), path.c_str(), type.get(), space.get(),
                                link_list().get(), list.get(), H5P_DEFAULT));
    image_.place_elements(std::nullopt);
    if (!set.is_valid()) {
      return hdf5_failure(fmt::format("copy the description of '{}'", path));
    }
    if (is_chunked) {
      TESSERA_RETURN_IF_ERROR(copy_chunks(from, set.get(), path));
    }
    if (change != nullptr) {
      TESSERA_RETURN_IF_ERROR(enter_new(*change, set.get()));
    }
    TESSERA_RETURN_IF_ERROR(set_attributes(path, set.get()));
    return copy_attributes(from, set.get());
  }

  Status copy_chunks(hid_t from, hid_t to, const std::string& path) {
    const ChunkFinder finder(from, *old_, path);
    const std::int64_t count = finder.grid().count();
    for (std::int64_t number = 0; number < count; ++number) {
      TESSERA_ASSIGN_OR_RETURN(const ChunkPlace place, finder.find(number));
      if (place.bytes > 0) {
        TESSERA_RETURN_IF_ERROR(enter_chunk(to, image_, finder.grid(), place));
      }
    }
    return {};
  }

  Status enter_new(const ChangedArray& change, hid_t set) {
    if (change.stored.is_chunked()) {
      const ChunkGrid grid(change.stored.extents, change.stored.chunk);
      for (const ChunkPlace& place : change.chunks) {
        TESSERA_RETURN_IF_ERROR(enter_chunk(set, image_, grid, place));
      }
    }
    return change.stored.checksums.empty()
               ? Status()
               : write_attribute(set, "tessera_checksums", change.stored.checksums);
  }

  Status add_new() {
    for (const std::string& path : changes_.groups) {
      TESSERA_ASSIGN_OR_RETURN(const Hdf5Id group, make_group(path));
      TESSERA_RETURN_IF_ERROR(set_attributes(path, group.get()));
    }
    for (const ChangedArray& change : changes_.arrays) {
      if (change.is_new) {
        TESSERA_RETURN_IF_ERROR(add_set(change));
      }
    }
    return {};
  }

  Status add_set(const ChangedArray& change) {
    const StoredArray& stored = change.stored;
    const Hdf5Id type = type_of(stored);
    const Hdf5Id space = space_of(stored.extents, stored.is_extendible);
    const Hdf5Id list = creation_list(stored);
    const auto bytes = static_cast<std::uint64_t>(volume(stored.extents) * stored.element_bytes);
    if (!stored.is_chunked() && bytes > 0) {
      image_.place_elements(ByteRange{static_cast<std::uint64_t>(stored.offset), bytes});
    }
    const Hdf5Id set(H5Dcreate2(file_.get(), stored.name.c_str(), type.get(), space.get(),
                                link_list().get(), list.get(), H5P_DEFAULT));
    image_.place_elements(std::nullopt);
    if (!set.is_valid()) {
      return hdf5_failure(fmt::format("make a data set '{}'", stored.name));
    }
    TESSERA_RETURN_IF_ERROR(enter_new(change, set.get()));
    TESSERA_RETURN_IF_ERROR(set_attributes(stored.name, set.get()));
    if (stored.piece_elements > 0) {
      TESSERA_RETURN_IF_ERROR(
          write_attribute(set.get(), "tessera_piece_elements", stored.piece_elements));
    }
    if (stored.distribution_numbers.empty()) {
      return {};
    }
    TESSERA_RETURN_IF_ERROR(
        write_attribute(set.get(), "tessera_distribution", stored.distribution));
    return write_attribute(set.get(), "tessera_distribution_numbers", stored.distribution_numbers);
  }

  // Requires: is called before copy_attributes(), which keeps attributes that already exist.
  Status set_attributes(const std::string& path, hid_t object) {
    for (const ChangedAttribute& change : changes_.attributes) {
      if (without_slash(change.object) == without_slash(path)) {
        TESSERA_RETURN_IF_ERROR(write_attribute(object, change.name, change.value));
      }
    }
    return {};
  }

  FileImage* old_;
  const FileChanges& changes_;
  FileImage image_;
  Hdf5Id file_;  // after image_, so that it is closed before the image is destroyed
};

}  // namespace

Result<FileImage> describe_again(FileImage* old, const FileChanges& changes, std::uint64_t start) {
  const Hdf5ErrorSilencer quiet;
  Describer describer(old, changes, start);
  Result<FileImage> image = describer.run();
  const bool is_incomplete = image.ok() ? image->lacked_memory() : describer.lacked_memory();
  return is_incomplete ? Status::no_memory("no memory for the description of the file")
                       : std::move(image);
}

}  // namespace tessera::arrays::detail
