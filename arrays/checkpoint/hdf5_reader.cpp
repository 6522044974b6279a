// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "arrays/checkpoint/hdf5.hpp"
#include "arrays/checkpoint/hdf5_attributes.hpp"
#include "arrays/checkpoint/hdf5_chunks.hpp"
#include "arrays/checkpoint/hdf5_types.hpp"

namespace tessera::arrays::detail {
namespace {

using rma::Code;
using rma::Result;
using rma::Status;

// Objects of other programs' files, which may have cycles, are followed this far.
constexpr int max_depth = 32;
constexpr std::size_t max_objects = 1'000'000;

template <class T>
T value_or(hid_t object, const char* name, T otherwise) {
  const std::optional<AttributeValue> value = read_attribute(object, name);
  const std::optional<T> held = value ? value_as<T>(*value) : std::nullopt;
  return held.value_or(std::move(otherwise));
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

void mark_foreign(StoredArray& array, std::string reason) {
  array.unreadable_reason = std::move(reason);
  array.is_foreign = true;
}

// Finds the offset of contiguous elements.
void read_offset(hid_t set, std::uint64_t file_end, StoredArray& array) {
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

std::string name_of_filter(H5Z_filter_t id, const char* stored_name) {
  constexpr std::pair<H5Z_filter_t, const char*> known[] = {
      {4, "szip"},    {5, "nbit"},      {6, "scaleoffset"}, {307, "bzip2"},
      {32000, "lzf"}, {32001, "blosc"}, {32004, "lz4"},     {32008, "bitshuffle"},
      {32013, "zfp"}, {32015, "zstd"},  {32026, "blosc2"}};
  for (const auto& [number, name] : known) {
    if (number == id) {
      return fmt::format("'{}' (filter {})", name, id);
    }
  }
  return *stored_name == '\0' ? fmt::format("filter {}", id)
                              : fmt::format("'{}' (filter {})", stored_name, id);
}

void read_filters(hid_t list, StoredArray& array) {
  const int count = H5Pget_nfilters(list);
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0;
    std::array<unsigned, 8> parameters = {};
    std::size_t parameter_count = parameters.size();
    std::array<char, 80> name = {};
    const H5Z_filter_t id =
        H5Pget_filter2(list, static_cast<unsigned>(i), &flags, &parameter_count, parameters.data(),
                       name.size() - 1, name.data(), nullptr);
    if (id != H5Z_FILTER_DEFLATE && id != H5Z_FILTER_SHUFFLE && id != H5Z_FILTER_FLETCHER32) {
      mark_foreign(array,
                   fmt::format("its chunks are compressed by {}, which Tessera can't undo; "
                               "`h5repack -f GZIP=4` makes a copy that it can read, if h5repack "
                               "has that filter, and h5py does with `compression='gzip'`",
                               name_of_filter(id, name.data())));
      return;
    }
    array.filters.push_back({static_cast<FilterKind>(id), parameters[0]});
  }
}

void read_fill(hid_t set, hid_t list, StoredArray& array) {
  H5D_fill_value_t kind = H5D_FILL_VALUE_DEFAULT;
  if (H5Pfill_value_defined(list, &kind) < 0 || kind != H5D_FILL_VALUE_USER_DEFINED) {
    return;
  }
  const Hdf5Id type(H5Dget_type(set));
  std::vector<std::byte> fill(static_cast<std::size_t>(array.element_bytes));
  if (H5Tget_size(type.get()) == fill.size() &&
      H5Pget_fill_value(list, type.get(), fill.data()) >= 0) {
    array.fill = std::move(fill);
  }
}

void read_chunks(hid_t set, hid_t list, StoredArray& array) {
  std::array<hsize_t, max_dims> lengths = {};
  if (H5Pget_chunk(list, max_dims, lengths.data()) != array.extents.ndims()) {
    array.unreadable_reason = "its chunks have another number of dimensions";
    return;
  }
  Extents chunk = Extents::zeros(array.extents.ndims());
  for (int dim = 0; dim < chunk.ndims(); ++dim) {
    chunk[dim] = static_cast<std::int64_t>(lengths[static_cast<std::size_t>(dim)]);
    if (chunk[dim] < 1) {
      array.unreadable_reason = "its chunks are empty";
      return;
    }
  }
  array.chunk = chunk;
  read_filters(list, array);
  read_fill(set, list, array);
}

void read_layout(hid_t set, std::uint64_t file_end, StoredArray& array) {
  const Hdf5Id list(H5Dget_create_plist(set));
  switch (H5Pget_layout(list.get())) {
    case H5D_CHUNKED:
      return read_chunks(set, list.get(), array);
    case H5D_CONTIGUOUS:
      if (H5Pget_external_count(list.get()) > 0) {
        return mark_foreign(array,
                            "its elements are in other files; `h5repack` makes a copy in "
                            "which they are not");
      }
      return read_offset(set, file_end, array);
    case H5D_COMPACT:
      return mark_foreign(array,
                          "its elements are part of its description; `h5repack -l CONTI` "
                          "makes a copy in which they are not");
    default:
      return mark_foreign(array,
                          "its elements are those of other data sets; `h5repack -l CONTI` "
                          "makes a copy in which they are not");
  }
}

void read_own_attributes(hid_t set, StoredArray& array) {
  array.distribution = value_or(set, "tessera_distribution", std::string());
  array.distribution_numbers = read_list<std::int64_t>(set, "tessera_distribution_numbers");
  array.piece_elements = value_or(set, "tessera_piece_elements", std::int64_t{0});
  array.checksums = read_list<std::uint64_t>(set, "tessera_checksums");
  if (array.piece_elements < 0) {
    array.unreadable_reason = "its pieces have a negative number of elements";
    array.piece_elements = 0;
  } else if (!array.checksums.empty() && piece_count(array) != std::ssize(array.checksums)) {
    array.unreadable_reason = "its number of checksums differs from its number of pieces";
  }
  array.piece_elements =
      std::min(array.piece_elements, std::max<std::int64_t>(volume(array.extents), 1));
}

bool is_extendible(hid_t set) {
  const Hdf5Id space(H5Dget_space(set));
  std::array<hsize_t, max_dims> most = {};
  const int ndims = H5Sget_simple_extent_ndims(space.get());
  return ndims >= 1 && ndims <= max_dims &&
         H5Sget_simple_extent_dims(space.get(), nullptr, most.data()) >= 0 &&
         most[0] == unlimited && std::count(most.begin(), most.begin() + ndims, unlimited) == 1;
}

StoredArray read_array(hid_t set, std::string name, std::uint64_t file_end) {
  StoredArray array;
  array.name = std::move(name);
  recognise(Hdf5Id(H5Dget_type(set)).get(), array);
  if (read_extents(set, array)) {
    read_layout(set, file_end, array);
    if (array.unreadable_reason.empty()) {
      read_own_attributes(set, array);
    }
    array.is_extendible = array.is_chunked() && is_extendible(set);
  }
  array.attributes = read_attributes(set);
  return array;
}

// Reads the objects of a group and of the groups in it.
class GroupReader {
 public:
  GroupReader(std::uint64_t file_end, Catalog& catalog) : file_end_(file_end), catalog_(catalog) {}

  /// `path` ends with '/', except that of the file itself, which is empty.
  void read(hid_t group, const std::string& path, int depth) {
    note_attributes(group, path.empty() ? "/" : path);
    H5G_info_t info = {};
    H5Gget_info(group, &info);
    for (hsize_t i = 0; i < info.nlinks && objects_ < max_objects; ++i, ++objects_) {
      const ssize_t length =
          H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, nullptr, 0, H5P_DEFAULT);
      if (length < 0) {
        continue;
      }
      std::string name(static_cast<std::size_t>(length), '\0');
      H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), name.size() + 1,
                         H5P_DEFAULT);
      read_object(group, path + name, name, depth);
    }
  }

