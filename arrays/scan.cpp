// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "arrays/array_base.hpp"
#include "arrays/block_partition_1d.hpp"
#include "arrays/detail/arithmetic.hpp"
#include "arrays/transform.hpp"

namespace tessera::arrays {

using rma::Code;
using rma::Result;
using rma::Status;

namespace {

Status check_vector(const ChunkOperand& operand) {
  return operand.box.ndims() == 1
             ? Status()
             : Status::error(Code::invalid_argument,
                             fmt::format("{} has {} dimensions", operand.array->describe(),
                                         operand.box.ndims()))
                   .hint("scans need vectors: arrays, or parts, of one dimension");
}

Status check_mask(const ChunkOperand& mask) {
  const auto& type = mask.array->element().type;
  return type && rma::is_integer(*type)
             ? Status()
             : Status::error(Code::invalid_argument,
                             fmt::format("the mask {} does not have integer elements",
                                         mask.array->describe()));
}

// The part [lo, lo + count) of `operand`, counted from its beginning.
Box vector_range(const ChunkOperand& operand, std::int64_t lo, std::int64_t count) {
  const std::int64_t first = operand.box.lo(0) + lo;
  return Box({first}, {first + count});
}

// A mask's elements as flags, for any integer type.
class MaskReader {
 public:
  explicit MaskReader(const ChunkOperand& mask) : mask_(mask) {}

  Status read(std::int64_t lo, std::int64_t count) {
    const std::size_t bytes = mask_.array->element_bytes();
    raw_.resize(static_cast<std::size_t>(count) * bytes);
    TESSERA_RETURN_IF_ERROR(
        mask_.array->get_box(vector_range(mask_, lo, count), {raw_.data(), Strides{1}}));
    flags_.resize(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < flags_.size(); ++i) {
      const auto first = raw_.begin() + static_cast<std::ptrdiff_t>(i * bytes);
      flags_[i] = std::any_of(first, first + static_cast<std::ptrdiff_t>(bytes),
                              [](std::byte byte) { return byte != std::byte{0}; });
    }
    return {};
  }
  [[nodiscard]] bool operator[](std::int64_t i) const {
    return flags_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] std::int64_t count() const {
    return std::count(flags_.begin(), flags_.end(), true);
  }

 private:
  const ChunkOperand& mask_;
  std::vector<std::byte> raw_;
  std::vector<bool> flags_;
};

// The equal part of a vector that this rank works on, in pieces.
struct Share {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  std::int64_t piece = 1;

  // Calls body(lo, count) for each piece.
  template <class Body>
  Status for_each_piece(Body&& body) const {
    for (std::int64_t at = lo; at < hi; at += piece) {
      TESSERA_RETURN_IF_ERROR(body(at, std::min(piece, hi - at)));
    }
    return {};
  }
};

Result<Share> share_of(const rma::Team& team, std::int64_t length, std::size_t element_bytes) {
  TESSERA_ASSIGN_OR_RETURN(const BlockPartition1D partition,
                           BlockPartition1D::even(length, team.size()));
  const std::int64_t self = team.rank().value;
  return Share{partition.lo(self), partition.hi(self),
               chunk_bytes / static_cast<std::int64_t>(element_bytes)};
}

Status check_vectors(std::string_view verb, std::span<const ChunkOperand> operands,
                     const ChunkOperand& mask) {
  for (const ChunkOperand& operand : operands) {
    TESSERA_RETURN_IF_ERROR(operand.array->check_open().context(verb));
    TESSERA_RETURN_IF_ERROR(check_vector(operand).context(verb));
  }
  return check_mask(mask).context(verb);
}

// Begins a scan: checks the operands, and makes earlier writes visible.
Status begin(std::string_view verb, std::span<const ChunkOperand> operands,
             const ChunkOperand& mask, const detail::CallSignature& given = {}) {
  return begin_on_chunks(verb, operands, check_vectors(verb, operands, mask), {}, given);
}

// The value that a rank's share passes to the later shares.
template <class T>
struct ScanCarry {
  T value{};
  bool begins_segment = false;
};

// The two passes of a scan; `step(carry, element, is_first)` computes the next value.
template <class T, class Step, class Write>
class SegmentedScan {
 public:
  SegmentedScan(const Subarray<T>& from, const ChunkOperand& mask, const Subarray<T>& to, Step step,
                Write write)
      : from_(reads(from)), mask_(mask), to_(writes(to)), step_(step), write_(write) {}

