// SPDX-License-Identifier: BSD-3-Clause
#include "apps/common/run_ranks.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "apps/common/exit_codes.hpp"
#include "apps/common/failure.hpp"
#include "apps/common/memory_check.hpp"
#include "apps/common/output.hpp"

namespace tessera::apps {

using rma::Job;
using rma::Status;

namespace {

Outcome run_rank(std::string_view program, Job& job, const RankProgram& body) {
  Outcome outcome;
  outcome.exit_code = catch_bad_alloc(program, job, [&] {
    outcome = body(job);
    const bool is_unreported = !outcome.status.ok() && outcome.exit_code == 0;
    return is_unreported ? exit_failed : outcome.exit_code;
  });
  return outcome;
}

int run_in_threads(std::string_view program, std::int32_t threads, const RankProgram& body) {
  int exit_code = exit_failed;
  std::atomic<bool> lacked_memory = false;
  const Status status = rma::run_on_threads(threads, [&](Job& job) {
    Outcome outcome = run_rank(program, job, body);
    if (job.rank().value == 0) {
      exit_code = outcome.exit_code;
    }
    // A rank without memory prints that itself, while others find it gone.
    if (outcome.status.ok() && outcome.exit_code == exit_usage) {
      lacked_memory = true;
    }
    return std::move(outcome.status);
  });
  if (!status.ok()) {
    print_error(program, status.message());
  }
  if (lacked_memory) {
    return exit_usage;
  }
  return status.ok() || exit_code != 0 ? exit_code : exit_failed;
}

int run_in_process(std::string_view program, const RankProgram& body) {
  auto job = Job::start();
  if (!job.ok()) {
    print_error(program, job.status().message());
    return is_no_memory(job.status()) ? exit_usage : exit_failed;
  }
  const Outcome outcome = run_rank(program, *job, body);
  if (!outcome.status.ok()) {
    print_failure(program, *job, outcome.status);
  }
  return outcome.exit_code;
}

}  // namespace

Outcome outcome_of(rma::Result<int> exit_code, std::initializer_list<rma::Code> also) {
  if (exit_code.ok()) {
    return {.exit_code = *exit_code};
  }
  Status status = std::move(exit_code).status();
  const bool is_of_user = status.code() == rma::Code::invalid_argument || is_no_memory(status) ||
                          std::ranges::find(also, status.code()) != also.end();
  return {std::move(status), is_of_user ? exit_usage : exit_failed};
}

int run_ranks(std::string_view program, std::int32_t threads, const RankProgram& body) {
  return threads > 0 ? run_in_threads(program, threads, body) : run_in_process(program, body);
}

}  // namespace tessera::apps
