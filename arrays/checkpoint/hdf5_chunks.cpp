// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/hdf5_chunks.hpp"

#include <fmt/format.h>

#include <utility>

#include "arrays/checkpoint/hdf5_attributes.hpp"

namespace tessera::arrays::detail {

using rma::Code;
using rma::Result;
using rma::Status;

std::array<hsize_t, max_dims> chunk_corner(const ChunkGrid& grid, std::int64_t number) noexcept {
  const Box box = grid.box_of(number);
  std::array<hsize_t, max_dims> corner = {};
  for (int dim = 0; dim < box.ndims(); ++dim) {
    corner[static_cast<std::size_t>(dim)] = static_cast<hsize_t>(box.lo(dim));
  }
  return corner;
}

Extents extents_of(hid_t set) {
  const Hdf5Id space(H5Dget_space(set));
  std::array<hsize_t, max_dims> lengths = {};
  Extents extents = Extents::zeros(H5Sget_simple_extent_ndims(space.get()));
  H5Sget_simple_extent_dims(space.get(), lengths.data(), nullptr);
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    extents[dim] = static_cast<std::int64_t>(lengths[static_cast<std::size_t>(dim)]);
  }
  return extents;
}

Extents chunk_of(hid_t set) {
  const Hdf5Id list(H5Dget_create_plist(set));
  std::array<hsize_t, max_dims> lengths = {};
  Extents chunk = Extents::zeros(H5Pget_chunk(list.get(), max_dims, lengths.data()));
  for (int dim = 0; dim < chunk.ndims(); ++dim) {
    chunk[dim] = static_cast<std::int64_t>(lengths[static_cast<std::size_t>(dim)]);
  }
  return chunk;
}

ChunkFinder::ChunkFinder(hid_t set, FileImage& image, std::string name)
    : set_(set),
      image_(&image),
      name_(std::move(name)),
      grid_(extents_of(set), chunk_of(set)),
      chunk_elements_(volume(chunk_of(set))) {
  const Hdf5Id list(H5Dget_create_plist(set));
  unsigned options = 0;
  edges_are_unfiltered_ = H5Pget_chunk_opts(list.get(), &options) >= 0 &&
                          (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0;
}

Result<ChunkPlace> ChunkFinder::find(std::int64_t number) const {
  ChunkPlace place{.number = static_cast<std::uint64_t>(number)};
  const auto corner = chunk_corner(grid_, number);
  const std::string action = fmt::format("find chunk {} of '{}'", number, name_);
  hsize_t bytes = 0;
  if (H5Dget_chunk_storage_size(set_, corner.data(), &bytes) < 0) {
    // For chunks that were never written, some versions return an error, others no bytes.
    return hdf5_error_message().find("not allocated") != std::string::npos
               ? Result<ChunkPlace>(place)
               : Result<ChunkPlace>(hdf5_failure(action));
  }
  if (bytes == 0) {
    return place;
  }
  std::uint32_t mask = 0;
  std::byte nothing = {};
  image_->set_traced({});
  image_->trace_elements(true);
  const herr_t code = H5Dread_chunk(set_, H5P_DEFAULT, corner.data(), &mask, &nothing);
  image_->trace_elements(false);
  const ByteRange range = image_->traced();
  if (code < 0 || range.bytes == 0) {
    return hdf5_failure(action);
  }
  if (range.offset > image_->end() || range.bytes > image_->end() - range.offset) {
    return Status::error(Code::protocol, fmt::format("chunk {} of '{}' lies beyond the end of the "
                                                     "file",
                                                     number, name_))
        .hint("the file is damaged or truncated; use another one");
  }
  const bool is_edge = volume(grid_.box_of(number).extents()) != chunk_elements_;
  place.offset = range.offset;
  place.bytes = range.bytes;
  place.mask = edges_are_unfiltered_ && is_edge ? 0xffff'ffffU : mask;
  return place;
}

Status enter_chunk(hid_t set, FileImage& image, const ChunkGrid& grid, const ChunkPlace& place) {
  const auto number = static_cast<std::int64_t>(place.number);
  const auto corner = chunk_corner(grid, number);
  const std::byte nothing = {};
  image.place_elements(ByteRange{place.offset, place.bytes});
  const herr_t code =
      H5Dwrite_chunk(set, H5P_DEFAULT, static_cast<std::uint32_t>(place.mask), corner.data(),
                     static_cast<std::size_t>(place.bytes), &nothing);
  image.place_elements(std::nullopt);
  return code < 0 ? hdf5_failure(fmt::format("enter chunk {}", number)) : Status();
}

}  // namespace tessera::arrays::detail