  Status run() {
    rma::Team& team = to_.array->team();
    TESSERA_ASSIGN_OR_RETURN(const Share share, share_of(team, to_.box.extent(0), sizeof(T)));
    ScanCarry<T> mine;
    TESSERA_RETURN_IF_ERROR(team.agree([&] { return pass_over(share, mine, false); }));
    TESSERA_ASSIGN_OR_RETURN(const auto all, team.allgather_value(mine));
    ScanCarry<T> carry;
    for (std::int32_t rank = 0; rank < team.rank().value; ++rank) {
      const ScanCarry<T>& next = all[static_cast<std::size_t>(rank)];
      carry = next.begins_segment
                  ? next
                  : ScanCarry<T>{step_.join(carry.value, next.value), carry.begins_segment};
    }
    return to_.array->sync([&] { return pass_over(share, carry, true); });
  }

 private:
  Status pass_over(const Share& share, ScanCarry<T>& carry, bool writes) {
    return share.for_each_piece(
        [&](std::int64_t lo, std::int64_t count) { return pass(lo, count, carry, writes); });
  }
  Status pass(std::int64_t lo, std::int64_t count, ScanCarry<T>& carry, bool writes) {
    TESSERA_RETURN_IF_ERROR(flags_.read(lo, count));
    TESSERA_RETURN_IF_ERROR(fetch(from_, lo, count, elements_));
    if (writes) {
      TESSERA_RETURN_IF_ERROR(fetch(to_, lo, count, results_));
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const ScanCarry<T> before = carry;
      carry.value = step_.next(carry.value, elements_[at], flags_[i]);
      carry.begins_segment = carry.begins_segment || flags_[i];
      if (writes) {
        write_(results_[at], before, carry, flags_[i]);
      }
    }
    return writes ? to_.array->put_box(vector_range(to_, lo, count), {results_.data(), Strides{1}})
                  : Status();
  }
  static Status fetch(const ChunkOperand& operand, std::int64_t lo, std::int64_t count,
                      std::vector<T>& values) {
    values.resize(static_cast<std::size_t>(count));
    return operand.array->get_box(vector_range(operand, lo, count), {values.data(), Strides{1}});
  }

