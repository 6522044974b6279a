// SPDX-License-Identifier: BSD-3-Clause
#include "rma/armci/session.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "rma/bootstrap.hpp"

namespace tessera::rma::armci {
namespace {

// How often each holder has begun and not ended; written by one thread while no other is in a call
// (session.hpp). A library and the program that uses it may both start and end ARMCI.
std::array<int, 3> begin_counts{};

int& begin_count(Holder holder) {
  return begin_counts[static_cast<std::size_t>(holder)];
}

}  // namespace

// Not destroyed if a program ends without ARMCI_Finalize: that would wait for the other processes.
constinit Session* Session::running = nullptr;

bool Session::is_begun_by(Holder holder) noexcept {
  return begin_count(holder) != 0;
}

Status Session::begin(Holder holder, std::shared_ptr<Bootstrap> bootstrap) {
  if (running == nullptr) {
    TESSERA_ASSIGN_OR_RETURN(Job job, Job::start({.bootstrap = std::move(bootstrap)}));
    auto session = std::make_unique<Session>(std::move(job));
    TESSERA_RETURN_IF_ERROR(session->prepare());
    running = session.release();
  }
  ++begin_count(holder);
  return {};
}

Status Session::end(Holder holder) {
  int& times = begin_count(holder);
  times = holder == Holder::armci ? std::max(times - 1, 0) : 0;
  const bool is_held =
      std::any_of(begin_counts.begin(), begin_counts.end(), [](int count) { return count != 0; });
  if (running == nullptr || is_held || is_child_of_rank()) {
    return {};
  }
  const std::unique_ptr<Session> last(running);
  Status finished = last->finish();
  running = nullptr;
  return finished;
}

Status Session::prepare() {
  on_other_node_.resize(static_cast<std::size_t>(job.size()));
  for (std::int32_t rank = 0; rank < job.size(); ++rank) {
    on_other_node_[static_cast<std::size_t>(rank)] = !job.shares_node(WorldRank{rank});
  }
  TESSERA_ASSIGN_OR_RETURN(groups, Groups::create(job));
  TESSERA_ASSIGN_OR_RETURN(pool, MemoryPool::create(job));
  TESSERA_ASSIGN_OR_RETURN(mailbox, Mailbox::create(job));
  return {};
}

// In order of dependence; each step runs even if the one before has failed.
Status Session::finish() {
  Status all = job.barrier();
  const auto record = [&all](Status each) {
    if (all.ok()) {
      all = std::move(each);
    }
  };
  handles.clear();
  mutexes.reset();
  mutex_sets.clear();
  record(mailbox.free());
  record(pool.free());
  record(allocations.free_all());
  groups.clear();
  record(job.stop());
  return all;
}

}  // namespace tessera::rma::armci
