// SPDX-License-Identifier: BSD-3-Clause
#include "rma/phase.hpp"

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/job.hpp"
#include "rma/profile/phase_log.hpp"

namespace tessera::rma {

void Phase::record_begin(const std::shared_ptr<detail::PhaseLog>& log,
                         std::string_view name) noexcept {
  log_ = log;
  number_ = log->begin(name);
}

void Phase::record_end() noexcept {
  log_->end(number_);
  log_.reset();
}

Status begin_phase(const Job& job, std::string_view name) {
  if (name.empty()) {
    return job.name_rank(Status::error(Code::invalid_argument, "a phase needs a name"));
  }
  if (const auto& phases = job.state().phases()) {
    phases->begin(name);
  }
  return {};
}

Status end_phase(const Job& job, std::string_view name) {
  const auto& phases = job.state().phases();
  return phases == nullptr
             ? Status()
             : job.name_rank(detail::catch_bad_alloc([&] { return phases->end_innermost(name); }));
}

std::uint32_t detail::current_phase(const Job& job) noexcept {
  const auto& phases = job.state().phases();
  return phases == nullptr ? 0 : phases->current();
}

std::string detail::path_of_phase(const Job& job, std::uint32_t phase) {
  const auto& phases = job.state().phases();
  return phases == nullptr ? std::string() : phases->path_of(phase);
}

}  // namespace tessera::rma