  ChunkOperand from_;
  const ChunkOperand& mask_;
  ChunkOperand to_;
  Step step_;
  Write write_;
  MaskReader flags_{mask_};
  std::vector<T> elements_;
  std::vector<T> results_;
};

// The running value of scan_copy: the element at the last beginning of a segment.
template <class T>
struct CopyStep {
  T next(T before, T element, bool begins) const { return begins ? element : before; }
  T join(T before, T) const { return before; }
};

// The running value of scan_add: the sum within the segment.
template <class T>
struct AddStep {
  T next(T before, T element, bool begins) const {
    return begins ? element : detail::add(before, element);
  }
  T join(T before, T sum) const { return detail::add(before, sum); }
};

// The number of elements that the mask selects before this rank's share, and in total.
struct ScanSelection {
  std::int64_t before = 0;
  std::int64_t all = 0;
};

Result<ScanSelection> count_selected(rma::Team& team, const Share& share, MaskReader& flags) {
  std::int64_t mine = 0;
  const auto add = [&](std::int64_t lo, std::int64_t count) {
    Status read = flags.read(lo, count);
    mine += read.ok() ? flags.count() : 0;
    return read;
  };
  TESSERA_RETURN_IF_ERROR(team.agree([&] { return share.for_each_piece(add); }));
  TESSERA_ASSIGN_OR_RETURN(const auto counts, team.allgather_value(mine));
  ScanSelection selected;
  for (std::int32_t rank = 0; rank < team.size(); ++rank) {
    const std::int64_t count = counts[static_cast<std::size_t>(rank)];
    selected.before += rank < team.rank().value ? count : 0;
    selected.all += count;
  }
  return selected;
}

Status check_selected(std::string_view verb, const ScanSelection& selected,
                      const ChunkOperand& packed) {
  return selected.all <= packed.box.extent(0)
             ? Status()
             : packed.array->name_rank(Status::error(
                   Code::invalid_argument,
                   fmt::format("{}: the mask selects {} elements, but {} of {} has {}", verb,
                               selected.all, to_string(packed.box), packed.array->describe(),
                               packed.box.extent(0))));
}

// Checks operands of which one, the packed one, may have a different length.
Status check_packing(std::string_view verb, const ChunkOperand& loose, const ChunkOperand& packed,
                     const ChunkOperand& mask) {
  TESSERA_RETURN_IF_ERROR(check_vectors(verb, std::array{loose, packed, mask}, mask));
  const std::array of_one_length{loose, mask};
  TESSERA_RETURN_IF_ERROR(check_operands(verb, of_one_length));
  TESSERA_RETURN_IF_ERROR(check_operands(verb, std::span(&packed, 1)));
  // Ranks move elements to and from other ranks at any time.
  const ChunkOperand& result = packed.is_written ? packed : loose;
  const ChunkOperand& source = packed.is_written ? loose : packed;
  for (const ChunkOperand* const read : {&source, &mask}) {
    if (share_memory(*result.array, result.box, *read->array, read->box)) {
      return Status::error(Code::invalid_argument,
                           fmt::format("{}: the result is in the memory of {}", verb,
                                       read->array->describe()))
          .hint("use another array for one of the two");
    }
  }
  return {};
}

// The work of one rank in pack() or unpack().
struct Packing {
  Share share;  // of the loose elements
  MaskReader flags;
  ScanSelection selected;
};

// Begins with such operands: each is fenced separately, and the result's team synchronises.
Result<Packing> begin_packing(std::string_view verb, const ChunkOperand& loose,
                              const ChunkOperand& packed, const ChunkOperand& mask) {
  Status mine = check_packing(verb, loose, packed, mask);
  for (const ChunkOperand* const operand : {&loose, &packed, &mask}) {
    mine = mine.ok() ? operand->array->fence().context(verb) : std::move(mine);
  }
  const ChunkOperand& result = loose.is_written ? loose : packed;
  const std::array all{loose, packed, mask};
  TESSERA_RETURN_IF_ERROR(begin_on_chunks(verb, std::span(&result, 1), std::move(mine), all));
  rma::Team& team = result.array->team();
  TESSERA_ASSIGN_OR_RETURN(const Share share,
                           share_of(team, loose.box.extent(0), result.array->element_bytes()));
  Packing packing{share, MaskReader(mask), {}};
  const auto selected = count_selected(team, share, packing.flags);
  TESSERA_RETURN_IF_ERROR(Status(selected.status()).context(verb));
  packing.selected = *selected;
  TESSERA_RETURN_IF_ERROR(check_selected(verb, packing.selected, packed));
  return packing;
}

}  // namespace

template <rma::Element T>
Status detail::Scans<T>::enumerate(const Subarray<T>& result, T start, T step) {
  const std::int64_t first = result.box().ndims() == 1 ? result.box().lo(0) : 0;
  const auto set = [=](const Index& at, T& element) {
    if constexpr (rma::ComplexElement<T>) {
      using Real = typename T::value_type;
      element = start + static_cast<Real>(at[0] - first) * step;
    } else {
      element = detail::add(start, detail::multiply(static_cast<T>(at[0] - first), step));
    }
  };
  return visit_elements("enumerate", result, set, check_vector(writes(result)).context("enumerate"),
                        CallSignature().add_scalar(start).add_scalar(step));
}

template <rma::Element T>
Status detail::Scans<T>::copy(const Subarray<T>& from, const ChunkOperand& mask,
                              const Subarray<T>& to) {
  const std::array operands{writes(to), reads(from), mask};
  const CallScope scope("scan_copy", to.array());
  TESSERA_RETURN_IF_ERROR(begin("scan_copy", operands, mask));
  const auto write = [](T& result, const ScanCarry<T>&, const ScanCarry<T>& now, bool) {
    result = now.begins_segment ? now.value : result;
  };
  return SegmentedScan<T, CopyStep<T>, decltype(write)>(from, mask, to, {}, write)
      .run()
      .context("scan_copy");
}

template <rma::Element T>
Status detail::Scans<T>::add(const Subarray<T>& from, const ChunkOperand& mask,
                             const Subarray<T>& to, ScanKind kind) {
  const std::array operands{writes(to), reads(from), mask};
  const CallScope scope("scan_add", to.array());
  TESSERA_RETURN_IF_ERROR(begin("scan_add", operands, mask, CallSignature().add(kind)));
  const auto write = [kind](T& result, const ScanCarry<T>& before, const ScanCarry<T>& now,
                            bool begins) {
    result = kind == ScanKind::inclusive ? now.value : begins ? T{} : before.value;
  };
  return SegmentedScan<T, AddStep<T>, decltype(write)>(from, mask, to, {}, write)
      .run()
      .context("scan_add");
}

template <rma::Element T>
Result<std::int64_t> detail::Scans<T>::pack(const Subarray<T>& from, const ChunkOperand& mask,
                                            const Subarray<T>& to) {
  const ChunkOperand loose = reads(from);
  const ChunkOperand packed = writes(to);
  const CallScope scope("pack", to.array());
  TESSERA_ASSIGN_OR_RETURN(Packing packing, begin_packing("pack", loose, packed, mask));
  MaskReader& flags = packing.flags;
  ScanSelection& selected = packing.selected;
  std::vector<T> elements;
  const auto move = [&](std::int64_t lo, std::int64_t count) -> Status {
    TESSERA_RETURN_IF_ERROR(flags.read(lo, count));
    elements.resize(static_cast<std::size_t>(count));
    TESSERA_RETURN_IF_ERROR(
        from.array().get_box(vector_range(loose, lo, count), {elements.data(), Strides{1}}));
    std::int64_t kept = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      if (flags[i]) {
        elements[static_cast<std::size_t>(kept++)] = elements[static_cast<std::size_t>(i)];
      }
    }
    const Box range = vector_range(packed, selected.before, kept);
    selected.before += kept;
    return to.array().put_box(range, {elements.data(), Strides{1}});
  };
  TESSERA_RETURN_IF_ERROR(
      to.array().sync([&] { return packing.share.for_each_piece(move); }).context("pack"));
  return selected.all;
}

