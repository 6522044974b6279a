// SPDX-License-Identifier: BSD-3-Clause
//
// TransportList: a job's transports in order of preference, the path to other nodes, and waits that
// advance them.
//
// Threads: all functions may be called from any thread after the job has started.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "rma/progress/long_wait.hpp"
#include "rma/transport/completion.hpp"
#include "rma/transport/control_channel.hpp"
#include "rma/transport/transport.hpp"

namespace tessera::rma::detail {

class JobState;

class TransportList {
 public:
  explicit TransportList(JobState& job) noexcept : job_(job) {}

  /// Makes the transports that `settings.transport` names, in that order. Skips those that are
  /// unsupported here, as long as another one is left.
  /// Errors: invalid_argument for a name that no factory has.
  Status make(const std::vector<TransportFactory>& factories, TransportContext context);
  /// Why a transport that the settings name is not used: the first reason.
  [[nodiscard]] const Status& passed_over() const noexcept { return passed_over_; }

  /// To other nodes; null if there is only one. set_link() replaces it for tests.
  [[nodiscard]] NodeControlChannel* link() const noexcept { return link_.get(); }
  void set_link(std::unique_ptr<NodeControlChannel> link) noexcept { link_ = std::move(link); }
  /// The transport that connects nodes, and is notified of incoming messages; null if there is
  /// none.
  [[nodiscard]] Transport* between_nodes() const noexcept { return between_nodes_; }
  /// The same, as far as it moves data.
  [[nodiscard]] DataTransport* data_between_nodes() const noexcept { return data_between_nodes_; }
  [[nodiscard]] std::span<const std::unique_ptr<Transport>> all() const noexcept { return all_; }

  /// Advances non-blocking operations on all transports. Returns how many ended.
  int progress();
  /// Waits until no operation of `done` is under way. The log reports a long wait in the words of
  /// `wanted`.
  void complete(Completion& done, const WaitedFor& wanted);
  /// The same, and returns the error of `done`.
  Status finish(Completion& done, const WaitedFor& wanted);
  /// Non-blocking operations were started: see DataTransport::wake_progress.
  void wake_progress();

  /// When the job stops: see Transport.
  void leave() noexcept;
  void stop() noexcept;

 private:
  bool wait(Completion& done, std::chrono::nanoseconds timeout);

  JobState& job_;
  std::unique_ptr<NodeControlChannel> link_;
  std::vector<std::unique_ptr<Transport>> all_;
  std::vector<DataTransport*> data_;  ///< of each
  Transport* between_nodes_ = nullptr;
  DataTransport* data_between_nodes_ = nullptr;
  Status passed_over_;
};

}  // namespace tessera::rma::detail
