// SPDX-License-Identifier: BSD-3-Clause
#include "rma/armci/call.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "rma/armci/armcix.h"
#include "rma/bootstrap.hpp"

namespace tessera::rma::armci {
namespace {

struct LastError {
  int code = 0;
  std::string text;
};
thread_local LastError last_error;

int c_code(Code code) {
  switch (code) {
    case Code::ok:
      return 0;
    case Code::invalid_argument:
      return FAIL;
    case Code::out_of_range:
      return FAIL2;
    case Code::closed:
      return FAIL3;
    case Code::unsupported:
      return FAIL4;
    case Code::no_memory:
      return FAIL5;
    case Code::limit_exceeded:
      return FAIL6;
    case Code::unreachable:
    case Code::peer_lost:
    case Code::timed_out:
      return FAIL7;
    case Code::protocol:
    case Code::internal:
      break;
  }
  return FAIL8;
}

// For errors that were found below, where nobody knows of ARMCI_Malloc.
std::string_view remedy_for(Code code) {
  switch (code) {
    case Code::invalid_argument:
      return "compare the arguments with what armci.h says of the function";
    case Code::out_of_range:
      return "give a pointer that ARMCI_Malloc set for that process, or one into the bytes behind "
             "it, before ARMCI_Free";
    case Code::closed:
      return "call it before what it works on is freed or finalized";
    case Code::peer_lost:
      return "look at what that process wrote before it ended";
    default:
      return "docs/errors.md says what can be done about each kind of error";
  }
}

bool errors_are_returned() {
  if (const Session* const session = Session::current()) {
    return session->job.settings().armci_errors == "return";
  }
  const auto settings = Settings::from_environment();
  return settings.ok() && settings->armci_errors == "return";
}

std::string whose() {
  const Session* const session = Session::current();
  return session == nullptr ? "" : fmt::format("[{}] ", session->job.rank().value);
}

}  // namespace

Status not_running() {
  return Status::error(Code::closed, "ARMCI is not running")
      .hint("call ARMCI_Init first, and nothing of ARMCI's after ARMCI_Finalize");
}

int fail(const char* function, Status error) {
  const Code cause = error.code();
  const int code = c_code(cause);
  const Status told = std::move(error).hint(remedy_for(cause));
  last_error = {code, fmt::format("{}: {}", function, told.message())};
  if (errors_are_returned()) {
    return code;
  }
  fmt::print(stderr, "tessera: {}{}: {}\n", whose(), function, told.describe());
  end_job(EXIT_FAILURE);
}

}  // namespace tessera::rma::armci

using tessera::rma::armci::last_error;

extern "C" {

int ARMCIX_Error_code(void) {
  return last_error.code;
}

const char* ARMCIX_Error_message(void) {
  return last_error.text.c_str();
}

void ARMCIX_Error_clear(void) {
  last_error = {};
}

}  // extern "C"
