// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/chunk_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "arrays/array_base.hpp"
#include "arrays/call_signature.hpp"
#include "rma/base/catch_bad_alloc.hpp"
#include "rma/handle.hpp"
#include "rma/region.hpp"

namespace tessera::arrays {

using rma::Code;
using rma::Handle;
using rma::Status;

namespace {

std::string name_of(const ChunkOperand& operand) {
  return operand.box == operand.array->box()
             ? operand.array->describe()
             : fmt::format("{} of {}", to_string(operand.box), operand.array->describe());
}

Status check_access(const ChunkOperand& operand) {
  const ArrayBase& array = *operand.array;
  return (operand.is_written ? array.check_writable() : array.check_readable())
      .context(name_of(operand));
}

Status check_extents_of(const ChunkOperand& operand, const ChunkOperand& first) {
  if (operand.along < 0) {
    if (operand.box.extents() == first.box.extents()) {
      return {};
    }
    return Status::error(Code::invalid_argument,
                         fmt::format("extents differ: {} of {}, and {} of {}; they must be equal",
                                     to_string(first.box.extents()), name_of(first),
                                     to_string(operand.box.extents()), name_of(operand)));
  }
  if (operand.box.ndims() == 1 && operand.along < first.box.ndims() &&
      operand.box.extent(0) == first.box.extent(operand.along)) {
    return {};
  }
  return Status::error(
      Code::invalid_argument,
      fmt::format("the vector {} has extent {}, but dimension {} of {} has {} elements",
                  name_of(operand), to_string(operand.box.extents()), operand.along, name_of(first),
                  operand.along < first.box.ndims() ? first.box.extent(operand.along) : 0));
}

// Every member of the first operand's team must be able to reach the operand.
Status check_team(const ChunkOperand& operand, const ChunkOperand& first) {
  const rma::Team& team = operand.array->team();
  if (team.shared_state() == first.array->team().shared_state()) {
    return {};
  }
  for (const rma::WorldRank member : first.array->team().members()) {
    if (team.team_rank(member).value < 0) {
      return Status::error(Code::invalid_argument,
                           fmt::format("{} and {} are on different teams: rank {} is not in the "
                                       "second's",
                                       name_of(first), name_of(operand), member.value))
          .hint("copy it into an array on a team that has all members of the first's");
    }
  }
  return {};
}

// A rank could write an element that another one has yet to read, unless each index means the same
// element in both; then one rank reads and writes it.
Status check_overlap(const ChunkOperand& one, const ChunkOperand& other) {
  if (!(one.is_written || other.is_written) ||
      !share_memory(*one.array, one.box, *other.array, other.box)) {
    return {};
  }
  const bool is_one_element = one.along < 0 && other.along < 0 && one.box == other.box &&
                              is_same_layout(*one.array, *other.array);
  if (is_one_element) {
    return {};
  }
  const ChunkOperand& written = one.is_written ? one : other;
  const ChunkOperand& read = one.is_written ? other : one;
  return Status::error(Code::invalid_argument,
                       fmt::format("{} is written while {}, which is in the same memory, is read",
                                   name_of(written), name_of(read)))
      .hint("copy the part that is read into another array first");
}

Status check_operand(const ChunkOperand& operand, const ChunkOperand& first) {
  TESSERA_RETURN_IF_ERROR(operand.array->check_open());
  TESSERA_RETURN_IF_ERROR(
      check_inside(operand.box, operand.array->extents()).context(operand.array->describe()));
  TESSERA_RETURN_IF_ERROR(check_access(operand));
  if (&operand == &first) {
    return {};
  }
  TESSERA_RETURN_IF_ERROR(check_extents_of(operand, first));
  return check_team(operand, first);
}

// The part of the operand's box that corresponds to `piece`, a part of the first operand's box.
Box corresponding_box(const Box& piece, const ChunkOperand& operand, const ChunkOperand& first) {
  if (operand.along >= 0) {
    Box box = operand.box;
    const std::int64_t shift = operand.box.lo(0) - first.box.lo(operand.along);
    box.set(0, piece.lo(operand.along) + shift, piece.hi(operand.along) + shift);
    return box;
  }
  return piece.shifted(shift_between(first.box, operand.box));
}

// An operand's strides, extended to the `ndims` dimensions of the first operand.
Strides extended_strides(const Strides& strides, const ChunkOperand& operand, int ndims) {
  if (operand.along < 0) {
    return strides;
  }
  Strides all = Strides::zeros(ndims);
  all[operand.along] = strides[0];
  return all;
}

// Calls `body(patch)` for the parts of `box` that this rank owns; loops over its own blocks or over
// those of the box, whichever are fewer.
template <class Body>
Status for_each_own_patch(const ArrayBase& array, const Box& box, Body&& body) {
  const rma::TeamRank self = array.team().rank();
  const Distribution& distribution = array.distribution();
  if (box.is_empty()) {
    return {};
  }
  Patches patches = distribution.patches(box);
  if (patches.remaining() <= distribution.block_count(self)) {
    for (const Patch& patch : patches) {
      if (patch.owner == self) {
        TESSERA_RETURN_IF_ERROR(body(patch));
      }
    }
    return {};
  }
  for (const Patch& block : distribution.blocks(self)) {
    Patch patch = block;
    patch.box = intersect(block.box, box);
    patch.offset += distance(block.box.lo(), patch.box.lo(), block.strides);
    if (!patch.box.is_empty()) {
      TESSERA_RETURN_IF_ERROR(body(static_cast<const Patch&>(patch)));
    }
  }
  return {};
}

// The extents of a tile with at most `most` elements; halves the slowest dimension first, so that
// runs stay long.
Extents tile_of(const Extents& extents, MemoryOrder order, std::int64_t most) {
  Extents tile = extents;
  const int ndims = extents.ndims();
  for (int k = 0; k < ndims && volume(tile) > most; ++k) {
    const int dim = order == MemoryOrder::row_major ? k : ndims - 1 - k;
    const std::int64_t others = volume(tile) / tile[dim];
    tile[dim] = std::clamp<std::int64_t>(most / others, 1, tile[dim]);
  }
  return tile;
}

// The implementation of for_each_chunk().
class ChunkWalk {
 public:
  ChunkWalk(std::span<const ChunkOperand> operands, const ChunkBody& body)
      : operands_(operands), body_(body) {}

