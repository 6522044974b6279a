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

// For errors that rma found, which does not know of ARMCI_Malloc.
std::string_view remedy_for(Code code) {
  switch (code) {
    case Code::invalid_argument:
      return "compare the arguments with the description of the function in armci.h";
    case Code::out_of_range:
      return "give a pointer into memory that ARMCI_Malloc set for that process and that "
             "ARMCI_Free has not yet freed";
    case Code::closed:
      return "call it before its object is freed or finalized";
    case Code::peer_lost:
      return "read what that process printed before it ended";
    default:
      return "docs/errors.md lists remedies for each kind of error";
  }
}

bool errors_are_returned() {
  if (const Session* const session = Session::current()) {
    return session->job.settings().armci_errors == "return";
  }
  const auto settings = Settings::from_environment();
  return settings.ok() && settings->armci_errors == "return";
}

std::string process_prefix() {
  const Session* const session = Session::current();
  return session == nullptr ? "" : fmt::format("[{}] ", session->job.rank().value);
}

}  // namespace

Status not_running() {
  return Status::error(Code::closed, "ARMCI is not running")
      .hint("call ARMCI functions only between ARMCI_Init and ARMCI_Finalize");
}

int fail(const char* function, Status error) {
  const Code cause = error.code();
  const int code = c_code(cause);
  const Status reported = std::move(error).hint(remedy_for(cause));
  last_error = {code, fmt::format("{}: {}", function, reported.message())};
  if (errors_are_returned()) {
    return code;
  }
  fmt::print(stderr, "tessera: {}{}: {}\n", process_prefix(), function, reported.describe());
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
