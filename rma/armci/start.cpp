// SPDX-License-Identifier: BSD-3-Clause
//
// Start and end of ARMCI and of the message layer; and ending a program with an error.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "rma/armci/call.hpp"
#include "rma/armci/communicator.hpp"
#include "rma/armci/message.h"
#include "rma/armci/parmci.h"
#include "rma/bootstrap.hpp"

namespace tessera::rma::armci {
namespace {

int begin(const char* function, Holder holder) {
  return finish(function, Session::begin(holder));
}

int own_number() {
  const Session* const session = Session::current();
  return session == nullptr ? -1 : session->job.rank().value;
}

[[noreturn]] void end_with(int code) {
  end_job(code == 0 ? EXIT_FAILURE : code);
}

}  // namespace
}  // namespace tessera::rma::armci

namespace armci = tessera::rma::armci;
using armci::Holder;
using armci::Session;

extern "C" {

int PARMCI_Init(void) {
  return armci::begin("ARMCI_Init", Holder::armci);
}
extern decltype(ARMCI_Init) ARMCI_Init [[gnu::weak, gnu::alias("PARMCI_Init")]];

int PARMCI_Init_args(int* argc, char*** argv) {
  if (!Session::is_begun_by(Holder::messages)) {
    const int code = armci::finish("ARMCI_Init_args", armci::start_mpi_if_launched(argc, argv));
    if (code != 0) {
      return code;
    }
  }
  return armci::begin("ARMCI_Init_args", Holder::armci);
}
extern decltype(ARMCI_Init_args) ARMCI_Init_args [[gnu::weak, gnu::alias("PARMCI_Init_args")]];

int PARMCI_Init_thread(int) {
  return armci::begin("ARMCI_Init_thread", Holder::armci);
}
extern decltype(ARMCI_Init_thread) ARMCI_Init_thread
    [[gnu::weak, gnu::alias("PARMCI_Init_thread")]];

int PARMCI_Initialized(void) {
  return Session::is_begun_by(Holder::armci) ? 1 : 0;
}
extern decltype(ARMCI_Initialized) ARMCI_Initialized
    [[gnu::weak, gnu::alias("PARMCI_Initialized")]];

int PARMCI_Finalize(void) {
  const int code = armci::finish("ARMCI_Finalize", Session::end(Holder::armci));
  armci::end_mpi_with_process();
  return code;
}
extern decltype(ARMCI_Finalize) ARMCI_Finalize [[gnu::weak, gnu::alias("PARMCI_Finalize")]];

void ARMCI_Cleanup(void) {}

void ARMCI_Error(const char* message, int code) {
  fmt::print(stderr, "[{}] ARMCI_Error: {} (code {})\n", armci::own_number(),
             message == nullptr ? "" : message, code);
  armci::end_with(code);
}

void armci_msg_abort(int code) {
  fmt::print(stderr, "[{}] armci_msg_abort with code {}\n", armci::own_number(), code);
  armci::end_with(code);
}

int dassertp_fail(const char* condition, const char* file, const char* function, unsigned line,
                  int code) {
  fmt::print(stderr, "[{}] assertion '{}' fails in {} ({}:{})\n", armci::own_number(), condition,
             function, file, line);
  armci::end_with(code);
}

void derr_printf(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
}

void armci_msg_init(int* argc, char*** argv) {
  if (armci::finish("armci_msg_init", armci::start_mpi_if_launched(argc, argv)) == 0) {
    armci::begin("armci_msg_init", Holder::messages);
  }
}

void armci_msg_finalize(void) {
  armci::finish("armci_msg_finalize", Session::end(Holder::messages));
  armci::end_mpi();
}

}  // extern "C"
