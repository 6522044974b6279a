// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/scratch.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <utility>

#include "linalg/buffers.hpp"

namespace tessera::linalg::detail {

using rma::Status;

namespace {

// Pieces of at least this size use large pages, if the system has them. Otherwise each small page
// costs a fault at its first write, and a matrix product writes tens of thousands. Smaller pieces
// are not kept here: the allocator keeps them.
constexpr std::size_t large_page = std::size_t{2} << 20U;
constexpr std::size_t cache_line = 64;

ScratchPiece allocate(std::size_t bytes) {
  const std::align_val_t alignment{bytes < large_page ? cache_line : large_page};
  ScratchPiece piece{{::operator new(bytes, alignment, std::nothrow), {alignment}}, bytes};
  if (piece.memory == nullptr) {
    piece.bytes = 0;
  } else if (bytes >= large_page) {
    madvise(piece.memory.get(), bytes / large_page * large_page,
            MADV_HUGEPAGE);  // a failure is harmless
  }
  return piece;
}

/// The spare pieces that a thread keeps. Used and spare pieces together never exceed the thread's
/// peak use.
class SparePieces {
 public:
  /// The smallest spare piece of at least `bytes`, else a new one; empty if memory runs out.
  ScratchPiece take(std::size_t bytes) {
    auto best = pieces_.end();
    for (auto each = pieces_.begin(); each != pieces_.end(); ++each) {
      if (each->bytes >= bytes && (best == pieces_.end() || each->bytes < best->bytes)) {
        best = each;
      }
    }
    if (best != pieces_.end()) {
      use(best->bytes);
      return std::exchange(*best, ScratchPiece());
    }
    const std::size_t peak_before = peak_bytes_;
    use(bytes);
    trim();
    ScratchPiece piece = allocate(bytes);
    if (piece.memory == nullptr) {
      bytes_in_use_ -= bytes;
      peak_bytes_ = peak_before;
    }
    return piece;
  }
  void put_back(ScratchPiece piece) noexcept {
    bytes_in_use_ -= piece.bytes;
    *smallest() = std::move(piece);
    trim();
  }
  void clear() noexcept {
    pieces_ = {};
    peak_bytes_ = bytes_in_use_;
  }

 private:
  // Room for the panels of two steps, a tile, and some more. If all are in use, the smallest is
  // freed.
  std::array<ScratchPiece, 8> pieces_;
  std::size_t bytes_in_use_ = 0;
  std::size_t peak_bytes_ = 0;

  std::array<ScratchPiece, 8>::iterator smallest() noexcept {
    return std::ranges::min_element(pieces_, {}, &ScratchPiece::bytes);
  }
  void use(std::size_t bytes) noexcept {
    bytes_in_use_ += bytes;
    peak_bytes_ = std::max(peak_bytes_, bytes_in_use_);
  }
  void trim() noexcept {
    std::ranges::sort(pieces_, {}, &ScratchPiece::bytes);
    std::size_t all = bytes_in_use_;
    for (const ScratchPiece& each : pieces_) {
      all += each.bytes;
    }
    for (auto each = pieces_.begin(); each != pieces_.end() && all > peak_bytes_; ++each) {
      all -= each->bytes;
      *each = {};
    }
  }
};

SparePieces& spares() noexcept {
  thread_local SparePieces all;
  return all;
}

}  // namespace

void FreeAligned::operator()(void* memory) const noexcept {
  ::operator delete(memory, alignment);
}

void Scratch::give_back() noexcept {
  if (piece_.bytes >= large_page) {
    spares().put_back(std::move(piece_));
  }
  piece_ = {};
}

Status Scratch::reserve(std::size_t bytes) {
  if (bytes <= piece_.bytes) {
    return {};
  }
  give_back();
  piece_ = bytes < large_page ? allocate(bytes) : spares().take(bytes);
  if (piece_.memory == nullptr) {
    return Status::error(rma::Code::no_memory, fmt::format("no memory for a buffer of {:.1f} MiB",
                                                           static_cast<double>(bytes) / 0x1p20))
        .hint("lower TESSERA_LINALG_BUFFER");
  }
  return {};
}

}  // namespace tessera::linalg::detail

void tessera::linalg::release_buffers() noexcept {
  detail::spares().clear();
}