template <rma::Element T>
Result<std::int64_t> detail::Scans<T>::unpack(const Subarray<T>& from, const ChunkOperand& mask,
                                              const Subarray<T>& to) {
  const ChunkOperand packed = reads(from);
  const ChunkOperand loose = writes(to);
  const CallScope scope("unpack", to.array());
  TESSERA_ASSIGN_OR_RETURN(Packing packing, begin_packing("unpack", loose, packed, mask));
  MaskReader& flags = packing.flags;
  ScanSelection& selected = packing.selected;
  std::vector<T> elements;
  std::vector<T> moved;
  const auto move = [&](std::int64_t lo, std::int64_t count) -> Status {
    TESSERA_RETURN_IF_ERROR(flags.read(lo, count));
    const std::int64_t taken = flags.count();
    moved.resize(static_cast<std::size_t>(taken) + 1);  // one more, so that the buffer is not null
    TESSERA_RETURN_IF_ERROR(from.array().get_box(vector_range(packed, selected.before, taken),
                                                 {moved.data(), Strides{1}}));
    selected.before += taken;
    elements.resize(static_cast<std::size_t>(count));
    const Box range = vector_range(loose, lo, count);
    TESSERA_RETURN_IF_ERROR(to.array().get_box(range, {elements.data(), Strides{1}}));
    std::size_t next = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      if (flags[i]) {
        elements[static_cast<std::size_t>(i)] = moved[next++];
      }
    }
    return to.array().put_box(range, {elements.data(), Strides{1}});
  };
  TESSERA_RETURN_IF_ERROR(
      to.array().sync([&] { return packing.share.for_each_piece(move); }).context("unpack"));
  return selected.all;
}

template struct detail::Scans<std::int8_t>;
template struct detail::Scans<std::int16_t>;
template struct detail::Scans<std::int32_t>;
template struct detail::Scans<std::int64_t>;
template struct detail::Scans<std::uint8_t>;
template struct detail::Scans<std::uint16_t>;
template struct detail::Scans<std::uint32_t>;
template struct detail::Scans<std::uint64_t>;
template struct detail::Scans<float>;
template struct detail::Scans<double>;
template struct detail::Scans<std::complex<float>>;
template struct detail::Scans<std::complex<double>>;

}  // namespace tessera::arrays
