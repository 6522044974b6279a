// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/chunk_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "arrays/checkpoint/checksum.hpp"
#include "arrays/checkpoint/filters.hpp"
#include "arrays/checkpoint/members.hpp"

namespace tessera::arrays::detail {
namespace {

using rma::Result;
using rma::Status;

constexpr std::int64_t place_words = sizeof(ChunkPlace) / sizeof(std::uint64_t);
constexpr std::int64_t wanted_chunk_bytes = std::int64_t{1} << 20;

// Gets a chunk's elements; those outside the data set are zero.
Status load_chunk(const ArrayPart& part, const StoredArray& stored, const Box& box,
                  ChunkBuffer& chunk) {
  const auto bytes = static_cast<std::size_t>(volume(stored.chunk) * stored.element_bytes);
  TESSERA_RETURN_IF_ERROR(chunk.reserve(bytes));
  chunk.set_size(bytes);
  if (box.volume() != volume(stored.chunk)) {
    std::memset(chunk.data(), 0, bytes);
  }
  return part.start(Transfer::get(), box, chunk.data(), dense_strides(stored.chunk)).wait();
}

}  // namespace

Result<PlaceTable> PlaceTable::create(const rma::Job& job, const rma::Team& team,
                                      std::int64_t rows) {
  TESSERA_ASSIGN_OR_RETURN(Array<std::uint64_t> table,
                           Array<std::uint64_t>::create(
                               job, {rows, place_words},
                               {.name = "places of chunks", .team = team, .holders = {leader}}));
  return PlaceTable(std::move(table));
}

Status PlaceTable::put(std::int64_t row, const ChunkPlace& place) {
  std::array<std::uint64_t, place_words> words = {};
  std::memcpy(words.data(), &place, sizeof place);
  return rows_.put(Box({row, 0}, {row + 1, place_words}), words);
}

Result<std::vector<ChunkPlace>> PlaceTable::collect(Status own_status) {
  TESSERA_RETURN_IF_ERROR(rows_.sync(std::move(own_status)));
  return rows_.team().agree([&]() -> Result<std::vector<ChunkPlace>> {
    std::vector<ChunkPlace> places;
    if (is_leader(rows_.team())) {
      std::vector<std::uint64_t> words(static_cast<std::size_t>(rows_.box().volume()));
      TESSERA_RETURN_IF_ERROR(rows_.get(rows_.box(), words));
      places.resize(static_cast<std::size_t>(rows_.extents()[0]));
      std::memcpy(static_cast<void*>(places.data()), words.data(), words.size() * sizeof words[0]);
    }
    return places;
  });
}

Status write_chunks(const File& file, const StoredArray& stored, const ArrayPart& part,
                    const ChunkRange& range, const Counter& next_chunk, const Counter& end,
                    PlaceTable& table) {
  const ChunkGrid grid(stored.extents, stored.chunk);
  ChunkBuffer chunk;
  ChunkBuffer spare;
  while (true) {
    TESSERA_ASSIGN_OR_RETURN(const std::int64_t row, next_chunk.next());
    if (row >= range.count()) {
      return {};
    }
    const std::int64_t number = range.number(row);
    TESSERA_RETURN_IF_ERROR(load_chunk(part, stored, grid.box_of(number), chunk));
    TESSERA_ASSIGN_OR_RETURN(const std::uint32_t mask, apply_filters(stored.filters, chunk, spare));
    ChunkPlace place{.number = static_cast<std::uint64_t>(number),
                     .bytes = chunk.bytes().size(),
                     .mask = mask,
                     .checksum = checksum(chunk.bytes())};
    TESSERA_ASSIGN_OR_RETURN(const std::int64_t offset,
                             end.next(static_cast<std::int64_t>(place.bytes)));
    place.offset = static_cast<std::uint64_t>(offset);
    TESSERA_RETURN_IF_ERROR(
        file.write_at(place.offset, chunk.bytes())
            .context(fmt::format("writing chunk {} of '{}'", number, stored.name)));
    TESSERA_RETURN_IF_ERROR(table.put(row, place));
  }
}

Extents default_chunk(const ArrayBase& array, const Section& part) {
  Extents chunk = part.extents();
  const Extents all = chunk;
  const auto bytes = [&] {
    return volume(chunk) * static_cast<std::int64_t>(array.element_bytes());
  };
  for (int dim = 0; dim < chunk.ndims(); ++dim) {
    if (part.steps()[dim] == 1 && part.box().lo(dim) == 0) {
      chunk[dim] =
          std::clamp<std::int64_t>(array.distribution().partition(dim).largest(), 1, all[dim]);
    }
  }
  while (bytes() > wanted_chunk_bytes && volume(chunk) > 1) {
    int longest = 0;
    for (int dim = 1; dim < chunk.ndims(); ++dim) {
      longest = chunk[dim] > chunk[longest] ? dim : longest;
    }
    chunk[longest] = divide_up(chunk[longest], 2);
  }
  // Blocks may be small: then a chunk has several.
  for (int dim = chunk.ndims() - 1; dim >= 0; --dim) {
    while (chunk[dim] < all[dim] && bytes() * 2 <= wanted_chunk_bytes) {
      chunk[dim] = std::min(chunk[dim] * 2, all[dim]);
    }
  }
  return chunk;
}

}  // namespace tessera::arrays::detail