 private:
  void read_object(hid_t group, const std::string& path, const std::string& name, int depth) {
    H5L_info_t link = {};
    // Links to other objects are not followed: they may lead into another file.
    if (H5Lget_info(group, name.c_str(), &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD) {
      return note_not_kept(fmt::format("the link '/{}'", path));
    }
    const Hdf5Id object(H5Oopen(group, name.c_str(), H5P_DEFAULT));
    const H5I_type_t kind = object.is_valid() ? H5Iget_type(object.get()) : H5I_BADID;
    if (kind == H5I_GROUP && depth < max_depth) {
      catalog_.groups.push_back({path, read_attributes(object.get())});
      return read(object.get(), path + "/", depth + 1);
    }
    if (kind != H5I_DATASET) {
      return note_not_kept(fmt::format("'/{}'", path));
    }
    catalog_.arrays.push_back(read_array(object.get(), path, file_end_));
    if (catalog_.arrays.back().is_foreign || catalog_.arrays.back().extents.ndims() == 0) {
      note_not_kept(fmt::format("the data set '/{}'", path));
    }
    note_attributes(object.get(), path);
  }
  void note_attributes(hid_t object, const std::string& path) {
    if (const std::string name = attribute_not_copied(object); !name.empty()) {
      note_not_kept(fmt::format("attribute '{}' of '{}'", name, path));
    }
  }
  void note_not_kept(std::string what) {
    if (catalog_.not_kept.empty()) {
      catalog_.not_kept = std::move(what);
    }
  }

  std::uint64_t file_end_;
  Catalog& catalog_;
  std::size_t objects_ = 0;
};

Status check_format(hid_t file, const FileImage& image, const std::string& path, Catalog& catalog) {
  const auto format = value_or(file, "tessera_checkpoint", std::int64_t{0});
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
  catalog.groups.push_back({"/", read_attributes(file.get())});
  catalog.grid = read_list<double>(file.get(), "tessera_grid");
  GroupReader(image.end(), catalog).read(file.get(), "", 0);
  const Hdf5Id creation(H5Fget_create_plist(file.get()));
  hsize_t user_bytes = 0;
  if (H5Pget_userblock(creation.get(), &user_bytes) < 0 || user_bytes > 0) {
    catalog.not_kept = "its user block";
  }
  return catalog;
}

Result<std::vector<ChunkPlace>> find_chunks(FileImage& image, const StoredArray& array,
                                            const ChunkRange& range, std::int64_t first,
                                            std::int64_t last) {
  const Hdf5ErrorSilencer quiet;
  const Hdf5Id access = file_access_list(image);
  const Hdf5Id file(H5Fopen("checkpoint", H5F_ACC_RDONLY, access.get()));
  const Hdf5Id set(H5Dopen2(file.get(), array.name.c_str(), H5P_DEFAULT));
  if (!set.is_valid()) {
    return hdf5_failure(fmt::format("find data set '{}' again", array.name));
  }
  const ChunkFinder finder(set.get(), image, array.name);
  std::vector<ChunkPlace> places;
  places.reserve(static_cast<std::size_t>(last - first));
  for (std::int64_t i = first; i < last; ++i) {
    TESSERA_ASSIGN_OR_RETURN(const ChunkPlace place, finder.find(range.number(i)));
    places.push_back(place);
  }
  return places;
}

}  // namespace tessera::arrays::detail
