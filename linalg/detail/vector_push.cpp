// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/vector_push.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <utility>

#include "rma/notify.hpp"

namespace tessera::linalg::detail {

using arrays::Array;
using rma::Code;
using rma::Result;
using rma::Status;

namespace {

constexpr std::uint64_t line_bytes = 64;

// A flag is the round whose elements have come; or below zero, the round for which they won't, and
// why.
constexpr std::int32_t codes = 16;
constexpr std::int32_t last_round = (1 << 26) - 1;

std::int32_t refusal(std::int32_t round, Code code) {
  return -(round * codes + static_cast<std::int32_t>(code));
}
bool is_refusal(std::int32_t flag, std::int32_t round) {
  return flag < 0 && -flag / codes == round;
}

std::uint64_t whole_lines(std::uint64_t bytes) {
  return (bytes + line_bytes - 1) / line_bytes * line_bytes;
}

// What goes to an owner: the place and the flag, then offset and length of each run.
constexpr std::size_t fixed_numbers = 2;

}  // namespace

template <SparseElement T>
std::uint64_t VectorPush<T>::flag_of(std::size_t number) const noexcept {
  return whole_lines(elements_ * sizeof(T)) + number * line_bytes;
}

template <SparseElement T>
Result<VectorPush<T>> VectorPush<T>::create(Array<T>& like, std::size_t elements,
                                            std::span<const Wanted> wanted) {
  VectorPush push(like.job(), elements);
  std::vector<RankList> asked;
  for (std::size_t number = 0; number < wanted.size(); ++number) {
    const Wanted& each = wanted[number];
    RankList& list = asked.emplace_back(RankList{each.owner, {}});
    list.numbers = {static_cast<std::int64_t>(each.place * sizeof(T)),
                    static_cast<std::int64_t>(push.flag_of(number))};
    for (const rma::Fragment& run : each.runs) {
      list.numbers.push_back(static_cast<std::int64_t>(run.remote_offset));
      list.numbers.push_back(static_cast<std::int64_t>(run.bytes));
    }
    push.sources_.push_back({each.owner, 0});
  }
  rma::Team& team = like.team();
  TESSERA_ASSIGN_OR_RETURN(const auto lists, exchange_lists(push.job_, team, asked));
  for (const RankList& list : lists) {
    push.add_reader(list);
  }
  TESSERA_ASSIGN_OR_RETURN(push.region_, rma::Region::allocate(team, push.flag_of(wanted.size()),
                                                               {.name = "elements of others"}));
  return push;
}

template <SparseElement T>
void VectorPush<T>::add_reader(const RankList& asked) {
  const auto number = [&](std::size_t i) { return static_cast<std::uint64_t>(asked.numbers[i]); };
  Reader reader{asked.rank, number(0), number(1), 0, {}};
  for (std::size_t i = fixed_numbers; i < asked.numbers.size(); i += 2) {
    reader.runs.push_back({number(i), number(i + 1)});
    reader.bytes += reader.runs.back().bytes;
  }
  if (reader.runs.size() > 1) {
    packed_.resize(std::max(packed_.size(), static_cast<std::size_t>(reader.bytes)));
  }
  readers_.push_back(std::move(reader));
}

template <SparseElement T>
std::span<T> VectorPush<T>::buffer() const noexcept {
  return {reinterpret_cast<T*>(region_.local()), elements_};
}

template <SparseElement T>
Status VectorPush<T>::send_to(const Reader& reader, const std::byte* slice) {
  const std::byte* from = slice + reader.runs.front().offset;
  if (reader.runs.size() > 1) {
    std::byte* to = packed_.data();
    for (const Run& run : reader.runs) {
      if (run.bytes == sizeof(T)) {  // what comes most often, of a size that is known here
        std::memcpy(to, slice + run.offset, sizeof(T));
      } else {
        std::memcpy(to, slice + run.offset, run.bytes);
      }
      to += run.bytes;
    }
    from = packed_.data();
  }
  return rma::put_with_flag(job_, region_.at(reader.rank, reader.place), from,
                            rma::CopyShape::contiguous(reader.bytes),
                            region_.at(reader.rank, reader.flag), round_);
}

// All readers hear of this rank, whatever becomes of it: they wait for it.
template <SparseElement T>
Status VectorPush<T>::send(Array<T>& from) {
  round_ = round_ % last_round + 1;
  auto own = rma::LocalAccess::begin(from.region());
  Status result = own.status();
  for (const Reader& reader : readers_) {
    Status sent = own.ok() ? send_to(reader, own->data()) : own.status();
    if (!sent.ok()) {
      rma::raise_flag(job_, region_.at(reader.rank, reader.flag), refusal(round_, sent.code()))
          .ignore("it may be the one that is gone");
      result = result.ok() ? std::move(sent) : std::move(result);
    }
  }
  Status ended = own.ok() ? own->end() : Status();
  return result.ok() ? std::move(ended) : std::move(result);
}

// A round that this rank didn't wait for may have left its flag behind.
template <SparseElement T>
Status VectorPush<T>::wait(std::size_t number) {
  Source& source = sources_[number];
  rma::Team& team = region_.team();
  const rma::WorldRank writer = team.world_rank(source.rank);
  while (source.seen != round_) {
    TESSERA_ASSIGN_OR_RETURN(
        source.seen, rma::wait_for_flag_change(job_, region_.at(team.rank(), flag_of(number)),
                                               source.seen, writer));
    if (is_refusal(source.seen, round_)) {
      return Status::error_at(writer, static_cast<Code>(-source.seen % codes),
                              fmt::format("rank {} could not send its elements", writer.value));
    }
  }
  return {};
}

template class VectorPush<std::int32_t>;
template class VectorPush<std::int64_t>;
template class VectorPush<float>;
template class VectorPush<double>;
template class VectorPush<std::complex<float>>;
template class VectorPush<std::complex<double>>;

}  // namespace tessera::linalg::detail
