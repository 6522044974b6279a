// SPDX-License-Identifier: BSD-3-Clause
//
// Status: the result of every function of this library that can fail.
//
// A status is one pointer, null on success, so returning one costs a register. An error carries a
// code, which says what the caller can do (table in docs/errors.md), one sentence with the exact
// cause, the rank concerned, and the chain of what was being attempted, outermost first:
//
//     creating array 'amplitudes' 400 x 400: allocating 2.4 GiB on rank 3: 1.1 GiB available
//
// The library never ends the process and never throws. Programs that prefer exceptions use
// Result::value().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rma/base/rank.hpp"

namespace tessera::rma {

/// What the caller can do about an error; docs/errors.md has the details.
enum class Code : std::uint8_t {
  ok = 0,
  invalid_argument,  ///< shapes do not fit, bad option: fix the program; nothing was changed
  out_of_range,      ///< outside its array or region: fix the program; nothing was sent
  closed,            ///< the job, region or array was stopped or freed: stop using it
  unsupported,       ///< no transport here can do it: choose another way
  no_memory,         ///< memory is exhausted: free some, or use more nodes
  limit_exceeded,    ///< a named limit was reached: raise it
  unreachable,       ///< a peer could not be connected: check the named address
  peer_lost,         ///< a peer died or its connection failed: continue without it, or stop
  timed_out,         ///< no progress within the stated time: retry, or treat as lost
  protocol,          ///< invalid bytes received: stop that peer and report
  internal,          ///< an invariant of this library broke: report a bug
};

/// The code's name as in the source, for example "peer_lost".
std::string_view to_string(Code code) noexcept;

class [[nodiscard]] Status {
 public:
  /// Success.
  Status() noexcept = default;
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;
  /// Copies keep only the code if there is no memory for the text.
  Status(const Status& other) noexcept;
  Status& operator=(const Status& other) noexcept;
  ~Status() = default;

  /// An error of the given kind. `what` is one sentence with the cause: values, limits, errno text.
  /// Requires: `code` is not ok.
  [[gnu::cold]] static Status error(Code code, std::string what,
                                    const char* file = __builtin_FILE(),
                                    int line = __builtin_LINE()) noexcept;

  /// As error(), with the rank concerned, for example the lost peer.
  [[gnu::cold]] static Status error_at(WorldRank rank, Code code, std::string what,
                                       const char* file = __builtin_FILE(),
                                       int line = __builtin_LINE()) noexcept;

  /// The error no_memory; without the sentence if there is no memory for it.
  [[gnu::cold]] static Status no_memory(std::string_view what, const char* file = __builtin_FILE(),
                                        int line = __builtin_LINE()) noexcept;
  /// An error with a code only, for use if there is no memory for a text.
  [[gnu::cold]] static Status code_only(Code code) noexcept;

  [[nodiscard]] bool ok() const noexcept { return detail_ == nullptr; }
  [[nodiscard]] Code code() const noexcept;
  /// The rank concerned, if any.
  [[nodiscard]] std::optional<WorldRank> rank() const noexcept;
  /// The chain of contexts and the sentence, then the hint, if any, on its own line. "no memory" if
  /// there is none for the text.
  [[nodiscard]] std::string message() const noexcept;
  /// The rank whose call failed, if the job has several ranks.
  [[nodiscard]] std::optional<WorldRank> failing_rank() const noexcept;
  /// message() preceded by the failing rank, if known, and the code, and followed by the source
  /// line that detected the error: "[rank 2] closed: …". Exceptions show this.
  [[nodiscard]] std::string describe() const noexcept;

  /// Puts what was being attempted in front of the message. Does nothing on success or if there is
  /// no memory for the text; the same holds for hint().
  Status&& context(std::string_view attempt) && noexcept {
    if (detail_) [[unlikely]] {
      prepend(attempt);
    }
    return std::move(*this);
  }
  /// Adds a remedy, printed on its own line. Keeps an earlier hint. Does nothing on success.
  Status&& hint(std::string_view remedy) && noexcept;
  /// Sets the rank concerned unless one is set already. Does nothing on success.
  Status&& at(WorldRank rank) && noexcept;

  /// Sets the rank whose call failed unless one is set already. Does nothing on success.
  Status&& failing_on(WorldRank rank) && noexcept;

  /// Marks a result as deliberately ignored; `reason` is for the reader of the code.
  void ignore(std::string_view reason) const noexcept { static_cast<void>(reason); }

 private:
  struct Detail;
  // Destructors are inlined at every call; there they only test for null, and the deletion is out
  // of line.
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

/// Evaluates a Result: assigns its value to `declaration`, or returns its status if it is an error.
#define TESSERA_ASSIGN_OR_RETURN(declaration, expression)                                        \
  TESSERA_DETAIL_ASSIGN_OR_RETURN(TESSERA_DETAIL_CONCAT(tessera_result_, __LINE__), declaration, \
                                  expression)
