// SPDX-License-Identifier: BSD-3-Clause
#include "bench/verbs/devices.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "bench/parts.hpp"

namespace tessera::bench {
namespace {

constexpr rma::WorldRank target{1};

/// Collective. Whether rank 0 reaches rank 1 over RDMA devices.
bool goes_over_devices(Session& session) {
  const auto name = session.job().transport_to(target);
  return session.group().share(name.ok() && *name == "verbs");
}

void measure_over_devices(Session& session, const std::function<void(VerbsPair&)>& part) {
  std::string missing;
  auto bare = make_verbs_baseline(session.group(), net_options(session), missing);
  if (!bare) {
    session.remark("missing: " + missing);
  }
  if (!goes_over_devices(session)) {
    if (bare) {
      session.remark(
          "missing: verbs: rank 0 reaches rank 1 by another transport; set "
          "TESSERA_TRANSPORT=shm,verbs to see the reason");
    }
    return;
  }
  VerbsPair pair(session, std::move(bare));
  part(pair);
}

}  // namespace

VerbsPair::VerbsPair(Session& session, std::unique_ptr<VerbsBaseline> bare)
    : session_(session),
      bare_(std::move(bare)),
      ordinary_(session.job(), net_options(session)),
      allocated_(session.job(), net_options(session), rma::TeamRank{target.value},
                 LocalMemory::allocated) {}

std::optional<Candidate> VerbsPair::bare(const Case& c) const {
  return bare_ ? bare_->candidate(c) : std::nullopt;
}

std::optional<Candidate> VerbsPair::bare_stream(Operation operation, std::size_t bytes,
                                                std::int64_t messages) const {
  return bare_ ? bare_->stream(operation, bytes, messages) : std::nullopt;
}

std::optional<Candidate> VerbsPair::bare_put_and_read(std::size_t bytes) const {
  return bare_ ? bare_->put_and_read(bytes) : std::nullopt;
}

std::optional<Started> VerbsPair::bare_started(Operation operation, std::size_t bytes) const {
  return bare_ ? bare_->started(operation, bytes) : std::nullopt;
}

std::vector<Measured> VerbsPair::measure(Topic& topic, const std::string& shape, std::int64_t size,
                                         std::int64_t line,
                                         const std::vector<Candidate>& candidates,
                                         Clock clock) const {
  // About 100 µs: puts that need only local completion follow each other, and the device limits the
  // rate.
  constexpr double clock_readings = 5000;
  MeasureOptions options = session_.options().measure_options();
  options.timer_multiple = clock_readings;
  options.clock = std::move(clock);
  return measure_line(session_, topic, {"verbs", topic.op, shape, size}, line, candidates, options);
}

std::vector<std::size_t> requested(const Session& session, const std::vector<std::size_t>& sizes) {
  const auto least = static_cast<std::size_t>(session.options().min_size);
  const auto most = static_cast<std::size_t>(session.options().max_size);
  std::vector<std::size_t> found;
  std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(found),
               [=](std::size_t size) { return size >= least && size <= most; });
  return found;
}

std::function<void(Session&)> over_devices(std::function<void(VerbsPair&)> part) {
  return between_nodes(
      [part = std::move(part)](Session& session) { measure_over_devices(session, part); }, "verbs");
}

}  // namespace tessera::bench
