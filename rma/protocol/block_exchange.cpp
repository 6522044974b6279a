// SPDX-License-Identifier: BSD-3-Clause
#include "rma/protocol/block_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/engine/team/staging_window.hpp"
#include "rma/transfer.hpp"

namespace tessera::rma::detail {
namespace {

bool travels_to(const BlockExchange::Terms& terms, TeamRank from, TeamRank to) noexcept {
  switch (terms.pattern) {
    case BlockExchange::Pattern::to_root:
      return to == terms.root;
    case BlockExchange::Pattern::from_root:
      return from == terms.root;
    case BlockExchange::Pattern::all_to_all:
      break;
  }
  return true;
}

std::uint64_t longest_sent(const ByteBlocks& sent, TeamRank self) noexcept {
  std::uint64_t longest = 0;
  for (std::size_t member = 0; member < sent.size(); ++member) {
    if (static_cast<std::int32_t>(member) != self.value) {
      longest = std::max(longest, sent[member].bytes);
    }
  }
  return longest;
}

std::size_t index(TeamRank member) noexcept {
  return static_cast<std::size_t>(member.value);
}

}  // namespace

BlockExchange::BlockExchange(TeamState& team, const BlockSides& sides, const Terms& terms)
    : team_(team),
      sides_(sides),
      terms_(terms),
      announcements_(static_cast<std::size_t>(team.size())) {}

// The bytes of the longest block that travels.
Result<std::uint64_t> BlockExchange::agree_on_longest(const Status& arguments) {
  const std::uint64_t hash =
      Label::mix(terms_.element_bytes, static_cast<std::uint32_t>(terms_.root.value)) >> 1U;
  const auto positive = static_cast<std::int64_t>(hash);
  // The largest of each. All members have the same hash if the largest is also the smallest.
  std::array<std::int64_t, 4> found{
      arguments.ok() ? 0 : 1, static_cast<std::int64_t>(longest_sent(sides_.sent, team_.rank())),
      positive, -positive};
  TESSERA_RETURN_IF_ERROR(
      team_.allreduce(found.data(), std::ssize(found), ElementType::i64, Reduction::max, nullptr));
  if (found[0] != 0 || found[2] != -found[3]) {
    return team_.agree(arguments, {.hash = hash});
  }
  return static_cast<std::uint64_t>(found[1]);
}

bool BlockExchange::sends_to(TeamRank member) const noexcept {
  return travels_to(terms_, team_.rank(), member);
}

bool BlockExchange::receives_from(TeamRank member) const noexcept {
  return travels_to(terms_, member, team_.rank());
}

TeamRank BlockExchange::neighbour(std::int32_t distance) const noexcept {
  return TeamRank{(team_.rank().value + distance) % team_.size()};
}

Status BlockExchange::run(const Status& arguments) {
  TESSERA_ASSIGN_OR_RETURN(const std::uint64_t longest, agree_on_longest(arguments));
  if (longest > 0) {
    TESSERA_ASSIGN_OR_RETURN(StagingWindow* const window, team_.staging());
    TESSERA_RETURN_IF_ERROR(move_all(*window, longest));
  }
  for (std::int32_t distance = 1; distance < team_.size() && longest == 0; ++distance) {
    if (const TeamRank from = neighbour(distance); receives_from(from)) {
      expect(from, 0);
    }
  }
  copy_own();
  return team_.agree(first_error_, {});
}

void BlockExchange::copy_own() {
  const TeamRank self = team_.rank();
  if (!sends_to(self)) {
    return;
  }
  const ByteBlock& sent = sides_.sent[index(self)];
  expect(self, sent.bytes);
  const ByteBlock& received = sides_.received[index(self)];
  if (received.bytes == sent.bytes && sent.bytes > 0) {
    std::memcpy(sides_.receive.data() + received.offset, sides_.send.data() + sent.offset,
                sent.bytes);
  }
}

// A half is written again only after a barrier that each receiver reaches after it has read the
// half.
Status BlockExchange::move_all(StagingWindow& window, std::uint64_t longest) {
  const std::uint64_t rounds = (longest + window.half_bytes() - 1) / window.half_bytes();
  leave(window, 0);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    complete_puts(window);
    TESSERA_RETURN_IF_ERROR(team_.barrier());
    if (round + 1 < rounds) {
      leave(window, round + 1);
    }
    take(window, round);
  }
  return {};
}

