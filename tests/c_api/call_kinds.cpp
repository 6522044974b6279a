// SPDX-License-Identifier: BSD-3-Clause
//
// Runs the cases of test_c_api and watches each call of a function: a profiled job counts where its
// ranks wait for each other. A function that is one-sided or local by its comment must never meet
// other ranks; each collective one must do so in some call.
//
// write_call_kinds makes a header from ours with which the cases are compiled: tessera_f(…) means
// begin_call(), tessera_f(…), end_call().
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "fortran/detail/handles.hpp"
#include "rma/engine/job_state.hpp"

extern "C" {
extern tessera_job* job;  // of check.c
int main_of_cases(int argc, char** argv);
void begin_call(const char* function, char kind);
int end_call(int code);
}

namespace {

using tessera::rma::detail::Wait;
using tessera::rma::detail::WaitTallies;

// Calls of these cannot be watched: there is no profile yet, or no longer.
constexpr const char* unwatched[] = {"tessera_job_start", "tessera_job_start_mpi",
                                     "tessera_job_start_with", "tessera_job_stop",
                                     "tessera_job_free"};

// These are collective, but never wait.
constexpr const char* non_blocking[] = {"tessera_team_barrier_async",
                                        "tessera_team_allreduce_async"};

struct Seen {
  char kind = 'L';
  int calls = 0;
  int meetings = 0;  // calls in which all members of a team waited for each other
  int waits = 0;     // calls in which this rank waited for a neighbour's flag
};

struct Call {
  Seen* function = nullptr;
  bool is_watched = false;
  std::uint64_t meetings = 0;
  std::uint64_t waits = 0;
};

std::map<std::string, Seen> functions;
std::vector<Call> calls;

std::uint64_t count(const WaitTallies& tallies, std::initializer_list<Wait> kinds) {
  std::uint64_t sum = 0;
  for (const Wait each : kinds) {
    sum += tallies[static_cast<std::size_t>(each)].count;
  }
  return sum;
}

// The job's counts so far; false if it counts nothing.
bool look(Call& call) {
  if (job == nullptr || job->was_stopped || job->contents == nullptr ||
      job->contents->state().recorder() == nullptr) {
    return false;
  }
  const WaitTallies tallies = job->contents->state().recorder()->tallies();
  call.meetings = count(tallies, {Wait::barrier, Wait::broadcast, Wait::allgather, Wait::reduce,
                                  Wait::exchange, Wait::agree, Wait::team, Wait::memory});
  call.waits = count(tallies, {Wait::notice});
  return true;
}

template <class Names>
bool is_in(const Names& names, const std::string& name) {
  return std::any_of(std::begin(names), std::end(names),
                     [&](const char* each) { return name == each; });
}

bool is_unwatched(const std::string& name) {
  return is_in(unwatched, name);
}

int check(const std::string& name, const Seen& seen) {
  if ((seen.kind != 'C' || is_in(non_blocking, name)) && seen.meetings > 0) {
    std::fprintf(stderr, "%s is of kind %c, and met other ranks in %d of %d calls\n", name.c_str(),
                 seen.kind, seen.meetings, seen.calls);
    return 1;
  }
  if (seen.kind == 'C' && seen.meetings + seen.waits == 0 && !is_unwatched(name) &&
      !is_in(non_blocking, name)) {
    std::fprintf(stderr, "%s is of kind C, and met no other rank in %d calls\n", name.c_str(),
                 seen.calls);
    return 1;
  }
  return 0;
}

int check_all() {
  int wrong = 0;
  int watched = 0;
  for (const auto& [name, seen] : functions) {
    wrong += check(name, seen);
    watched += is_unwatched(name) ? 0 : 1;
  }
  std::fprintf(stderr, "%d functions were watched, %d have another kind\n", watched, wrong);
  return wrong + (watched < 200 ? 1 : 0);
}

}  // namespace

void begin_call(const char* function, char kind) {
  Call& call = calls.emplace_back();
  call.function = &functions[function];
  call.function->kind = kind;
  call.is_watched = !is_unwatched(function) && look(call);
}

int end_call(int code) {
  const Call before = calls.back();
  calls.pop_back();
  ++before.function->calls;
  Call after;
  if (before.is_watched && look(after)) {
    before.function->meetings += after.meetings > before.meetings ? 1 : 0;
    before.function->waits += after.waits > before.waits ? 1 : 0;
  }
  return code;
}

int main(int argc, char** argv) {
  const int failed = main_of_cases(argc, argv);
  return failed != 0 || check_all() != 0;
}
