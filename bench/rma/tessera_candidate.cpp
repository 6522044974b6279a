// SPDX-License-Identifier: BSD-3-Clause
#include "bench/rma/tessera_candidate.hpp"

#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/baselines/memory_baseline.hpp"
#include "bench/support/candidate.hpp"
#include "rma/aggregate.hpp"
#include "rma/atomic.hpp"
#include "rma/element.hpp"
#include "rma/transfer.hpp"

namespace tessera::bench {
namespace {

using rma::RemoteAddress;
using rma::require;

rma::CopyShape shape_of(const Case& c) {
  return rma::CopyShape::rows(c.run_bytes, c.runs, static_cast<std::int64_t>(c.local_stride),
                              static_cast<std::int64_t>(c.remote_stride));
}

struct LocalBuffer {
  std::shared_ptr<const void> owner;
  std::span<std::byte> bytes;
};

std::string name_by_transport(rma::Job& job, rma::TeamRank target) {
  const std::string_view name = job.transport_to(job.world().world_rank(target)).value();
  return std::string(name == "mpi" ? "tessera" : name);
}

LocalBuffer make_local(rma::Job& job, std::size_t bytes, LocalMemory memory) {
  if (memory == LocalMemory::ordinary) {
    constexpr std::size_t beyond_page = 3072;
    const auto mapping = std::make_shared<const Mapping>(bytes, Sharing::own, beyond_page);
    return {mapping, mapping->bytes()};
  }
  if (memory == LocalMemory::slice) {
    const auto region =
        std::make_shared<const rma::Region>(rma::Region::allocate(job.world(), bytes).value());
    return {region, {region->local(), bytes}};
  }
  void* const allocated = job.allocate_local(bytes).value();
  std::shared_ptr<void> owner(allocated, [&job](void* mine) { require(job.free_local(mine)); });
  return {std::move(owner), {static_cast<std::byte*>(allocated), bytes}};
}

/// Memory that the user allocated.
std::unique_ptr<Mapping> make_attached(std::size_t bytes) {
  return std::make_unique<Mapping>(bytes, Sharing::own);
}

rma::Region make_region(rma::Job& job, const Mapping* attached, std::size_t bytes) {
  return attached == nullptr
             ? rma::Region::allocate(job.world(), bytes).value()
             : rma::Region::attach(job.world(), attached->bytes().data(), bytes).value();
}

}  // namespace

TesseraCandidate::TesseraCandidate(rma::Job& job, const BaselineOptions& options)
    : TesseraCandidate(job, options, rma::TeamRank{job.size() > 1 ? 1 : 0}) {}

TesseraCandidate::TesseraCandidate(rma::Job& job, const BaselineOptions& options,
                                   rma::TeamRank target, LocalMemory memory)
    : job_(job),
      options_(options),
      target_(target),
      name_(name_by_transport(job, target_)),
      attached_(options.attaches ? make_attached(options.buffer_bytes()) : nullptr),
      region_(make_region(job, attached_.get(), options.buffer_bytes())),
      locks_(rma::LockSet::create(job.world(), 1)) {
  const LocalBuffer buffer = make_local(job, options.buffer_bytes(), memory);
  local_owner_ = buffer.owner;
  local_ = buffer.bytes;
  if (job.rank().value == 0) {
    require(rma::put(job_, region_.at(target_), local().data(), local().size()));
  }
}

std::unique_ptr<Baseline> TesseraCandidate::make_memory_baseline() {
  std::byte* const there = region_.direct(target_);
  if (there == nullptr) {
    return std::make_unique<MemoryBaseline>(options_);
  }
  return std::make_unique<MemoryBaseline>(local(), std::span(there, region_.bytes(target_)),
                                          options_.cold, job_.rank().value == 0);
}

Workspace TesseraCandidate::workspace() {
  Workspace workspace;
  workspace.local = local();
  workspace.remote_bytes = region_.bytes(target_);
  workspace.rotate = options_.cold;
  workspace.write_remote = [this](std::span<const std::byte> bytes) {
    require(rma::put(job_, region_.at(target_), bytes.data(), bytes.size()));
    require(region_.fence());
  };
  workspace.read_remote = [this](std::span<std::byte> bytes) {
    require(region_.fence());
    require(rma::get(job_, region_.at(target_), bytes.data(), bytes.size()));
  };
  return workspace;
}

template <class Once>
Candidate TesseraCandidate::make(const Case& c, Once once) {
  const Workspace places = workspace();
  const bool verifies = job_.rank().value == 0;
  if (!c.needs_fence()) {
    return transfer_candidate(name_, c, places, verifies, std::move(once));
  }
  return transfer_candidate(name_, c, places, verifies,
                            [&job = job_, target = job_.world().world_rank(target_),
                             once = std::move(once)](std::size_t local, std::size_t remote) {
                              once(local, remote);
                              require(job.fence(target));
                            });
}

std::optional<Candidate> TesseraCandidate::candidate(const Case& c) {
  if (c.operation == Operation::lock_unlock) {
    return locks_.ok() ? std::optional(lock_unlock(target_, false)) : std::nullopt;
  }
  if (is_atomic(c.operation)) {
    return atomic(c);
  }
  if (!fits(c, workspace())) {
    return std::nullopt;
  }
  switch (c.layout) {
    case Layout::contiguous:
      return contiguous(c);
    case Layout::strided:
      return strided(c);
    case Layout::vector:
      return vector(c);
    case Layout::separate:
    case Layout::window:
      return separate(c);
    case Layout::aggregate:
      return c.operation == Operation::accumulate ? std::nullopt : std::optional(aggregate(c));
  }
  return std::nullopt;
}

Candidate TesseraCandidate::contiguous(const Case& c) {
  std::byte* const here = local().data();
  const RemoteAddress there = region_.at(target_);
  rma::Job& job = job_;
  return by_operation(
      c, [&](auto once) { return make(c, once); },
      [=, &job](std::size_t local, std::size_t remote) {
        require(rma::get(job, there + remote, here + local, c.run_bytes));
      },
      [=, &job](std::size_t local, std::size_t remote) {
        require(rma::accumulate(job, there + remote, here + local, c.run_bytes,
                                rma::Scale::of(c.scale)));
      },
      [=, &job](std::size_t local, std::size_t remote) {
        require(rma::put(job, there + remote, here + local, c.run_bytes));
      });
}

Candidate TesseraCandidate::strided(const Case& c) {
  std::byte* const here = local().data();
  const RemoteAddress there = region_.at(target_);
  rma::Job& job = job_;
  const rma::CopyShape shape = shape_of(c);
  return by_operation(
      c, [&](auto once) { return make(c, once); },
      [=, &job](std::size_t local, std::size_t remote) {
        require(rma::get(job, there + remote, here + local, shape));
      },
      [=, &job](std::size_t local, std::size_t remote) {
        require(rma::accumulate(job, there + remote, here + local, shape, rma::Scale::of(c.scale)));
      },
      [=, &job](std::size_t local, std::size_t remote) {
        require(rma::put(job, there + remote, here + local, shape));
      });
}

Candidate TesseraCandidate::vector(const Case& c) {
  std::vector<rma::Fragment> list;
  for (std::int64_t run = 0; run < c.runs; ++run) {
    list.push_back({local().data() + c.local_offset(run), c.remote_offset(run), c.run_bytes});
  }
  const RemoteAddress there = region_.at(target_);
  rma::Job& job = job_;
  return by_operation(
      c, [&](auto once) { return make(c, once); },
      [=, &job](std::size_t, std::size_t) { require(rma::get(job, there, list)); },
      [=, &job](std::size_t, std::size_t) {
        require(rma::accumulate(job, there, list, rma::Scale::of(c.scale)));
      },
      [=, &job](std::size_t, std::size_t) { require(rma::put(job, there, list)); });
}

Candidate TesseraCandidate::separate(const Case& c) {
  rma::Job& job = job_;
  const std::size_t bytes = c.run_bytes;
  const rma::Scale scale = rma::Scale::of(c.scale);
  return by_operation(
      c, [&](auto once) { return each_run(c, once); },
      [&job, bytes](RemoteAddress theirs, std::byte* mine) {
        return rma::get_async(job, theirs, mine, bytes);
      },
      [&job, bytes, scale](RemoteAddress theirs, std::byte* mine) {
        return rma::accumulate_async(job, theirs, mine, bytes, scale);
      },
      [&job, bytes](RemoteAddress theirs, std::byte* mine) {
        return rma::put_async(job, theirs, mine, bytes);
      });
}

template <class Start>
Candidate TesseraCandidate::each_run(const Case& c, Start start) {
  std::byte* const here = local().data();
  const RemoteAddress there = region_.at(target_);
  rma::Job& job = job_;
  return make(c, [=, &job](std::size_t local, std::size_t remote) {
    for (std::int64_t run = 0; run < c.runs; ++run) {
      start(there + (remote + c.remote_offset(run)), here + local + c.local_offset(run)).detach();
    }
    require(job.wait_rank(there.rank));
  });
}

Candidate TesseraCandidate::aggregate(const Case& c) {
  std::byte* const here = local().data();
  const RemoteAddress there = region_.at(target_);
  const bool gets = c.operation == Operation::get;
  // One aggregate for all repetitions, as a program would keep it.
  const auto gathered = std::make_shared<rma::Aggregate>(job_);
  return make(c, [=](std::size_t local, std::size_t remote) {
    for (std::int64_t run = 0; run < c.runs; ++run) {
      std::byte* const mine = here + local + c.local_offset(run);
      const RemoteAddress theirs = there + (remote + c.remote_offset(run));
      require(gets ? gathered->get(theirs, mine, c.run_bytes)
                   : gathered->put(theirs, mine, c.run_bytes));
    }
    require(gathered->wait());
  });
}

Candidate TesseraCandidate::atomic(const Case& c) {
  const RemoteAddress word = region_.at(target_);
  rma::Job& job = job_;
  if (c.operation == Operation::swap) {
    return swap_candidate(name_, job_.rank().value == 0, [=, &job](std::int64_t value) {
      return rma::swap(job, word, value).value();
    });
  }
  if (c.operation == Operation::compare_swap) {
    return compare_swap_candidate(name_, job_.rank().value == 0,
                                  [=, &job](std::int64_t expected, std::int64_t desired) {
                                    return rma::compare_swap(job, word, expected, desired).value();
                                  });
  }
  return fetch_add_candidate(name_, job_.rank().value == 0, [=, &job](std::int64_t increment) {
    return rma::fetch_add(job, word, increment).value();
  });
}

std::optional<Candidate> TesseraCandidate::stream(Operation operation, std::size_t bytes,
                                                  std::int64_t messages, Completes completes) {
  const Case whole =
      Case::contiguous(operation, bytes * static_cast<std::size_t>(messages)).completing(completes);
  if (!fits(whole, workspace())) {
    return std::nullopt;
  }
  std::byte* const here = local().data();
  const RemoteAddress there = region_.at(target_);
  rma::Job& job = job_;
  const bool gets = operation == Operation::get;
  return make(whole, [=, &job](std::size_t local, std::size_t remote) {
    rma::Handle all;
    for (std::int64_t i = 0; i < messages; ++i) {
      const std::size_t at = static_cast<std::size_t>(i) * bytes;
      std::byte* const mine = here + local + at;
      const RemoteAddress theirs = there + (remote + at);
      all.collect(gets ? rma::get_async(job, theirs, mine, bytes)
                       : rma::put_async(job, theirs, mine, bytes));
    }
    require(all.wait());
  });
}

std::optional<Started> TesseraCandidate::started(Operation operation, std::size_t bytes) {
  const Case c = Case::contiguous(operation, bytes);
  if (!fits(c, workspace())) {
    return std::nullopt;
  }
  const auto handle = std::make_shared<rma::Handle>();
  Started started;
  started.name = name_;
  started.bytes = bytes;
  started.start = [handle, &job = job_, there = region_.at(target_), here = local().data(), bytes,
                   gets = operation == Operation::get] {
    *handle =
        gets ? rma::get_async(job, there, here, bytes) : rma::put_async(job, there, here, bytes);
  };
  started.wait = [handle] { require(handle->wait()); };
  if (job_.rank().value == 0) {
    started.verify = [c, places = workspace(), start = started.start, wait = started.wait] {
      return verify_transfer(c, places, [&] {
        start();
        wait();
      });
    };
  }
  return started;
}

std::optional<Candidate> TesseraCandidate::with_new_memory(Operation operation, std::size_t bytes,
                                                           PausableClock& clock) {
  const Case c = Case::contiguous(operation, bytes).completing(Completes::here);
  if (!fits(c, workspace())) {
    return std::nullopt;
  }
  rma::Job& job = job_;
  std::byte* const here = local().data();
  const RemoteAddress there = region_.at(target_);
  if (operation == Operation::get) {
    return make(c, [=, &job, &clock](std::size_t local, std::size_t remote) {
      std::optional<Mapping> fresh;
      clock.pause([&] { fresh.emplace(bytes, Sharing::own); });
      require(rma::get(job, there + remote, fresh->bytes().data(), bytes));
      clock.pause([&] {
        std::memcpy(here + local, fresh->bytes().data(), bytes);
        fresh.reset();
      });
    });
  }
  return make(c, [=, &job, &clock](std::size_t local, std::size_t remote) {
    std::optional<Mapping> fresh;
    clock.pause([&] {
      fresh.emplace(bytes, Sharing::own);
      std::memcpy(fresh->bytes().data(), here + local, bytes);
    });
    require(rma::put(job, there + remote, fresh->bytes().data(), bytes));
    clock.pause([&] { fresh.reset(); });
  });
}

Candidate TesseraCandidate::lock_unlock(rma::TeamRank owner, bool cooperative) {
  return {.name = name_,
          .run = repeat([this, owner] {
            lock(owner);
            unlock(owner);
          }),
          .cooperative = cooperative};
}

}  // namespace tessera::bench
