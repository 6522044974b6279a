// SPDX-License-Identifier: BSD-3-Clause
#include "apps/tool/doctor.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apps/tool/advice.hpp"
#include "apps/tool/collect.hpp"
#include "apps/tool/settings.hpp"
#include "rma/bootstrap.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"
#include "rma/team.hpp"
#include "rma/transfer.hpp"

namespace tessera::tool {
namespace {

using rma::Bootstrap;
using rma::Job;
using rma::Settings;
using rma::WorldRank;
using std::chrono::milliseconds;

constexpr milliseconds node_timeout{3000};

milliseconds rank_timeout(const Settings& settings) {
  return milliseconds(settings.start_timeout_ms);
}

// Stores a message and its remedy.
void set_error(Launch& launch, const rma::Status& status) {
  const Advice advice = split_hint(status.message());
  launch.error = advice.message;
  launch.remedy = advice.remedy;
}

std::string describe_transport(const Settings& settings, std::string_view name) {
  for (const rma::TransportDescription& each : rma::describe_transports(settings)) {
    if (each.name == name) {
      return each.text;
    }
  }
  return "";
}

// Finds the other ranks as a job would, or runs alone; records in `own` how that went.
std::shared_ptr<Bootstrap> choose_bootstrap_or_alone(const Settings& settings, Environment& own) {
  auto chosen = rma::choose_bootstrap(settings);
  std::shared_ptr<Bootstrap> bootstrap;
  if (chosen.ok()) {
    bootstrap = std::move(chosen).take();
  } else {
    set_error(own.launch, chosen.status());
    bootstrap = rma::alone_bootstrap();
  }
  own.launch.bootstrap = bootstrap->name();
  own.launch.rank = bootstrap->rank().value;
  own.launch.ranks = bootstrap->size();
  own.mpi.thread_level = rma::mpi_library().thread_level;
  own.mpi.windows = describe_transport(settings, "mpi");
  return bootstrap;
}

double seconds_of_day() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

rma::Result<std::vector<Environment>> share(Bootstrap& bootstrap, const Settings& settings,
                                            Environment own) {
  const milliseconds timeout = rank_timeout(settings);
  // The first waits for all ranks; after the second all continue at about the same moment.
  TESSERA_RETURN_IF_ERROR(rma::allgather_texts(bootstrap, "", timeout).status());
  TESSERA_RETURN_IF_ERROR(rma::allgather_texts(bootstrap, "", timeout).status());
  own.clock.seconds = seconds_of_day();
  TESSERA_ASSIGN_OR_RETURN(const auto texts,
                           rma::allgather_texts(bootstrap, to_text(own), timeout));
  std::vector<Environment> all;
  std::transform(texts.begin(), texts.end(), std::back_inserter(all), from_text);
  return all;
}

// The lowest rank of the node after this rank's, or of the first one.
WorldRank rank_of_next_node(const Job& job, const rma::NodeConnections& connections) {
  const std::int32_t next = (job.node_of(job.rank()).value + 1) % connections.nodes();
  const auto& nodes = connections.node_of;
  const auto first = std::find(nodes.begin(), nodes.end(), rma::NodeId{next});
  return WorldRank{static_cast<std::int32_t>(first - nodes.begin())};
}

// Puts a value and gets it back.
rma::Status try_transfer(Job& job, const rma::Region& region, WorldRank target) {
  const auto offset = static_cast<std::uint64_t>(job.rank().value) * sizeof(std::int64_t);
  const auto at = region.at(rma::TeamRank{target.value}, offset);
  const std::int64_t sent = job.rank().value + 1;
  TESSERA_RETURN_IF_ERROR(rma::put_value(job, at, sent));
  TESSERA_RETURN_IF_ERROR(job.fence(target));
  TESSERA_ASSIGN_OR_RETURN(const auto received, rma::get_value<std::int64_t>(job, at));
  return received == sent ? rma::Status()
                          : rma::Status::error_at(target, rma::Code::internal,
                                                  fmt::format("put {} to rank {}, but got {} back",
                                                              sent, target.value, received));
}

// The first operations of a job: memory, and words for this rank, the next one, and another node.
rma::Status use_job(Job& job, const rma::NodeConnections& connections) {
  const auto ranks = static_cast<std::size_t>(job.size());
  TESSERA_ASSIGN_OR_RETURN(rma::Region region,
                           rma::Region::allocate(job.world(), ranks * sizeof(std::int64_t)));
  rma::Status moved;
  for (const WorldRank target : {job.rank(), WorldRank{(job.rank().value + 1) % job.size()},
                                 rank_of_next_node(job, connections)}) {
    if (moved.ok()) {
      moved = try_transfer(job, region, target);
    }
  }
  const rma::Status freed = region.free();
  return moved.ok() ? freed : moved;
}

// Each rank's error in a trial job. The bootstrap cannot be used afterwards.
rma::Result<std::vector<std::string>> try_job(const std::shared_ptr<Bootstrap>& bootstrap,
                                              const Settings& settings,
                                              const rma::NodeConnections& connections) {
  auto job = Job::start({.bootstrap = bootstrap, .settings = settings});
  const rma::Status used = job.ok() ? use_job(*job, connections) : job.status();
  auto errors =
      rma::allgather_texts(*bootstrap, used.ok() ? "" : used.message(), rank_timeout(settings));
  if (job.ok()) {
    const rma::Status stopped = job->stop();
    if (errors.ok() && used.ok() && !stopped.ok()) {
      (*errors)[static_cast<std::size_t>(bootstrap->rank().value)] = stopped.message();
    }
  } else {
    bootstrap->leave();
  }
  return errors;
}

bool is_any_red(const Snapshot& snapshot) {
  const auto is_red = [](const Finding& finding) { return finding.state == State::red; };
  return std::any_of(snapshot.ranks.begin(), snapshot.ranks.end(),
                     [&](const Environment& each) { return is_red(check_settings(each)); }) ||
         is_red(check_same_settings(snapshot)) || is_red(check_connections(snapshot));
}

}  // namespace

rma::Result<Snapshot> take_snapshot() {
  std::vector<std::string> warnings;
  const auto read = read_settings(warnings);
  const Settings settings = read.ok() ? *read : Settings();
  Environment own = gather(read, warnings);
  const std::shared_ptr<Bootstrap> bootstrap = choose_bootstrap_or_alone(settings, own);
  Snapshot snapshot;
  snapshot.is_reporter =
      bootstrap->size() > 1 ? bootstrap->rank().value == 0 : own.launch.announced_rank <= 0;
  TESSERA_ASSIGN_OR_RETURN(snapshot.ranks, share(*bootstrap, settings, std::move(own)));
  snapshot.connections.node_of.assign(snapshot.ranks.size(), rma::NodeId{0});
  if (!is_any_red(snapshot)) {
    auto tried = rma::try_connections(*bootstrap, settings, node_timeout);
    if (tried.ok()) {
      snapshot.connections = std::move(tried).take();
    } else {
      snapshot.connections_error = tried.status().message();
    }
  }
  if (is_any_red(snapshot)) {
    bootstrap->leave();
    return snapshot;
  }
  snapshot.is_job_tried = true;
  TESSERA_ASSIGN_OR_RETURN(snapshot.job_errors, try_job(bootstrap, settings, snapshot.connections));
  return snapshot;
}

}  // namespace tessera::tool
