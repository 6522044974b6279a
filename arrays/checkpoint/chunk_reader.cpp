// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/chunk_reader.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "arrays/checkpoint/checksum.hpp"
#include "arrays/checkpoint/chunk_grid.hpp"
#include "arrays/checkpoint/filters.hpp"

namespace tessera::arrays::detail {
namespace {

using rma::Code;
using rma::Handle;
using rma::Status;

class ChunkReader {
 public:
  ChunkReader(const File& file, const StoredArray& stored, const ArrayPart* part,
              const ElementConverter& converter)
      : file_(file),
        stored_(stored),
        part_(part),
        converter_(converter),
        grid_(stored.extents, stored.chunk),
        elements_(volume(stored.chunk)) {}

  /// The elements are in `chunk_` until the next call.
  Status read(const ChunkPlace& place) {
    TESSERA_RETURN_IF_ERROR(
        chunk_.reserve(static_cast<std::size_t>(elements_ * converter_.max_bytes(stored_))));
    TESSERA_RETURN_IF_ERROR(place.bytes == 0 ? fill() : load(place));
    if (part_ == nullptr) {
      return {};
    }
    // The filters leave the elements in a buffer of any size.
    const auto converted = static_cast<std::size_t>(elements_ * converter_.max_bytes(stored_));
    if (chunk_.room() < converted) {
      TESSERA_RETURN_IF_ERROR(spare_.reserve(converted));
      std::memcpy(spare_.data(), chunk_.data(), chunk_bytes());
      std::swap(chunk_, spare_);
    }
    TESSERA_RETURN_IF_ERROR(converter_.convert(chunk_.data(), elements_));
    return put(place);
  }

 private:
  [[nodiscard]] std::size_t chunk_bytes() const noexcept {
    return static_cast<std::size_t>(elements_ * stored_.element_bytes);
  }

  Status fill() {
    std::memset(chunk_.data(), 0, chunk_bytes());
    const auto each = static_cast<std::size_t>(stored_.element_bytes);
    if (stored_.fill.size() == each) {
      for (std::size_t at = 0; at < chunk_bytes(); at += each) {
        std::memcpy(chunk_.data() + at, stored_.fill.data(), each);
      }
    }
    chunk_.set_size(chunk_bytes());
    return {};
  }

  Status load(const ChunkPlace& place) {
    const auto bytes = static_cast<std::size_t>(place.bytes);
    TESSERA_RETURN_IF_ERROR(chunk_.reserve(bytes));
    chunk_.set_size(bytes);
    TESSERA_RETURN_IF_ERROR(file_.read_at(place.offset, chunk_.bytes()));
    const auto number = static_cast<std::size_t>(place.number);
    if (number < stored_.checksums.size() &&
        stored_.checksums[number] != checksum(chunk_.bytes())) {
      return Status::error(Code::protocol, "it is damaged: its checksum differs")
          .hint("use an older file; this one changed after it was written");
    }
    return undo_filters(stored_.filters, static_cast<std::uint32_t>(place.mask), chunk_bytes(),
                        chunk_, spare_);
  }

  Status put(const ChunkPlace& place) {
    const Box box = grid_.box_of(static_cast<std::int64_t>(place.number));
    const Box common = intersect(box, part_->stored());
    if (common.is_empty()) {
      return {};
    }
    const Strides strides = dense_strides(stored_.chunk);
    std::int64_t offset = 0;
    for (int dim = 0; dim < box.ndims(); ++dim) {
      offset += (common.lo(dim) - box.lo(dim)) * strides[dim];
    }
    const auto bytes = static_cast<std::int64_t>(part_->array().element_bytes());
    return part_->start(Transfer::put(), common, chunk_.data() + offset * bytes, strides).wait();
  }

  const File& file_;
  const StoredArray& stored_;
  const ArrayPart* part_;
  const ElementConverter& converter_;
  ChunkGrid grid_;
  std::int64_t elements_;
  ChunkBuffer chunk_;
  ChunkBuffer spare_;
};

}  // namespace

Status read_chunks(const File& file, const StoredArray& stored, std::span<const ChunkPlace> chunks,
                   const ArrayPart* part, const ElementConverter& converter) {
  ChunkReader reader(file, stored, part, converter);
  for (const ChunkPlace& place : chunks) {
    const Box box =
        ChunkGrid(stored.extents, stored.chunk).box_of(static_cast<std::int64_t>(place.number));
    TESSERA_RETURN_IF_ERROR(reader.read(place).context(fmt::format(
        "reading chunk {} of array '{}' ({})", place.number, stored.name, to_string(box))));
  }
  return {};
}

}  // namespace tessera::arrays::detail
