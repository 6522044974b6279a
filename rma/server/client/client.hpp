// SPDX-License-Identifier: BSD-3-Clause
//
// Client: a process's side of the data server: its links to the agents of other nodes, and their
// progress.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <string_view>

#include "rma/base/rank.hpp"
#include "rma/base/status.hpp"
#include "rma/progress/long_wait.hpp"
#include "rma/server/client/client_options.hpp"
#include "rma/server/client/client_progress.hpp"
#include "rma/server/client/links.hpp"

namespace tessera::rma::server {

class Client {
 public:
  explicit Client(ClientOptions options);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  [[nodiscard]] const ClientOptions& options() const noexcept { return options_; }
  [[nodiscard]] Links& links() noexcept { return links_; }
  [[nodiscard]] ClientProgress& progress() noexcept { return progress_; }

  /// Closes all connections properly.
  void close() noexcept;
  /// To be called now and then while waiting for the agent of `node`. If a line about a long wait
  /// is due, logs what is waited for, as in "a reply from".
  void report_long_wait(detail::LongWait& wait, std::string_view what, NodeId node) const noexcept;

 private:
  ClientOptions options_;
  Links links_{*this};
  ClientProgress progress_{options_, links_};
};

}  // namespace tessera::rma::server
