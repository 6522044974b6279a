// SPDX-License-Identifier: BSD-3-Clause
#include "bench/mpi/windows.hpp"

#include <utility>

#include "bench/mpi/parts.hpp"

namespace tessera::bench {

std::function<void(Session&)> over_windows(std::function<void(Session&)> part) {
  return [part = std::move(part)](Session& session) {
    if (session.goes_over_windows()) {
      part(session);
    } else {
      session.remark(
          "missing: mpi: rank 0 does not reach rank 1 by transport mpi; run TESSERA_TRANSPORT=mpi "
          "mpirun -n 2 tessera-bench mpi");
    }
  };
}

std::vector<Candidate> library_candidates(Session& session, const Case& c) {
  std::vector<Candidate> found;
  for (const auto& baseline : session.library_baselines()) {
    add(found, baseline->candidate(c));
  }
  return found;
}

std::vector<Measured> measure_on_windows(Session& session, Topic& topic, const Case& c,
                                         std::int64_t line,
                                         const std::vector<Candidate>& candidates) {
  const Subject subject{"mpi", topic.op, c.shape(), static_cast<std::int64_t>(c.bytes())};
  return measure_line(session, topic, subject, line, candidates,
                      session.options().measure_options());
}

void observe_on_windows(const Session& session, const char* target, Target::Sense sense,
                        const std::string& where, const std::vector<Measured>& measured,
                        std::string_view reference) {
  if (!session.is_leader() || !session.options().has_default_modes()) {
    return;
  }
  const Measured* const beside = find(measured, reference);
  if (beside == nullptr) {
    session.targets().record_missing_reference(target);
    return;
  }
  const Measured& own = measured.back();
  const Ratio ratio = sense == Target::Sense::time_at_most
                          ? ratio_of_medians(own.samples_ns, beside->samples_ns)
                          : ratio_of_medians(beside->samples_ns, own.samples_ns);
  session.targets().observe(target, where, ratio);
}

}  // namespace tessera::bench
