// SPDX-License-Identifier: BSD-3-Clause
#include "rma/protocol/origin_accumulate.hpp"

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/engine/accumulate_tickets.hpp"
#include "rma/kernels/accumulate.hpp"
#include "rma/protocol/overlap.hpp"

namespace tessera::rma::detail {
namespace {

/// What all parts of one accumulate have in common.
struct Work {
  const RemotePath& path;
  const Target& to;
  std::span<std::byte> buffer;
  const Scale& scale;
};

// Gets a part into the buffer, adds to it there and puts it back. `get` and `put` start these
// transfers.
template <class Get, class Add, class Put>
Status get_add_put(const RemotePath& path, const Get& get, const Add& add, const Put& put) {
  Completion done;
  get(done);
  TESSERA_RETURN_IF_ERROR(path.job.transports().finish(done, {"a get from", path.peer}));
  add();
  put(done);
  return path.job.transports().finish(done, {"a put to", path.peer});
}

std::uint64_t distance_of(std::int64_t stride) noexcept {
  const auto bits = static_cast<std::uint64_t>(stride);
  return stride < 0 ? std::uint64_t{0} - bits : bits;
}

// True if no two runs of the target share a byte. May be false for runs that don't, in patterns
// with interleaved levels.
bool is_disjoint(const CopyShape& shape) noexcept {
  auto level = shape.level;
  const auto end = level.begin() + shape.levels;
  // Not std::sort(): GCC 12 warns that it reads past the end of so short an array.
  std::partial_sort(level.begin(), end, end,
                    [](const CopyShape::Level& a, const CopyShape::Level& b) {
                      return distance_of(a.remote_stride) < distance_of(b.remote_stride);
                    });
  std::uint64_t extent = shape.run_bytes;
  return std::all_of(level.begin(), end, [&](const CopyShape::Level& each) {
    const std::uint64_t distance = distance_of(each.remote_stride);
    const bool is_apart = distance >= extent;
    extent += distance * static_cast<std::uint64_t>(each.count - 1);
    return is_apart;
  });
}

// A part that fits into the buffer, in which its runs are contiguous.
Status add_part(const Work& work, std::int64_t offset, const std::byte* from,
                const CopyShape& shape) {
  CopyShape between = shape;  // buffer and target
  CopyShape adding = shape;   // source and buffer
  auto packed = static_cast<std::int64_t>(shape.run_bytes);
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape.levels); ++i) {
    between.level[i].local_stride = packed;
    adding.level[i].remote_stride = packed;
    packed *= shape.level[i].count;
  }
  between = between.normalised();
  const Target to = moved(work.to, offset);
  std::byte* const buffer = work.buffer.data();
  return get_add_put(
      work.path, [&](Completion& done) { get_remote(work.path, buffer, to, between, done); },
      [&] { kernels::accumulate_shape(buffer, from, adding.normalised(), work.scale); },
      [&](Completion& done) { put_remote(work.path, to, buffer, between, done); });
}

// The buffer holds whole elements of every type.
static_assert(AccumulateTickets::buffer_bytes % sizeof(std::complex<double>) == 0);

Status add_run(const Work& work, std::int64_t offset, const std::byte* from, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t step = std::min(work.buffer.size(), bytes - done);
    TESSERA_RETURN_IF_ERROR(add_part(work, offset + static_cast<std::int64_t>(done), from + done,
                                     CopyShape::contiguous(step)));
    done += step;
  }
  return {};
}

