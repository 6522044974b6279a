// SPDX-License-Identifier: BSD-3-Clause
#include "rma/handle.hpp"

#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/job.hpp"

namespace tessera::rma {

namespace {

const std::shared_ptr<detail::Operation> without_job_and_memory =
    std::make_shared<detail::Operation>(nullptr, detail::Operation::WithoutMemory{});

// A handle as after an operation that ended with `status`; without memory, of `otherwise`.
Handle ended(detail::JobState* job, WorldRank peer, Status status,
             const std::shared_ptr<detail::Operation>& otherwise) noexcept {
  return Handle(detail::catch_bad_alloc(
      [&] {
        auto operation = detail::make_operation(job, peer);
        operation->completion().begin();
        operation->completion().end(std::move(status));
        return operation;
      },
      [&] { return otherwise; }));
}

}  // namespace

Handle Handle::failed(Job& job, Status status) {
  return failed(job, job.rank(), std::move(status));
}

Handle Handle::failed(Job& job, WorldRank peer, Status status) {
  return ended(&job.state(), peer, std::move(status), job.state().reserve().operation());
}

Handle Handle::failed(Status status) {
  return ended(nullptr, {}, std::move(status), without_job_and_memory);
}

Handle& Handle::operator=(Handle&& other) noexcept {
  if (this != &other) {
    settle();
    operation_ = std::move(other.operation_);
  }
  return *this;
}

void Handle::settle() noexcept {
  if (!operation_) {
    return;
  }
  detail::JobState* const job = operation_->job();
  if (Status status = operation_->wait(); !status.ok() && job != nullptr) {
    job->outstanding().defer_error(std::move(status));
  }
  operation_.reset();
}

void Handle::collect(Handle&& other) {
  if (!other.operation_) {
    return;
  }
  if (!operation_) {
    operation_ = std::move(other.operation_);
    return;
  }
  if (operation_->is_without_memory()) {
    operation_.swap(other.operation_);
  }
  if (!operation_->is_without_memory()) {
    operation_->collect(std::exchange(other.operation_, nullptr));
  }
  other.operation_.reset();
}

bool Handle::done() {
  return !operation_ || operation_->done();
}

bool Handle::has_ended() const {
  return !operation_ || operation_->has_ended();
}

Status Handle::wait() {
  if (!operation_) {
    return {};
  }
  const auto operation = std::exchange(operation_, nullptr);
  Status status = operation->wait();
  const detail::JobState* const job = operation->job();
  return job == nullptr ? std::move(status) : job->name_rank(std::move(status));
}

void Handle::adopt() {
  const auto operation = std::exchange(operation_, nullptr);
  if (detail::JobState* const job = operation->job()) {
    job->outstanding().adopt(operation);
  }
}

}  // namespace tessera::rma
