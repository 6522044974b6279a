// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/detail/call.hpp"

#include <cstdint>
#include <string>

#include "fortran/c/types.h"
#include "rma/base/version.hpp"

namespace tessera::capi {

using rma::Code;
using rma::Status;

namespace {

struct LastError {
  std::string text;
  std::int64_t rank = -1;
  std::int32_t caller = -1;
};
thread_local LastError last_error;

constexpr int code_count = 12;
static_assert(static_cast<int>(Code::invalid_argument) == TESSERA_INVALID_ARGUMENT);
static_assert(static_cast<int>(Code::out_of_range) == TESSERA_OUT_OF_RANGE);
static_assert(static_cast<int>(Code::closed) == TESSERA_CLOSED);
static_assert(static_cast<int>(Code::unsupported) == TESSERA_UNSUPPORTED);
static_assert(static_cast<int>(Code::no_memory) == TESSERA_NO_MEMORY);
static_assert(static_cast<int>(Code::limit_exceeded) == TESSERA_LIMIT_EXCEEDED);
static_assert(static_cast<int>(Code::unreachable) == TESSERA_UNREACHABLE);
static_assert(static_cast<int>(Code::peer_lost) == TESSERA_PEER_LOST);
static_assert(static_cast<int>(Code::timed_out) == TESSERA_TIMED_OUT);
static_assert(static_cast<int>(Code::protocol) == TESSERA_PROTOCOL);
static_assert(static_cast<int>(Code::internal) == TESSERA_INTERNAL);
static_assert(static_cast<int>(Code::internal) + 1 == code_count);

// Keeps only the code if there is no memory for the text.
template <class Text>
void keep(std::int64_t rank, const Text& text) noexcept {
  last_error.rank = rank;
  try {
    const std::string on =
        last_error.caller < 0 ? "" : "[rank " + std::to_string(last_error.caller) + "] ";
    last_error.text = on + text();
  } catch (const std::bad_alloc&) {
    last_error.text.clear();
  }
}

}  // namespace

void set_caller_rank(std::int32_t rank) noexcept {
  last_error.caller = rank;
}

int finish(const char* function, const Status& status) noexcept {
  if (status.ok()) [[likely]] {
    return TESSERA_OK;
  }
  keep(status.rank() ? status.rank()->value : -1,
       [&] { return std::string(function) + ": " + status.message(); });
  return static_cast<int>(status.code());
}

int finish_no_memory(const char* function) noexcept {
  keep(-1, [&] { return std::string(function) + ": this process has no memory left"; });
  return TESSERA_NO_MEMORY;
}

int finish_exception(const char* function, const char* what) noexcept {
  keep(-1, [&] { return std::string(function) + ": " + what; });
  return TESSERA_INTERNAL;
}

extern "C" {

const char* tessera_last_error(void) {
  return last_error.text.c_str();
}

int64_t tessera_last_error_rank(void) {
  return last_error.rank;
}

const char* tessera_error_name(int code) {
  if (code < 0 || code >= code_count) {
    return "unknown";
  }
  // The names are literals and so end with a zero.
  return rma::to_string(static_cast<Code>(code)).data();
}

const char* tessera_version(void) {
  return rma::version().data();
}

}  // extern "C"

}  // namespace tessera::capi
