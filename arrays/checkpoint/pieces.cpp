// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <utility>

#include "arrays/checkpoint/checksum.hpp"
#include "arrays/checkpoint/row_major_range.hpp"

namespace tessera::arrays::detail {
namespace {

using rma::Code;
using rma::Handle;
using rma::Result;
using rma::Status;

// Two buffers of one piece each.
class Buffers {
 public:
  static Result<Buffers> allocate(const StoredArray& stored, std::int64_t element_bytes) {
    const std::int64_t elements = std::min(stored.piece_elements, volume(stored.extents));
    const auto bytes = static_cast<std::size_t>(elements * element_bytes);
    Buffers buffers;
    for (Memory& memory : buffers.memory_) {
      memory.reset(static_cast<std::byte*>(
          ::operator new(std::max<std::size_t>(bytes, 1), page, std::nothrow)));
      if (memory == nullptr) {
        return Status::error(Code::no_memory, fmt::format("no memory for a piece of {} bytes "
                                                          "of array '{}'",
                                                          bytes, stored.name))
            .hint("write checkpoints in smaller pieces (option piece_bytes)");
      }
    }
    return buffers;
  }
  /// The buffer of a piece: neighbouring pieces have different ones.
  [[nodiscard]] std::byte* of(std::int64_t piece) const noexcept {
    return memory_[static_cast<std::size_t>(piece % 2)].get();
  }

 private:
  static constexpr std::align_val_t page{4096};
  struct Free {
    void operator()(std::byte* memory) const noexcept { ::operator delete(memory, page); }
  };
  using Memory = std::unique_ptr<std::byte, Free>;
  std::array<Memory, 2> memory_;
};

// One piece: its range of elements in row-major order, and its offset in the file.
struct Piece {
  Piece(const StoredArray& stored, std::int64_t number)
      : first(number * stored.piece_elements),
        last(std::min(volume(stored.extents), first + stored.piece_elements)),
        offset(static_cast<std::uint64_t>(stored.offset + first * stored.element_bytes)),
        bytes(static_cast<std::size_t>((last - first) * stored.element_bytes)) {}
  std::int64_t first;
  std::int64_t last;
  std::uint64_t offset;
  std::size_t bytes;
};

// Starts to move those elements of a piece that the part has.
Handle start(const Transfer& transfer, const ArrayPart& part, const StoredArray& stored,
             const Piece& piece, std::byte* buffer) {
  const auto bytes = static_cast<std::int64_t>(part.array().element_bytes());
  Handle all;
  for_each_box(stored.extents, piece.first, piece.last, [&](const Box& box, std::int64_t offset) {
    const Box common = intersect(box, part.stored());
    if (common.is_empty()) {
      return;
    }
    const Strides strides = dense_strides(box.extents());
    for (int dim = 0; dim < box.ndims(); ++dim) {
      offset += (common.lo(dim) - box.lo(dim)) * strides[dim];
    }
    all.collect(part.start(transfer, common, buffer + offset * bytes, strides));
  });
  return all;
}

// Pieces are counted from 1 in messages.
std::string describe(const StoredArray& stored, std::int64_t number) {
  const Piece piece(stored, number);
  return fmt::format("piece {} of {} of array '{}' (elements {} to {})", number + 1,
                     piece_count(stored), stored.name,
                     to_string(index_of_linear(stored.extents, piece.first)),
                     to_string(index_of_linear(stored.extents, piece.last - 1)));
}

Status check_piece(const StoredArray& stored, std::int64_t number,
                   std::span<const std::byte> bytes) {
  if (stored.checksums.empty() ||
      stored.checksums[static_cast<std::size_t>(number)] == checksum(bytes)) {
    return {};
  }
  return Status::error(Code::protocol,
                       fmt::format("{} is damaged: its checksum differs", describe(stored, number)))
      .hint("use an older checkpoint; the file changed after it was written");
}

}  // namespace

std::int64_t pieces_per_member(const StoredArray& array, std::int64_t members) noexcept {
  return (piece_count(array) + members - 1) / members;
}

namespace {

Slab share_of(std::int64_t first, std::int64_t count, std::int64_t member, std::int64_t members) {
  const std::int64_t each = (count + members - 1) / members;
  return {first + std::min(count, member * each), first + std::min(count, (member + 1) * each)};
}

std::int64_t number_of(const Extents& extents, const Index& index) {
  const Strides strides = dense_strides(extents);
  std::int64_t number = 0;
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    number += index[dim] * strides[dim];
  }
  return number;
}

}  // namespace

Slab slab_of(const StoredArray& array, rma::TeamRank member, std::int64_t members) noexcept {
  return share_of(0, piece_count(array), member.value, members);
}

Slab slab_of(const StoredArray& array, const Box& box, rma::TeamRank member,
             std::int64_t members) noexcept {
  Index last = box.hi();
  for (int dim = 0; dim < box.ndims(); ++dim) {
    --last[dim];
  }
  const std::int64_t from = number_of(array.extents, box.lo()) / array.piece_elements;
  const std::int64_t to = number_of(array.extents, last) / array.piece_elements + 1;
  return share_of(from, to - from, member.value, members);
}

Result<std::vector<std::uint64_t>> write_slab(const File& file, const StoredArray& stored,
                                              const Slab& slab, const ArrayPart& part) {
  std::vector<std::uint64_t> checksums;
  if (slab.first == slab.last) {
    return checksums;
  }
  // Declared before the handle, whose destructor waits for transfers into the buffers.
  TESSERA_ASSIGN_OR_RETURN(const Buffers buffers, Buffers::allocate(stored, stored.element_bytes));
  Handle next =
      start(Transfer::get(), part, stored, Piece(stored, slab.first), buffers.of(slab.first));
  for (std::int64_t number = slab.first; number < slab.last; ++number) {
    TESSERA_RETURN_IF_ERROR(next.wait());
    if (number + 1 < slab.last) {
      next =
          start(Transfer::get(), part, stored, Piece(stored, number + 1), buffers.of(number + 1));
    }
    const Piece piece(stored, number);
    const std::span<const std::byte> bytes(buffers.of(number), piece.bytes);
    checksums.push_back(checksum(bytes));
    TESSERA_RETURN_IF_ERROR(
        file.write_at(piece.offset, bytes).context("writing " + describe(stored, number)));
  }
  return checksums;
}

Status read_slab(const File& file, const StoredArray& stored, const Slab& slab,
                 const ArrayPart* part, const ElementConverter& converter) {
  if (slab.first == slab.last) {
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(const Buffers buffers,
                           Buffers::allocate(stored, converter.max_bytes(stored)));
  std::array<Handle, 2> puts;
  for (std::int64_t number = slab.first; number < slab.last; ++number) {
    Handle& put = puts[static_cast<std::size_t>(number % 2)];
    TESSERA_RETURN_IF_ERROR(put.wait());
    const Piece piece(stored, number);
    std::byte* const buffer = buffers.of(number);
    TESSERA_RETURN_IF_ERROR(file.read_at(piece.offset, {buffer, piece.bytes})
                                .context("reading " + describe(stored, number)));
    TESSERA_RETURN_IF_ERROR(check_piece(stored, number, {buffer, piece.bytes}));
    if (part != nullptr) {
      TESSERA_RETURN_IF_ERROR(converter.convert(buffer, piece.last - piece.first));
      put = start(Transfer::put(), *part, stored, piece, buffer);
    }
  }
  TESSERA_RETURN_IF_ERROR(puts[0].wait());
  return puts[1].wait();
}

}  // namespace tessera::arrays::detail
