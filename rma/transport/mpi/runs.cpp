// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/runs.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "rma/base/rounding.hpp"
#include "rma/kernels/accumulate.hpp"
#include "rma/transport/mpi/error.hpp"

namespace tessera::rma::mpi {
namespace {

MPI_Aint aint(std::uint64_t displacement) noexcept {
  return static_cast<MPI_Aint>(displacement);
}

// Calls action(offset, bytes) for pieces that fit MPI's counts.
template <class Action>
Status in_pieces(std::size_t bytes, Action&& action) {
  for (std::size_t at = 0; at < bytes; at += max_call_bytes) {
    TESSERA_RETURN_IF_ERROR(action(at, std::min(max_call_bytes, bytes - at)));
  }
  return {};
}

Status get_word(const Run& run, std::byte* to) {
  const MPI_Datatype type = word_type(run.bytes);
  return check("MPI_Get_accumulate",
               MPI_Get_accumulate(nullptr, 0, type, to, 1, type, run.rank, aint(run.displacement),
                                  1, type, MPI_NO_OP, run.handle()));
}

// Windows of MPI's memory are whole pages, so the 4-byte word around a 2-byte one exists.
Status get_with_neighbour(const Run& run, std::byte* to) {
  constexpr std::uint64_t wide = sizeof(std::uint32_t);
  const std::uint64_t before = run.displacement % wide;
  const Run around{run.window, run.rank, run.displacement - before, wide};
  alignas(wide) std::array<std::byte, wide> word;
  TESSERA_RETURN_IF_ERROR(
      get_sides(around, word.data(), Sides::of(around.displacement, wide), nullptr));
  TESSERA_RETURN_IF_ERROR(run.window.flush_local(run.rank));
  std::memcpy(to, word.data() + before, run.bytes);
  return {};
}

// One element with as many bytes as `Word`.
template <class Word>
Status combine_element(const Run& run, const std::byte* from, const Scale& scale) {
  const MPI_Datatype type = word_type(sizeof(Word));
  const MPI_Aint at = aint(run.displacement);
  Word seen = 0;
  TESSERA_RETURN_IF_ERROR(check("MPI_Fetch_and_op", MPI_Fetch_and_op(nullptr, &seen, type, run.rank,
                                                                     at, MPI_NO_OP, run.handle())));
  TESSERA_RETURN_IF_ERROR(run.window.flush(run.rank));
  while (true) {
    const Word expected = seen;
    Word wanted = expected;
    kernels::accumulate_run(&wanted, from, sizeof(Word), scale);
    if (wanted == expected) {
      return {};
    }
    TESSERA_RETURN_IF_ERROR(
        check("MPI_Compare_and_swap",
              MPI_Compare_and_swap(&wanted, &expected, &seen, type, run.rank, at, run.handle())));
    TESSERA_RETURN_IF_ERROR(run.window.flush(run.rank));
    if (seen == expected) {
      return {};
    }
  }
}

}  // namespace

Status put_sides(const Run& run, const void* from, const Sides& sides, MPI_Request* request) {
  const auto [count, local, remote] = sides;
  if (request == nullptr) {
    return check("MPI_Put", MPI_Put(from, count, local, run.rank, aint(run.displacement), count,
                                    remote, run.handle()));
  }
  return check("MPI_Rput", MPI_Rput(from, count, local, run.rank, aint(run.displacement), count,
                                    remote, run.handle(), request));
}

Status get_sides(const Run& run, void* to, const Sides& sides, MPI_Request* request) {
  const auto [count, local, remote] = sides;
  if (request == nullptr) {
    return check("MPI_Get", MPI_Get(to, count, local, run.rank, aint(run.displacement), count,
                                    remote, run.handle()));
  }
  return check("MPI_Rget", MPI_Rget(to, count, local, run.rank, aint(run.displacement), count,
                                    remote, run.handle(), request));
}

Status update_sides(const Run& run, const void* from, const Sides& sides, MPI_Op op) {
  const auto [count, local, remote] = sides;
  return check("MPI_Accumulate",
               MPI_Accumulate(from, count, local, run.rank, aint(run.displacement), count, remote,
                              op, run.handle()));
}

Status put_run(const Run& run, const std::byte* from, MPI_Request* request) {
  if (run.needs_accumulate()) {
    return update_sides(run, from, Sides::of(run.displacement, run.bytes), MPI_REPLACE);
  }
  return in_pieces(run.bytes, [&](std::size_t at, std::size_t bytes) {
    const Run piece{run.window, run.rank, run.displacement + at, bytes};
    return put_sides(piece, from + at, Sides::of(piece.displacement, bytes), request);
  });
}

Status get_run(const Run& run, std::byte* to, MPI_Request* request) {
  if (run.needs_accumulate()) {
    return get_word(run, to);
  }
  if (run.is_torn_by_gets()) {
    return get_with_neighbour(run, to);
  }
  return in_pieces(run.bytes, [&](std::size_t at, std::size_t bytes) {
    const Run piece{run.window, run.rank, run.displacement + at, bytes};
    return get_sides(piece, to + at, Sides::of(piece.displacement, bytes), request);
  });
}

Status transfer_sides(const Run& run, std::byte* local, const Sides& sides,
                      kernels::Direction direction, MPI_Request* request) {
  return direction == kernels::Direction::to_remote ? put_sides(run, local, sides, request)
                                                    : get_sides(run, local, sides, request);
}

Status transfer_run(const Run& run, std::byte* local, kernels::Direction direction,
                    MPI_Request* request) {
  return direction == kernels::Direction::to_remote ? put_run(run, local, request)
                                                    : get_run(run, local, request);
}

Status OriginAccumulator::add(const Run& run, const std::byte* from) {
  constexpr std::size_t piece_bytes = 4096;
  for (std::size_t at = 0; at < run.bytes; at += piece_bytes) {
    const std::size_t bytes = std::min(piece_bytes, run.bytes - at);
    TESSERA_RETURN_IF_ERROR(
        add_piece({run.window, run.rank, run.displacement + at, bytes}, from + at));
  }
  return {};
}

Status OriginAccumulator::add_piece(const Run& piece, const std::byte* from) {
  constexpr std::size_t buffer_bytes = std::size_t{64} << 10U;
  constexpr std::size_t alignment = 16;  // of the longest elements
  if (used_ + piece.bytes > buffer_bytes) {
    TESSERA_RETURN_IF_ERROR(finish());
  }
  if (buffer_ == nullptr) {
    buffer_ = std::make_unique_for_overwrite<std::byte[]>(buffer_bytes);
  }
  pieces_.push_back({piece, from, used_});
  const Sides sides{static_cast<int>(piece.bytes), MPI_BYTE, MPI_BYTE};
  TESSERA_RETURN_IF_ERROR(get_sides(piece, buffer_.get() + used_, sides, nullptr));
  used_ += round_up(piece.bytes, alignment);
  return {};
}

Status OriginAccumulator::finish() {
  if (pieces_.empty()) {
    return {};
  }
  TESSERA_RETURN_IF_ERROR(epoch_.renew(false));
  for (const auto& [run, from, at] : pieces_) {
    std::byte* const sum = buffer_.get() + at;
    kernels::accumulate_run(sum, from, run.bytes, scale_);
    const Sides sides{static_cast<int>(run.bytes), MPI_BYTE, MPI_BYTE};
    TESSERA_RETURN_IF_ERROR(put_sides(run, sum, sides, nullptr));
  }
  pieces_.clear();
  used_ = 0;
  return epoch_.renew(true);
}

Status accumulate_run(const Run& run, const std::byte* from, const Scale& scale) {
  const AddedType added = added_type(scale.type());
  return in_pieces(run.bytes, [&](std::size_t at, std::size_t bytes) {
    const Run piece{run.window, run.rank, run.displacement + at, bytes};
    return update_sides(piece, from + at,
                        {static_cast<int>(bytes / added.bytes), added.type, added.type},
                        op_of(scale));
  });
}

Status combine_by_swaps(const Run& run, const std::byte* from, const Scale& scale) {
  const std::size_t element = size_of(scale.type());
  const auto combine = element == sizeof(std::uint8_t)    ? combine_element<std::uint8_t>
                       : element == sizeof(std::uint16_t) ? combine_element<std::uint16_t>
                       : element == sizeof(std::uint32_t) ? combine_element<std::uint32_t>
                                                          : combine_element<std::uint64_t>;
  for (std::size_t at = 0; at < run.bytes; at += element) {
    const Run one{run.window, run.rank, run.displacement + at, element};
    TESSERA_RETURN_IF_ERROR(combine(one, from + at, scale));
  }
  return {};
}

}  // namespace tessera::rma::mpi