  Status run() {
    TESSERA_RETURN_IF_ERROR(begin_access());
    Status status =
        for_each_own_patch(array(0), first().box, [&](const Patch& patch) { return work(patch); });
    for (rma::LocalAccess& access : accesses_) {
      Status ended = access.end();
      status = status.ok() ? std::move(ended) : std::move(status);
    }
    return status;
  }

 private:
  struct Tile {
    Chunk chunk;
    std::array<std::vector<std::byte>, max_operands> buffers;
    Handle fetches;  // last, since its destructor waits for transfers into the buffers
  };

  [[nodiscard]] const ChunkOperand& first() const noexcept { return operands_[0]; }
  [[nodiscard]] const ArrayBase& array(std::size_t k) const noexcept { return *operands_[k].array; }

  // Begins a local access to this rank's memory, once for each region.
  Status begin_access() {
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      const auto same = [&](const ChunkOperand& other) {
        return other.array->region().shared_state() == array(k).region().shared_state();
      };
      const auto before = operands_.first(k);
      if (std::none_of(before.begin(), before.end(), same)) {
        TESSERA_ASSIGN_OR_RETURN(auto access, rma::LocalAccess::begin(array(k).region()));
        accesses_.push_back(std::move(access));
      }
    }
    return {};
  }

  // The elements if they are contiguous in this node's memory; else null data.
  [[nodiscard]] Chunk::Memory in_place(std::size_t k, const Box& box) const {
    const Box theirs = corresponding_box(box, operands_[k], first());
    Patches patches = array(k).distribution().patches(theirs);
    if (patches.remaining() != 1) {
      return {};
    }
    const Patch& patch = *patches.begin();
    rma::Region& region = array(k).region();
    std::byte* const slice =
        patch.owner == array(k).team().rank() ? region.local() : region.direct(patch.owner);
    if (slice == nullptr) {
      return {};
    }
    return {slice + patch.offset * static_cast<std::int64_t>(array(k).element_bytes()),
            extended_strides(patch.strides, operands_[k], box.ndims())};
  }

