// SPDX-License-Identifier: BSD-3-Clause
//
// A rank's program that prints how many interrupts (SIGINT) it gets within a second. Shells and
// interpreters cannot do this: they count two interrupts in quick succession as one.
#include <csignal>
#include <cstdio>
#include <ctime>

namespace {

volatile std::sig_atomic_t count = 0;

void record_signal(int) {
  count = count + 1;
}

}  // namespace

int main() {
  struct sigaction action {};
  action.sa_handler = record_signal;
  sigaction(SIGINT, &action, nullptr);
  std::puts("ready");
  std::fflush(stdout);
  timespec left{1, 0};
  while (nanosleep(&left, &left) != 0) {
  }
  std::printf("counted %d\n", static_cast<int>(count));
}
