// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/hdf5_driver.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <new>
#include <optional>

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

namespace tessera::arrays::detail {
namespace {

constexpr haddr_t max_bytes = std::numeric_limits<haddr_t>::max() / 2;

// The data of an access list.
struct DriverOptions {
  FileImage* image = nullptr;
};

// libhdf5 knows only the first member of this struct.
struct DriverFile {
  H5FD_t base = {};
  FileImage* image = nullptr;
  haddr_t allocated = 0;  // what libhdf5 calls the end of allocated space
};

DriverFile& as_ours(H5FD_t* file) {
  return *reinterpret_cast<DriverFile*>(file);
}
const DriverFile& as_ours(const H5FD_t* file) {
  return *reinterpret_cast<const DriverFile*>(file);
}

H5FD_t* open_image(const char* /*name*/, unsigned /*flags*/, hid_t access, haddr_t /*most*/) {
  const auto* const options = static_cast<const DriverOptions*>(H5Pget_driver_info(access));
  auto* const file = options == nullptr ? nullptr : new (std::nothrow) DriverFile;
  if (file == nullptr) {
    return nullptr;
  }
  file->image = options->image;
  return &file->base;
}

herr_t close_image(H5FD_t* file) {
  delete &as_ours(file);
  return 0;
}

herr_t query(const H5FD_t* /*file*/, unsigned long* flags) {
  // Contiguous metadata makes fewer fragments.
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t get_allocated(const H5FD_t* file, H5FD_mem_t /*type*/) {
  return as_ours(file).allocated;
}

herr_t set_allocated(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t end) {
  as_ours(file).allocated = end;
  as_ours(file).image->set_superblock_end(end);
  return 0;
}

haddr_t get_end(const H5FD_t* file, H5FD_mem_t /*type*/) {
  return as_ours(file).image->end();
}

// Only for images with a start: elements get their given places, descriptions follow each other
// after the superblock.
haddr_t allocate(H5FD_t* file, H5FD_mem_t type, hid_t /*list*/, hsize_t size) {
  DriverFile& ours = as_ours(file);
  const std::optional<ByteRange>& placed = ours.image->placed_elements();
  if (type == H5FD_MEM_DRAW && placed) {
    return placed->bytes == size ? placed->offset : HADDR_UNDEF;
  }
  const haddr_t at = ours.allocated;
  const haddr_t end = at == 0 ? std::max<haddr_t>(*ours.image->start(), size) : at + size;
  set_allocated(file, type, end);
  return at;
}

herr_t read(H5FD_t* file, H5FD_mem_t type, hid_t /*list*/, haddr_t at, size_t size, void* buffer) {
  if (type == H5FD_MEM_DRAW && as_ours(file).image->is_traced()) {
    as_ours(file).image->set_traced({at, size});
    return 0;
  }
  const std::span<std::byte> to(static_cast<std::byte*>(buffer), size);
  return as_ours(file).image->read(at, to).ok() ? 0 : -1;
}

herr_t write(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*list*/, haddr_t at, size_t size,
             const void* buffer) {
  const std::optional<ByteRange>& placed = as_ours(file).image->placed_elements();
  if (placed && placed->offset == at) {
    return 0;
  }
  const std::span<const std::byte> from(static_cast<const std::byte*>(buffer), size);
  // A file that cannot be closed would end the program at its exit. The image notes the lack of
  // memory for those who take it.
  as_ours(file).image->write(at, from).ignore("lacked_memory() reports it");
  return 0;
}

herr_t truncate(H5FD_t* file, hid_t /*list*/, hbool_t /*closing*/) {
  as_ours(file).image->set_end(as_ours(file).allocated);
  return 0;
}

// Members are set by name, since their order and number differ between versions.
H5FD_class_t driver_class(bool has_start) {
  H5FD_class_t driver = {};
#if H5_VERSION_GE(1, 13, 0)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(512);  // the first value for experimental drivers
#endif
  driver.name = "tessera_image";
  driver.maxaddr = max_bytes;
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(DriverOptions);
  driver.open = open_image;
  driver.close = close_image;
  driver.query = query;
  driver.get_eoa = get_allocated;
  driver.set_eoa = set_allocated;
  driver.get_eof = get_end;
  driver.read = read;
  driver.write = write;
  driver.truncate = truncate;
  constexpr H5FD_mem_t dichotomy[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(dichotomy), std::end(dichotomy), driver.fl_map);
  if (has_start) {
    driver.alloc = allocate;
    driver.fl_map[H5FD_MEM_GHEAP] = H5FD_MEM_SUPER;  // texts are not elements
  }
  return driver;
}

herr_t keep_first(unsigned n, const H5E_error2_t* error, void* words) {
  if (n == 0 && error->desc != nullptr) {
    *static_cast<std::string*>(words) = error->desc;
  }
  return 0;
}

}  // namespace

Hdf5ErrorSilencer::Hdf5ErrorSilencer() noexcept {
  H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5ErrorSilencer::~Hdf5ErrorSilencer() {
  H5Eset_auto2(H5E_DEFAULT, function_, data_);
}

std::string hdf5_error_message() {
  std::string words = "no reason is given";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &words);
  return words;
}

Hdf5Id file_access_list(FileImage& image) {
  const bool has_start = image.start().has_value();
  const H5FD_class_t driver = driver_class(has_start);
  const Hdf5Id driver_id(H5FDregister(&driver));
  Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS));
  const DriverOptions options{&image};
  // The newest format has checksums on descriptions of arrays, and attributes of any length. Data
  // sets of a page or more begin at a page boundary.
  constexpr hsize_t page_bytes = 4096;
  const hsize_t alignment = has_start ? 1 : page_bytes;
  // With a start, nothing shares a block with the superblock: so there are no blocks.
  // Indices of chunks are small and have checksums since 1.10.
  const H5F_libver_t least = has_start ? H5F_LIBVER_V110 : H5F_LIBVER_V18;
  if (!driver_id.is_valid() || !access.is_valid() ||
      H5Pset_driver(access.get(), driver_id.get(), &options) < 0 ||
      H5Pset_libver_bounds(access.get(), least, H5F_LIBVER_LATEST) < 0 ||
      H5Pset_alignment(access.get(), alignment, alignment) < 0 ||
      (has_start && H5Pset_meta_block_size(access.get(), 0) < 0)) {
    return {};
  }
  return access;
}

}  // namespace tessera::arrays::detail