  Status work(const Patch& patch) {
    Chunk chunk;
    chunk.box = patch.box;
    std::int64_t most = patch.box.volume();
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      chunk.operands[k] = in_place(k, patch.box);
      is_fetched_[k] = chunk.operands[k].data == nullptr;
      if (is_fetched_[k]) {
        most = std::min(most,
                        std::max<std::int64_t>(
                            1, chunk_bytes / static_cast<std::int64_t>(array(k).element_bytes())));
      }
    }
    if (std::none_of(is_fetched_.begin(), is_fetched_.end(), [](bool is) { return is; })) {
      return body_(chunk);
    }
    return work_in_tiles(chunk, patch, most);
  }

  // Two tiles alternate: one is fetched during the work on the other.
  Status work_in_tiles(const Chunk& whole, const Patch& patch, std::int64_t most) {
    const Extents tile = tile_of(patch.box.extents(), patch.order, most);
    Extents counts = tile;
    for (int dim = 0; dim < tile.ndims(); ++dim) {
      counts[dim] = (patch.box.extent(dim) + tile[dim] - 1) / tile[dim];
    }
    Index at = Index::zeros(tile.ndims());
    start(tiles_[0], whole, tile_box(patch.box, tile, at), patch.order);
    for (int turn = 0;; turn = 1 - turn) {
      const bool has_next = advance(at, counts, MemoryOrder::row_major);
      Tile& now = tiles_[static_cast<std::size_t>(turn)];
      if (has_next) {
        start(tiles_[static_cast<std::size_t>(1 - turn)], whole, tile_box(patch.box, tile, at),
              patch.order);
      }
      TESSERA_RETURN_IF_ERROR(now.fetches.wait());
      TESSERA_RETURN_IF_ERROR(body_(now.chunk));
      if (!has_next) {
        return {};
      }
    }
  }

  static Box tile_box(const Box& box, const Extents& tile, const Index& at) {
    Box part = box;
    for (int dim = 0; dim < box.ndims(); ++dim) {
      const std::int64_t lo = box.lo(dim) + at[dim] * tile[dim];
      part.set(dim, lo, std::min(lo + tile[dim], box.hi(dim)));
    }
    return part;
  }

  void start(Tile& tile, const Chunk& whole, const Box& box, MemoryOrder order) {
    tile.chunk.box = box;
    tile.fetches = Handle();
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      if (is_fetched_[k]) {
        fetch(tile, k, box, order);
      } else {
        const Chunk::Memory& memory = whole.operands[k];
        tile.chunk.operands[k] = {
            memory.data + distance(whole.box.lo(), box.lo(), memory.strides) *
                              static_cast<std::int64_t>(array(k).element_bytes()),
            memory.strides};
      }
    }
  }

  void fetch(Tile& tile, std::size_t k, const Box& box, MemoryOrder order) {
    const Box theirs = corresponding_box(box, operands_[k], first());
    const Strides strides = dense_strides(theirs.extents(), order);
    std::vector<std::byte>& buffer = tile.buffers[k];
    buffer.resize(static_cast<std::size_t>(theirs.volume()) * array(k).element_bytes());
    tile.fetches.collect(array(k).get_box_async(theirs, {buffer.data(), strides}));
    tile.chunk.operands[k] = {buffer.data(), extended_strides(strides, operands_[k], box.ndims())};
  }

  std::span<const ChunkOperand> operands_;
  const ChunkBody& body_;
  std::vector<rma::LocalAccess> accesses_;
  std::array<bool, max_operands> is_fetched_ = {};
  std::array<Tile, 2> tiles_;
};

Status explain(Status status, std::string_view verb) {
  return status.ok() ? Status() : std::move(status).context(std::string(verb));
}

void add(detail::CallSignature& signature, std::span<const ChunkOperand> operands) {
  for (const ChunkOperand& operand : operands) {
    signature.add(*operand.array, operand.box).add(operand.along);
  }
}

