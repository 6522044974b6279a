// SPDX-License-Identifier: BSD-3-Clause
//
// Reports which different collectives members called. All of them find the same difference in a
// meeting. In two more meetings, the two members concerned send the others what they called.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "rma/engine/job_state.hpp"
#include "rma/engine/team_state.hpp"

namespace tessera::rma::detail {

// What one member called. Texts are phrases such as "called sync of array 'rho'", separated by
// zeros: the program's call, the collective itself, and the innermost operation.
struct TeamState::CallReport {
  std::array<std::uint64_t, 2> numbers = {};  ///< of the outermost and of the innermost object
  std::uint64_t used = 0;
  std::array<char, 1000> text = {};

  void append(std::string_view phrase) noexcept {
    const std::size_t room = text.size() - 1 - used;
    used += phrase.copy(text.data() + used, std::min(room, phrase.size()));
    used = std::min<std::uint64_t>(used + 1, text.size() - 1);
  }
  [[nodiscard]] std::string_view phrase(std::size_t index) const noexcept {
    std::string_view rest(text.data(), text.size());
    for (std::size_t i = 0; i < index; ++i) {
      rest.remove_prefix(std::min(rest.find('\0'), rest.size() - 1) + 1);
    }
    return rest.substr(0, std::min(rest.find('\0'), rest.size()));
  }
};

namespace {

bool can_be_explained(std::uint64_t call) noexcept {
  const auto kind = CollectiveCall::kind_of(call);
  return kind != CollectiveCall::Kind::form && kind != CollectiveCall::Kind::account;
}

Status differ(WorldRank odd, const std::string& what) {
  return Status::error_at(odd, Code::invalid_argument,
                          "members of a team called different collectives: " + what)
      .hint("all members must call the same collectives in the same order with the same sizes");
}

std::string with_number(std::string_view phrase, std::uint64_t number) {
  return number == 0 ? std::string(phrase) : fmt::format("{} (number {})", phrase, number);
}

}  // namespace

Status TeamState::mismatch(const TeamControl::Check& check, const CollectiveCall& own) noexcept {
  const Difference found{.first = WorldRank{check.first.load()},
                         .odd = WorldRank{static_cast<std::int32_t>(check.odd.load()) - 1},
                         .first_call = check.call.load(),
                         .odd_call = check.odd_call.load()};
  const bool is_lack = CollectiveCall::is_without_memory(found.first_call) ||
                       CollectiveCall::is_without_memory(found.odd_call);
  // Members may have used different numbers of slots so far; all of them restart.
  phase_ = 0;
  try {
    return is_lack ? out_of_memory_status(found) : explain_difference(found, own);
  } catch (const std::bad_alloc&) {
    return Status::code_only(is_lack ? Code::no_memory : Code::invalid_argument);
  }
}

Status TeamState::out_of_memory_status(const Difference& found) {
  const bool is_odd = CollectiveCall::is_without_memory(found.odd_call);
  const WorldRank rank = is_odd ? found.odd : found.first;
  const std::string call =
      CollectiveCall::describe(is_odd ? found.first_call : found.odd_call, std::nullopt);
  return Status::error_at(
      rank, Code::no_memory,
      fmt::format("rank {} has no memory for its part of a collective; another rank called {}",
                  rank.value, call));
}

// Collective.
Status TeamState::explain_difference(const Difference& found, const CollectiveCall& own) {
  constexpr CollectiveCall form{.kind = CollectiveCall::Kind::form};
  if (found.first_call == form.packed() && found.odd_call == form.packed()) {
    return Status::error_at(found.odd, Code::invalid_argument,
                            fmt::format("rank {} gave the ranks of a team in another order than "
                                        "the others",
                                        found.odd.value))
        .hint("all members must make a team from the same list");
  }
  CallReport first;
  CallReport odd;
  const bool is_explained = can_be_explained(found.first_call) &&
                            can_be_explained(found.odd_call) &&
                            exchange_call_reports(found, own, first, odd).ok();
  if (is_explained && !first.phrase(0).empty() && !odd.phrase(0).empty()) {
    return compare_call_reports(found, first, odd);
  }
  return differ(found.odd, fmt::format("rank {} called {} where rank {} called {}", found.odd.value,
                                       CollectiveCall::describe(found.odd_call, std::nullopt),
                                       found.first.value,
                                       CollectiveCall::describe(found.first_call, std::nullopt)));
}

// Collective. Allocates no memory: a member that threw between the meetings would be missing in the
// next one.
Status TeamState::exchange_call_reports(const Difference& found, const CollectiveCall& own,
                                        CallReport& first, CallReport& odd) {
  const std::size_t bytes = std::min(slot_bytes_, sizeof(CallReport));
  for (const auto& [rank, account] : {std::pair(found.first, &first), std::pair(found.odd, &odd)}) {
    const TeamRank member = team_rank(rank);
    const Payload payload{.kind = Payload::Kind::of_root, .bytes = bytes, .phase = phase_++};
    if (member == rank_) {
      const CallReport mine = call_report_of(own);
      std::memcpy(slot(payload.phase, order_), &mine, bytes);
    }
    TESSERA_RETURN_IF_ERROR(meet({.kind = CollectiveCall::Kind::account, .root = member}, payload));
    std::memcpy(static_cast<void*>(account), piece_of_root(member, payload), bytes);
    account->text.back() = '\0';
  }
  return {};
}

TeamState::CallReport TeamState::call_report_of(const CollectiveCall& own) const noexcept {
  CallReport account;
  try {
    const std::string called = "called " + CollectiveCall::describe(own.packed(), own.bytes);
    const Label* const outermost = label();
    if (own_error_ != nullptr && !own_error_->ok()) {
      const std::string message = own_error_->message();
      account.append(fmt::format("failed ({})", message.substr(0, message.find('\n'))));
    } else {
      account.append(outermost == nullptr ? called : outermost->phrase());
    }
    account.append(called);
    if (outermost != nullptr) {
      account.append(scope_->label().phrase());
      account.numbers = {outermost->number, scope_->label().number};
    }
  } catch (const std::bad_alloc&) {
    account = CallReport();
  }
  return account;
}

// Reports the first phrases that differ; else the objects' numbers, or the arguments.
Status TeamState::compare_call_reports(const Difference& found, const CallReport& first,
                                       const CallReport& odd) const {
  const bool is_odd_later = team_rank(found.first) < team_rank(found.odd);
  const CallReport& later = is_odd_later ? odd : first;
  const CallReport& earlier = is_odd_later ? first : odd;
  const std::int32_t later_rank = is_odd_later ? found.odd.value : found.first.value;
  const std::int32_t earlier_rank = is_odd_later ? found.first.value : found.odd.value;
  const auto say = [&](const std::string& one, const std::string& other) {
    return differ(found.odd,
                  fmt::format("rank {} {} where rank {} {}", later_rank, one, earlier_rank, other));
  };
  for (const std::size_t index : {std::size_t{0}, std::size_t{2}, std::size_t{1}}) {
    if (later.phrase(index) != earlier.phrase(index)) {
      return say(std::string(later.phrase(index)), std::string(earlier.phrase(index)));
    }
    const std::size_t object = index == 0 ? 0 : 1;
    if (index != 1 && later.numbers[object] != earlier.numbers[object]) {
      return say(with_number(later.phrase(index), later.numbers[object]),
                 with_number(earlier.phrase(index), earlier.numbers[object]));
    }
  }
  return Status::error_at(found.odd, Code::invalid_argument,
                          fmt::format("rank {} {} with other arguments than rank {}", later_rank,
                                      later.phrase(0), earlier_rank))
      .hint("all members must give the same arrays, boxes, scalars and options");
}

// Collective among members that all found the same two.
Status TeamState::different_requests(TeamRank first, TeamRank other) {
  constexpr CollectiveCall agreement{.kind = CollectiveCall::Kind::agree};
  const Difference found{.first = members_[static_cast<std::size_t>(first.value)],
                         .odd = members_[static_cast<std::size_t>(other.value)],
                         .first_call = agreement.packed(),
                         .odd_call = agreement.packed()};
  try {
    return explain_difference(found, agreement);
  } catch (const std::bad_alloc&) {
    return Status::code_only(Code::invalid_argument);
  }
}

}  // namespace tessera::rma::detail
