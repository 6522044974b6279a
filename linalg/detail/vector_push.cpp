// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/vector_push.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <functional>
#include <optional>
#include <utility>

#include "rma/notify.hpp"

namespace tessera::linalg::detail {

using arrays::Array;
using rma::Code;
using rma::Result;
using rma::Status;

namespace {

constexpr std::uint64_t line_bytes = 64;

// The contents of a flag: the round that its rank is in, the result of that round, and the result
// of the round before, since neighbours may be a round apart. The last round is even, so that the
// two buffers still alternate after a wrap-around.
struct Flag {
  std::uint32_t round = 0;
  Code code = Code::ok;
  Code code_before = Code::ok;
};

constexpr std::uint32_t round_bits = 23;
constexpr std::uint32_t code_bits = 4;
constexpr std::uint32_t last_round = (1U << round_bits) - 2;

constexpr std::uint32_t mask(std::uint32_t bits) {
  return (1U << bits) - 1;
}
std::int32_t pack(const Flag& flag) {
  return static_cast<std::int32_t>(
      flag.round | static_cast<std::uint32_t>(flag.code) << round_bits |
      static_cast<std::uint32_t>(flag.code_before) << (round_bits + code_bits));
}
Flag unpack(std::int32_t word) {
  const auto bits = static_cast<std::uint32_t>(word);
  return {bits & mask(round_bits), static_cast<Code>(bits >> round_bits & mask(code_bits)),
          static_cast<Code>(bits >> (round_bits + code_bits) & mask(code_bits))};
}

std::uint32_t round_after(std::uint32_t round) {
  return round % last_round + 1;
}
// The result of a round, from a rank's flag; unset if the flag has not been raised for it.
std::optional<Code> outcome(std::int32_t word, std::uint32_t round) {
  const Flag flag = unpack(word);
  if (flag.round == round) {
    return flag.code;
  }
  return flag.round == round_after(round) ? std::optional(flag.code_before) : std::nullopt;
}

std::uint64_t whole_lines(std::uint64_t bytes) {
  return (bytes + line_bytes - 1) / line_bytes * line_bytes;
}

// The list for an owner: offset, flag, size of a buffer, then offset and length of each run.
constexpr std::size_t fixed_numbers = 3;

}  // namespace

template <SparseElement T>
std::uint64_t VectorPush<T>::flag_of(std::size_t number) const noexcept {
  return whole_lines(buffers_ * elements_ * sizeof(T)) + number * line_bytes;
}

template <SparseElement T>
Result<VectorPush<T>> VectorPush<T>::create(
    Array<T>& like, std::size_t elements,
    const std::function<Result<std::vector<Wanted>>()>& wanted, Meeting meeting) {
  VectorPush push(like.job(), elements, meeting);
  const auto ask = [&]() -> Result<std::vector<RankList>> {
    TESSERA_ASSIGN_OR_RETURN(const std::vector<Wanted> all, wanted());
    return push.ask(all);
  };
  rma::Team& team = like.team();
  TESSERA_ASSIGN_OR_RETURN(const auto lists, exchange_lists(push.job_, team, std::cref(ask)));
  // The number of readers is known only after all lists have arrived.
  TESSERA_RETURN_IF_ERROR(meeting == Meeting::neighbours
                              ? push.add_neighbours(team, lists)
                              : team.agree([&] { return push.add_readers(lists); }));
  TESSERA_ASSIGN_OR_RETURN(push.region_,
                           rma::Region::allocate(team, push.flag_of(push.sources_.size()),
                                                 {.name = "elements of others"}));
  return push;
}

template <SparseElement T>
Result<std::vector<RankList>> VectorPush<T>::ask(std::span<const Wanted> wanted) {
  std::vector<RankList> asked;
  for (std::size_t number = 0; number < wanted.size(); ++number) {
    const Wanted& each = wanted[number];
    RankList& list = asked.emplace_back(RankList{each.owner, {}});
    list.numbers = {static_cast<std::int64_t>(each.position * sizeof(T)),
                    static_cast<std::int64_t>(flag_of(number)),
                    static_cast<std::int64_t>(elements_ * sizeof(T))};
    for (const rma::Fragment& run : each.runs) {
      list.numbers.push_back(static_cast<std::int64_t>(run.remote_offset));
      list.numbers.push_back(static_cast<std::int64_t>(run.bytes));
    }
    sources_.push_back({each.owner, 0});
  }
  return asked;
}

// Ranks that read from this one, but that it doesn't read from, also need a flag here.
template <SparseElement T>
Result<std::vector<RankList>> VectorPush<T>::request_reader_flags() {
  std::vector<RankList> given;
  const std::size_t known = sources_.size();
  for (const Reader& reader : readers_) {
    const auto end = sources_.begin() + static_cast<std::ptrdiff_t>(known);
    if (std::none_of(sources_.begin(), end,
                     [&](const Source& source) { return source.rank == reader.rank; })) {
      given.push_back({reader.rank, {static_cast<std::int64_t>(flag_of(sources_.size()))}});
      sources_.push_back({reader.rank, 0});
    }
  }
  return given;
}

// Collective. Adds the readers, requests flags from them, and adds what others request: this rank
// has a flag at each rank that it only reads from.
template <SparseElement T>
Status VectorPush<T>::add_neighbours(rma::Team& team, std::span<const RankList> asked) {
  const auto request = [&]() -> Result<std::vector<RankList>> {
    TESSERA_RETURN_IF_ERROR(add_readers(asked));
    return request_reader_flags();
  };
  TESSERA_ASSIGN_OR_RETURN(const auto lists, exchange_lists(job_, team, std::cref(request)));
  return team.agree([&]() -> Status {
    for (const RankList& list : lists) {
      Reader reader;
      reader.rank = list.rank;
      reader.flag = static_cast<std::uint64_t>(list.numbers[0]);
      readers_.push_back(std::move(reader));
    }
    return {};
  });
}

template <SparseElement T>
Status VectorPush<T>::add_readers(std::span<const RankList> asked) {
  for (const RankList& list : asked) {
    add_reader(list);
  }
  return {};
}

template <SparseElement T>
void VectorPush<T>::add_reader(const RankList& asked) {
  const auto number = [&](std::size_t i) { return static_cast<std::uint64_t>(asked.numbers[i]); };
  Reader reader;
  reader.rank = asked.rank;
  reader.offset = number(0);
  reader.flag = number(1);
  reader.buffer_bytes = number(2);
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
  const std::int32_t value = pack({round_, Code::ok, reader.code_before});
  if (reader.runs.empty()) {
    return rma::raise_flag(job_, region_.at(reader.rank, reader.flag), value);
  }
  const std::byte* from = slice + reader.runs.front().offset;
  if (reader.runs.size() > 1) {
    std::byte* to = packed_.data();
    for (const Run& run : reader.runs) {
      copy_run<T>(to, slice + run.offset, run.bytes);
      to += run.bytes;
    }
    from = packed_.data();
  }
  const std::uint64_t offset = reader.offset + round_ % buffers_ * reader.buffer_bytes;
  return rma::put_with_flag(job_, region_.at(reader.rank, offset), from,
                            rma::CopyShape::contiguous(reader.bytes),
                            region_.at(reader.rank, reader.flag), value);
}

template <SparseElement T>
void VectorPush<T>::refuse(Reader& reader, Code code) {
  rma::raise_flag(job_, region_.at(reader.rank, reader.flag),
                  pack({round_, code, reader.code_before}))
      .ignore("the reader may be the lost rank");
  reader.code_before = code;
}

template <SparseElement T>
Status VectorPush<T>::refuse(Status reason) {
  round_ = round_after(round_);
  for (Reader& reader : readers_) {
    refuse(reader, reason.code());
  }
  return reason;
}

// All readers are notified, whatever errors occur, since they wait for this rank.
template <SparseElement T>
Status VectorPush<T>::send(Array<T>& from) {
  round_ = round_after(round_);
  auto own = rma::LocalAccess::begin(from.region());
  Status result = own.status();
  for (Reader& reader : readers_) {
    Status sent = own.ok() ? send_to(reader, own->data()) : own.status();
    if (sent.ok()) {
      reader.code_before = Code::ok;
    } else {
      refuse(reader, sent.code());
      result = result.ok() ? std::move(sent) : std::move(result);
    }
  }
  Status ended = own.ok() ? own->end() : Status();
  return result.ok() ? std::move(ended) : std::move(result);
}

// If this rank didn't wait in an earlier round, the flag of that round may still be set.
template <SparseElement T>
Status VectorPush<T>::wait(std::size_t number) {
  Source& source = sources_[number];
  rma::Team& team = region_.team();
  const rma::WorldRank writer = team.world_rank(source.rank);
  for (;;) {
    if (const auto code = outcome(source.seen, round_)) {
      return *code == Code::ok ? Status()
                               : Status::error_at(writer, *code,
                                                  fmt::format("rank {} could not send its elements",
                                                              writer.value));
    }
    TESSERA_ASSIGN_OR_RETURN(
        source.seen, rma::wait_for_flag_change(job_, region_.at(team.rank(), flag_of(number)),
                                               source.seen, writer));
  }
}

template <SparseElement T>
Status VectorPush<T>::wait_for_all() {
  Status result;
  for (std::size_t number = 0; number < sources_.size(); ++number) {
    Status came = wait(number);
    result = result.ok() ? std::move(came) : std::move(result);
  }
  return result;
}

template class VectorPush<std::int32_t>;
template class VectorPush<std::int64_t>;
template class VectorPush<float>;
template class VectorPush<double>;
template class VectorPush<std::complex<float>>;
template class VectorPush<std::complex<double>>;

}  // namespace tessera::linalg::detail