Status fence_all(std::span<const ChunkOperand> operands) {
  Status fenced;
  for (const ChunkOperand& operand : operands) {
    Status status = operand.array->region().fence();
    fenced = fenced.ok() ? std::move(status) : std::move(fenced);
  }
  return fenced;
}

}  // namespace

Status check_operands(std::string_view verb, std::span<const ChunkOperand> operands) {
  if (operands.size() > max_operands) {
    return explain(Status::error(Code::invalid_argument,
                                 fmt::format("{} operands are given; at most {} are possible",
                                             operands.size(), max_operands)),
                   verb);
  }
  for (const ChunkOperand& operand : operands) {
    TESSERA_RETURN_IF_ERROR(explain(check_operand(operand, operands[0]), verb));
  }
  for (std::size_t k = 1; k < operands.size(); ++k) {
    for (const ChunkOperand& before : operands.first(k)) {
      TESSERA_RETURN_IF_ERROR(explain(check_overlap(before, operands[k]), verb));
    }
  }
  return {};
}

Status for_each_chunk(std::span<const ChunkOperand> operands, const ChunkBody& body) {
  return rma::detail::catch_bad_alloc([&] { return ChunkWalk(operands, body).run(); });
}

Status begin_on_chunks(std::string_view verb, std::span<const ChunkOperand> operands, Status found,
                       std::span<const ChunkOperand> beside, const detail::CallSignature& given) {
  Status own_status = found.ok() ? check_operands(verb, operands) : std::move(found);
  if (!operands[0].array->region()) {
    return own_status;
  }
  detail::CallSignature signature(verb, *operands[0].array);
  if (own_status.ok()) {
    signature.add(given);
    add(signature, operands);
    add(signature, beside);
    own_status = explain(fence_all(operands), verb);
  }
  Status all = operands[0].array->team().agree(own_status, signature.asked());
  if (all.ok() || !own_status.ok()) {
    return all;
  }
  // A rank that gets another rank's error, or a lost rank, also gets the name of the operation.
  return std::move(all).context(fmt::format("{} of {}", verb, name_of(operands[0])));
}

Status on_chunks(std::string_view verb, std::span<const ChunkOperand> operands,
                 const ChunkBody& body, Status found, std::span<const ChunkOperand> beside,
                 const detail::CallSignature& given) {
  const detail::CallScope scope(verb, *operands[0].array);
  TESSERA_RETURN_IF_ERROR(begin_on_chunks(verb, operands, std::move(found), beside, given));
  return explain(operands[0].array->sync(for_each_chunk(operands, body)), verb);
}

LoopNest loop_nest(const Chunk& chunk, int operands) noexcept {
  // The dimensions with more than one element, the first operand's fastest first.
  std::array<int, max_dims> dims = {};
  int count = 0;
  for (int dim = 0; dim < chunk.box.ndims(); ++dim) {
    if (chunk.box.extent(dim) > 1) {
      dims[static_cast<std::size_t>(count++)] = dim;
    }
  }
  const Strides& leading = chunk.operands[0].strides;
  std::stable_sort(dims.begin(), dims.begin() + count,
                   [&](int a, int b) { return leading[a] < leading[b]; });
  LoopNest nest;
  LoopNest::Level* below = nullptr;
  for (int i = 0; i < count; ++i) {
    const int dim = dims[static_cast<std::size_t>(i)];
    LoopNest::Level level{chunk.box.extent(dim), {}};
    bool continues = below != nullptr;
    for (std::size_t k = 0; k < static_cast<std::size_t>(operands); ++k) {
      level.strides[k] = chunk.operands[k].strides[dim];
      continues = continues && level.strides[k] == below->strides[k] * below->count;
    }
    if (continues) {
      below->count *= level.count;
    } else if (below == nullptr) {
      nest.run = level;
      below = &nest.run;
    } else {
      below = &nest.level[static_cast<std::size_t>(nest.levels++)];
      *below = level;
    }
  }
  return nest;
}

}  // namespace tessera::arrays