void BlockExchange::leave(StagingWindow& window, std::uint64_t round) {
  const std::uint64_t done = round * window.half_bytes();
  const TeamRank self = team_.rank();
  for (std::int32_t distance = 1; distance < team_.size(); ++distance) {
    const TeamRank to = neighbour(distance);
    if (!sends_to(to)) {
      continue;
    }
    const ByteBlock& block = sides_.sent[index(to)];
    if (round == 0) {
      std::uint64_t& announced = announcements_[index(to)];
      announced = block.bytes;
      leave_bytes(window, to, window.word_offset(self), &announced, sizeof announced);
    }
    if (block.bytes > done) {
      const std::uint64_t bytes = std::min<std::uint64_t>(block.bytes - done, window.half_bytes());
      leave_bytes(window, to, window.half_offset(self, round % 2),
                  sides_.send.data() + block.offset + done, bytes);
    }
  }
}

void BlockExchange::leave_bytes(StagingWindow& window, TeamRank to, std::uint64_t offset,
                                const void* from, std::size_t bytes) {
  if (std::byte* const mapped = window.direct(to, offset)) {
    std::memcpy(mapped, from, bytes);
    return;
  }
  Job job = Job::unowned(team_.job());
  puts_.collect(put_async(job, window.at(to, offset), from, bytes));
  has_puts_ = true;
}

void BlockExchange::complete_puts(StagingWindow& window) {
  if (std::exchange(has_puts_, false)) {
    note(puts_.wait());
    note(window.fence());
  }
}

void BlockExchange::take(StagingWindow& window, std::uint64_t round) {
  note(window.begin_access());
  for (std::int32_t distance = 1; distance < team_.size(); ++distance) {
    if (const TeamRank from = neighbour(team_.size() - distance); receives_from(from)) {
      take_piece(window, from, round);
    }
  }
  note(window.end_access());
}

// A block that is longer or shorter than expected is not copied.
void BlockExchange::take_piece(const StagingWindow& window, TeamRank from, std::uint64_t round) {
  std::uint64_t announced = 0;
  std::memcpy(&announced, window.own(window.word_offset(from)), sizeof announced);
  if (round == 0) {
    expect(from, announced);
  }
  const ByteBlock& block = sides_.received[index(from)];
  const std::uint64_t done = round * window.half_bytes();
  if (announced == block.bytes && block.bytes > done) {
    const std::uint64_t bytes = std::min<std::uint64_t>(block.bytes - done, window.half_bytes());
    std::memcpy(sides_.receive.data() + block.offset + done,
                window.own(window.half_offset(from, round % 2)), bytes);
  }
}

void BlockExchange::expect(TeamRank from, std::uint64_t announced) {
  const std::uint64_t wanted = sides_.received[index(from)].bytes;
  if (announced == wanted || !first_error_.ok()) {
    return;
  }
  const WorldRank sender = team_.members()[index(from)];
  const WorldRank receiver = team_.members()[index(team_.rank())];
  note(worded(Code::invalid_argument, [&] {
    return Status::error_at(sender, Code::invalid_argument,
                            fmt::format("rank {} sends {} elements to rank {}, which expects {}",
                                        sender.value, announced / terms_.element_bytes,
                                        receiver.value, wanted / terms_.element_bytes))
        .hint("exchange the counts first, for example with alltoall");
  }));
}

void BlockExchange::note(Status status) {
  if (first_error_.ok()) {
    first_error_ = std::move(status);
  }
}

}  // namespace tessera::rma::detail
