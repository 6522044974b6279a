// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/transport_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "rma/engine/job_state.hpp"
#include "rma/progress/waiter.hpp"

namespace tessera::rma::detail {

Status TransportList::make(const std::vector<TransportFactory>& factories,
                           TransportContext context) {
  for (const std::string_view name : split_names(job_.settings().transport)) {
    const auto factory =
        std::find_if(factories.begin(), factories.end(),
                     [&](const TransportFactory& each) { return each.name == name; });
    if (factory == factories.end()) {
      std::string known;
      for (const TransportFactory& each : factories) {
        known += (known.empty() ? "" : ", ") + each.name;
      }
      return Status::error(Code::invalid_argument,
                           fmt::format("TESSERA_TRANSPORT names '{}'; there are {}", name, known));
    }
    auto transport = factory->create(context);
    if (!transport.ok()) {
      Status status =
          std::move(transport).status().context(fmt::format("starting transport {}", name));
      if (status.code() != Code::unsupported) {
        return status;
      }
      if (job_.rank().value == 0) {
        job_.log().info(status.message());
      }
      passed_over_ = passed_over_.ok() ? std::move(status) : std::move(passed_over_);
      continue;
    }
    all_.push_back(std::move(transport).take());
    data_.push_back(&all_.back()->data());
    context.has_memory = true;
    if (link_ == nullptr) {
      link_ = all_.back()->control_channel();
      between_nodes_ = link_ == nullptr ? nullptr : all_.back().get();
      data_between_nodes_ = link_ == nullptr ? nullptr : data_.back();
      context.are_connected = link_ != nullptr;
    }
  }
  if (all_.empty()) {
    return !passed_over_.ok()
               ? passed_over_
               : Status::error(Code::invalid_argument, "TESSERA_TRANSPORT names no transport");
  }
  return {};
}

int TransportList::progress() {
  if (job_.is_in_forked_child()) [[unlikely]] {
    return 0;
  }
  int ended = 0;
  for (DataTransport* const each : data_) {
    ended += each->progress();
  }
  return ended;
}

// Sleeps until something has moved or the time is over. Returns done.done().
bool TransportList::wait(Completion& done, std::chrono::nanoseconds timeout) {
  return data_between_nodes_ != nullptr ? data_between_nodes_->wait(done, timeout)
                                        : done.wait_for(timeout);
}

void TransportList::complete(Completion& done, const WaitedFor& wanted) {
  const auto is_over = [&] {
    while (!done.done()) {
      if (job_.is_in_forked_child()) [[unlikely]] {
        done.end(Status::error(Code::closed, "only the parent of this process can wait for it"));
      } else if (progress() == 0) {
        return false;
      }
    }
    return true;
  };
  Waiter waiter(job_.node().policy());
  std::optional<LongWait> long_wait;  // most waits end before it is needed
  waiter.sleep(
      OnStep(operation_waits, [&](std::chrono::nanoseconds period) { wait(done, period); }),
      is_over, [&] {
        LongWait& reported =
            long_wait ? *long_wait : long_wait.emplace(job_.settings(), waiter.began());
        report_if_long(reported, job_.log(), [&] { return wanted.describe(); });
        return false;
      });
}

Status TransportList::finish(Completion& done, const WaitedFor& wanted) {
  complete(done, wanted);
  return done.take_error();
}

void TransportList::wake_progress() {
  if (data_between_nodes_ != nullptr) {
    data_between_nodes_->wake_progress();
  }
}

void TransportList::leave() noexcept {
  for (const auto& transport : all_) {
    transport->leave();
  }
}

void TransportList::stop() noexcept {
  for (const auto& transport : all_) {
    transport->stop();
  }
}

}  // namespace tessera::rma::detail