// Splits the outermost level until parts fit into the buffer and contain no byte twice. Each
// recursive call has fewer levels than its caller, or is the last.
Status add_shape(const Work& work, std::int64_t offset, const std::byte* from,
                 const CopyShape& shape) {
  if (shape.levels == 0) {
    return add_run(work, offset, from, shape.run_bytes);
  }
  const bool is_apart = is_disjoint(shape);
  if (is_apart && shape.total_bytes() <= work.buffer.size()) {
    return add_part(work, offset, from, shape);
  }
  CopyShape part = shape;
  CopyShape::Level& outer = part.level[static_cast<std::size_t>(shape.levels - 1)];
  const std::int64_t all = outer.count;
  outer.count = 1;
  const auto fitting = static_cast<std::int64_t>(work.buffer.size() / part.total_bytes());
  const std::int64_t step = is_apart ? std::max(fitting, std::int64_t{1}) : 1;
  for (std::int64_t i = 0; i < all; i += step) {
    outer.count = std::min(step, all - i);
    TESSERA_RETURN_IF_ERROR(add_shape(work, offset + i * outer.remote_stride,
                                      from + i * outer.local_stride, part.normalised()));
  }
  return {};
}

/// Fragments between buffer and target, and the sources to add to each.
struct FragmentBatch {
  std::vector<Fragment> pieces;
  std::vector<const std::byte*> sources;
  std::size_t bytes = 0;
};

// Halves the list until no two pieces overlap; the halves are done one after the other.
Status add_pieces(const Work& work, Fragments pieces, std::span<const std::byte* const> sources) {
  if (pieces.size() > 1 && !check_remote_overlap(pieces).ok()) {
    const std::size_t half = pieces.size() / 2;
    TESSERA_RETURN_IF_ERROR(add_pieces(work, pieces.first(half), sources.first(half)));
    return add_pieces(work, pieces.subspan(half), sources.subspan(half));
  }
  return get_add_put(
      work.path, [&](Completion& done) { get_remote(work.path, work.to, pieces, done); },
      [&] {
        for (std::size_t i = 0; i < pieces.size(); ++i) {
          kernels::accumulate_run(pieces[i].local, sources[i], pieces[i].bytes, work.scale);
        }
      },
      [&](Completion& done) { put_remote(work.path, work.to, pieces, done); });
}

Status add_batch(const Work& work, FragmentBatch& batch) {
  Status status = batch.pieces.empty() ? Status() : add_pieces(work, batch.pieces, batch.sources);
  batch.pieces.clear();
  batch.sources.clear();
  batch.bytes = 0;
  return status;
}

Status add_fragments(const Work& work, Fragments fragments) {
  FragmentBatch batch;
  for (const Fragment& each : fragments) {
    for (std::size_t done = 0; done < each.bytes;) {
      const std::size_t step = std::min(work.buffer.size() - batch.bytes, each.bytes - done);
      batch.pieces.push_back({work.buffer.data() + batch.bytes, each.remote_offset + done, step});
      batch.sources.push_back(static_cast<const std::byte*>(each.local) + done);
      batch.bytes += step;
      done += step;
      if (batch.bytes == work.buffer.size()) {
        TESSERA_RETURN_IF_ERROR(add_batch(work, batch));
      }
    }
  }
  return add_batch(work, batch);
}

// Fences, so that the next holder of the ticket finds the sums.
template <class Add>
Status add_and_fence(const RemotePath& path, const Target& to, const Scale& scale, const Add& add) {
  TESSERA_ASSIGN_OR_RETURN(const AccumulateTickets::Buffer buffer,
                           path.job.accumulate_tickets()->allocate_buffer());
  Status added = catch_bad_alloc([&] { return add(Work{path, to, buffer.bytes(), scale}); });
  Status fenced = path.endpoint.is_fenced(to.region) ? Status() : path.endpoint.fence();
  return added.ok() ? std::move(fenced) : std::move(added);
}

}  // namespace

Status accumulate_by_origin(const RemotePath& path, const Target& to, const void* from,
                            const CopyShape& shape, const Scale& scale) {
  return add_and_fence(path, to, scale, [&](const Work& work) {
    return add_shape(work, 0, static_cast<const std::byte*>(from), shape);
  });
}

Status accumulate_by_origin(const RemotePath& path, const Target& to, Fragments fragments,
                            const Scale& scale) {
  return add_and_fence(path, to, scale,
                       [&](const Work& work) { return add_fragments(work, fragments); });
}

}  // namespace tessera::rma::detail
