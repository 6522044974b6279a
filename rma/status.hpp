// SPDX-License-Identifier: BSD-3-Clause
//
// Status: how every function of this library that can fail says whether it did.
//
// A status is one pointer, null when all is well, so returning one costs a register. When it is
// not well it carries a code, which tells the caller what can be done (docs/errors.md has the
// table), one sentence with the exact cause, the rank concerned, and the chain of what was being
// attempted, outermost first:
//
//     creating array 'amplitudes' 400 x 400: allocating 2.4 GiB on rank 3: 1.1 GiB available
//
// The library never ends the process and never throws; see Result::value() for programs that
// like exceptions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rma/rank.hpp"

namespace tessera::rma {

/// What the caller can do about an error; docs/errors.md says it at length.
enum class Code : std::uint8_t {
  ok = 0,
  invalid_argument,  ///< shapes do not fit, bad option: fix the program; nothing was changed
  out_of_range,      ///< outside its array or region: fix the program; nothing was sent
  closed,            ///< the job, region or array was stopped or freed: stop using it
  unsupported,       ///< no transport here can do it: choose another way
  no_memory,         ///< memory is exhausted: free some, or use more nodes
  limit_exceeded,    ///< a named limit was reached: raise it
  unreachable,       ///< a peer could not be connected: check the named address
  peer_lost,         ///< a peer died or its link failed: go on without it, or stop
  timed_out,         ///< no progress within the stated time: retry, or treat as lost
  protocol,          ///< bytes that make no sense: stop that peer and report
  internal,          ///< an invariant of ours broke: report a bug
};

/// The code's name as it is written in the source, for example "peer_lost".
std::string_view to_string(Code code) noexcept;

class [[nodiscard]] Status {
 public:
  /// Success.
  Status() noexcept = default;
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;
  /// Where there is no memory for the copy's text, it has the code alone.
  Status(const Status& other) noexcept;
  Status& operator=(const Status& other) noexcept;
  ~Status() = default;

  /// An error of the given kind; `what` is one sentence with the cause: values, limits, errno
  /// text. `code` must not be ok.
  [[gnu::cold]] static Status error(Code code, std::string what,
                                    const char* file = __builtin_FILE(),
                                    int line = __builtin_LINE()) noexcept;

  /// As error(), and names the rank that the caller should look at (the lost peer, say).
  [[gnu::cold]] static Status error_at(WorldRank rank, Code code, std::string what,
                                       const char* file = __builtin_FILE(),
                                       int line = __builtin_LINE()) noexcept;

  /// The error no_memory; without the sentence where there is no memory for that either.
  [[gnu::cold]] static Status no_memory(std::string_view what, const char* file = __builtin_FILE(),
                                        int line = __builtin_LINE()) noexcept;
  /// An error of which the code is all that is known, for where there is no memory to say more.
  [[gnu::cold]] static Status without_text(Code code) noexcept;

  [[nodiscard]] bool ok() const noexcept { return detail_ == nullptr; }
  [[nodiscard]] Code code() const noexcept;
  /// The rank concerned, when there is one.
  [[nodiscard]] std::optional<WorldRank> rank() const noexcept;
  /// The chain of contexts and the sentence, then the hint on a line of its own if there is one.
  /// Where there is no memory for it: "no memory".
  [[nodiscard]] std::string message() const noexcept;
  /// The rank whose call failed, if the job has several.
  [[nodiscard]] std::optional<WorldRank> failing_rank() const noexcept;
  /// message() with the failing rank, if it is known, and the code before it, and the source line
  /// of the first detection after it: "[rank 2] closed: …". Exceptions show this.
  [[nodiscard]] std::string describe() const noexcept;

  /// Puts what was being attempted in front of the message. Does nothing to a success, nor where
  /// there is no memory for it; likewise the two below.
  Status&& context(std::string_view attempt) && noexcept {
    if (detail_) [[unlikely]] {
      prepend(attempt);
    }
    return std::move(*this);
  }
  /// Adds the remedy, printed on a line of its own. The first hint stays; success is unchanged.
  Status&& hint(std::string_view remedy) && noexcept;
  /// Names the rank concerned unless one is named already. Does nothing to a success.
  Status&& at(WorldRank rank) && noexcept;

  /// Names the rank whose call failed unless one is named already. Does nothing to a success.
  Status&& failing_on(WorldRank rank) && noexcept;

  /// Says that this result is deliberately not looked at; the reason is for the reader.
  void ignore(std::string_view reason) const noexcept { static_cast<void>(reason); }

 private:
  struct Detail;
  // Destructors are inlined wherever something was called: there they are a test for null, and the
  // deletion lies elsewhere.
  struct Free {
    [[gnu::cold]] void operator()(Detail* detail) const noexcept;
  };
  [[gnu::cold]] void prepend(std::string_view attempt) noexcept;
  static Detail* shared_detail(Code code) noexcept;
  [[nodiscard]] Detail* copied_detail() const noexcept;

  std::unique_ptr<Detail, Free> detail_;
};

}  // namespace tessera::rma

/// Returns from the enclosing function with the status of `expression` unless it is ok.
#define TESSERA_RETURN_IF_ERROR(expression)                                                        \
  do {                                                                                             \
    if (::tessera::rma::Status tessera_status = (expression); !tessera_status.ok()) [[unlikely]] { \
      return tessera_status;                                                                       \
    }                                                                                              \
  } while (false)

#define TESSERA_DETAIL_CONCAT_(a, b) a##b
#define TESSERA_DETAIL_CONCAT(a, b) TESSERA_DETAIL_CONCAT_(a, b)
#define TESSERA_DETAIL_ASSIGN_OR_RETURN(temporary, declaration, expression) \
  auto temporary = (expression);                                            \
  if (!temporary.ok()) [[unlikely]] {                                       \
    return std::move(temporary).status();                                   \
  }                                                                         \
  declaration = std::move(temporary).take()

/// Evaluates a Result: on success assigns its value to `declaration`, else returns its status.
#define TESSERA_ASSIGN_OR_RETURN(declaration, expression)                                        \
  TESSERA_DETAIL_ASSIGN_OR_RETURN(TESSERA_DETAIL_CONCAT(tessera_result_, __LINE__), declaration, \
                                  expression)
