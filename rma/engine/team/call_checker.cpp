// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/team/call_checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "rma/base/catch_bad_alloc.hpp"

namespace tessera::rma::detail {

// What one member called. Texts are phrases such as "called sync of array 'rho'", separated by
// zeros: the program's call, the collective itself, and the innermost operation.
struct CallChecker::CallReport {
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

const Label* CallChecker::outermost_label() const noexcept {
  const LabelScope* outermost = scope_;
  while (outermost->outer() != nullptr) {
    outermost = outermost->outer();
  }
  return &outermost->label();
}

std::string CallChecker::describe(const TeamControl::Check& check) const {
  const Label* const called = label();
  return called == nullptr ? CollectiveCall::describe(check.call.load(), check.bytes.load())
                           : called->short_text();
}

StepSummary CallChecker::summarise(const TeamControl::Check& check) const noexcept {
  const std::uint32_t order = 2 * static_cast<std::uint32_t>(members_.nodes().own());
  StepSummary summary;
  summary.first = {.call = check.call.load(),
                   .fingerprint = check.fingerprint.load(),
                   .rank = check.first.load(),
                   .order = order};
  if (const std::uint32_t odd = check.odd.load(); odd != 0) {
    summary.odd = {.call = check.odd_call.load(),
                   .fingerprint = check.odd_fingerprint.load(),
                   .rank = static_cast<std::int32_t>(odd) - 1,
                   .order = order + 1};
  }
  return summary;
}

void CallChecker::record_summary(const StepSummary& summary, TeamControl::Check& check) noexcept {
  if (!summary.odd.is_known()) {
    return;
  }
  check.call.store(summary.first.call);
  check.first.store(summary.first.rank);
  check.odd.store(static_cast<std::uint32_t>(summary.odd.rank) + 1);
  check.odd_call.store(summary.odd.call);
}

Status CallChecker::explain(const TeamControl::Check& check, const CollectiveCall& own,
                            const Broadcast& broadcast) const noexcept {
  const Difference found{.first = WorldRank{check.first.load()},
                         .odd = WorldRank{static_cast<std::int32_t>(check.odd.load()) - 1},
                         .first_call = check.call.load(),
                         .odd_call = check.odd_call.load()};
  const bool is_lack = CollectiveCall::is_without_memory(found.first_call) ||
                       CollectiveCall::is_without_memory(found.odd_call);
  return worded(is_lack ? Code::no_memory : Code::invalid_argument, [&] {
    return is_lack ? out_of_memory_status(found) : explain_difference(found, own, broadcast);
  });
}

Status CallChecker::out_of_memory_status(const Difference& found) {
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
Status CallChecker::explain_difference(const Difference& found, const CollectiveCall& own,
                                       const Broadcast& broadcast) const {
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
                            exchange_call_reports(found, own, broadcast, first, odd).ok();
  if (is_explained && !first.phrase(0).empty() && !odd.phrase(0).empty()) {
    return compare_call_reports(found, first, odd);
  }
  return differ(found.odd, fmt::format("rank {} called {} where rank {} called {}", found.odd.value,
                                       CollectiveCall::describe(found.odd_call, std::nullopt),
                                       found.first.value,
                                       CollectiveCall::describe(found.first_call, std::nullopt)));
}

// Collective. Allocates no memory: a member that threw between the broadcasts would be missing in
// the next one.
Status CallChecker::exchange_call_reports(const Difference& found, const CollectiveCall& own,
                                          const Broadcast& broadcast, CallReport& first,
                                          CallReport& odd) const {
  for (const auto& [rank, report] : {std::pair(found.first, &first), std::pair(found.odd, &odd)}) {
    if (rank == members_.own_world_rank()) {
      *report = call_report_of(own);
    }
    TESSERA_RETURN_IF_ERROR(
        broadcast(members_.team_rank(rank), std::as_writable_bytes(std::span(report, 1))));
    report->text.back() = '\0';
  }
  return {};
}

CallChecker::CallReport CallChecker::call_report_of(const CollectiveCall& own) const noexcept {
  return catch_bad_alloc(
      [&] {
        CallReport report;
        const std::string called = "called " + CollectiveCall::describe(own.packed(), own.bytes);
        const Label* const outermost = label();
        if (own_error_ != nullptr && !own_error_->ok()) {
          const std::string message = own_error_->message();
          report.append(fmt::format("failed ({})", message.substr(0, message.find('\n'))));
        } else {
          report.append(outermost == nullptr ? called : outermost->phrase());
        }
        report.append(called);
        if (outermost != nullptr) {
          report.append(scope_->label().phrase());
          report.numbers = {outermost->number, scope_->label().number};
        }
        return report;
      },
      [] { return CallReport(); });
}

// Reports the first phrases that differ; else the objects' numbers, or the arguments.
Status CallChecker::compare_call_reports(const Difference& found, const CallReport& first,
                                         const CallReport& odd) const {
  const bool is_odd_later = members_.team_rank(found.first) < members_.team_rank(found.odd);
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

Status CallChecker::explain_requests(TeamRank first, TeamRank other,
                                     const Broadcast& broadcast) const {
  constexpr CollectiveCall agreement{.kind = CollectiveCall::Kind::agree};
  const Difference found{.first = members_.world_rank(first),
                         .odd = members_.world_rank(other),
                         .first_call = agreement.packed(),
                         .odd_call = agreement.packed()};
  return worded(Code::invalid_argument,
                [&] { return explain_difference(found, agreement, broadcast); });
}

}  // namespace tessera::rma::detail
