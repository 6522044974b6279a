// SPDX-License-Identifier: BSD-3-Clause
//
// Messages: TCGMSG's operations, for both languages. tcgmsg.h has their meaning.
//
// One exists in a process, because the interface names none. It uses the session of rma/armci, with
// its mailbox. A program that started GA and not TCGMSG may use TCGMSG in that session.
//
// A message's tag in the mailbox is its type with one more bit, so that TCGMSG and ARMCI take no
// messages of each other. A receive that was begun without waiting takes its message when the
// program waits, and before any later receive that could take the same message.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "arrays/counter.hpp"
#include "rma/armci/session.hpp"
#include "rma/base/result.hpp"

namespace tessera::ga::tcgmsg {

/// An error of the program: wrong arguments or a wrong order of calls.
inline rma::Status wrong(std::string what) {
  return rma::Status::error(rma::Code::invalid_argument, std::move(what));
}

class Messages {
 public:
  /// Collective. Starts the session, or joins it.
  static rma::Status begin(int* argc, char*** argv);
  /// Collective. Leaves the session, and ends MPI.
  static rma::Status end();
  /// The messages of the running session. Errors: closed (no session runs).
  static rma::Result<Messages*> find();
  /// Collective. The same; begins a session if none runs.
  static rma::Result<Messages*> find_or_begin();
  static bool is_begun() noexcept;

  explicit Messages(rma::armci::Session& session) : session_(session) {}
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  [[nodiscard]] std::int64_t rank() const noexcept { return session_.job.rank().value; }
  [[nodiscard]] std::int64_t size() const noexcept { return session_.job.size(); }

  struct Came {
    std::int64_t bytes = -1;
    std::int64_t from = -1;
  };
  rma::Status send(std::int64_t type, std::span<const std::byte> message, std::int64_t to,
                   bool waits);
  rma::Result<Came> receive(std::int64_t type, std::span<std::byte> buffer, std::int64_t from,
                            bool waits);
  rma::Result<bool> probe(std::int64_t type, std::int64_t from);
  rma::Status wait(std::int64_t node);

  rma::Status broadcast(std::span<std::byte> bytes, std::int64_t root);
  rma::Status combine(double* numbers, std::int64_t count, std::string_view operation);
  rma::Status combine(long* numbers, std::int64_t count, std::string_view operation);
  rma::Status combine(int* numbers, std::int64_t count, std::string_view operation);
  rma::Status synchronize();
  rma::Result<std::int64_t> next(std::int64_t processes);
  rma::Status copy_file(std::int64_t root, const char* name);

  void set_debug(bool on) noexcept { is_debug_ = on; }
  [[nodiscard]] bool is_debug() const noexcept { return is_debug_; }
  void print_counts() const;

 private:
  struct Posted {
    std::int32_t tag = 0;
    std::span<std::byte> buffer;
    std::int64_t from = -1;
  };

  static constinit Messages* running;

  [[nodiscard]] rma::Status check_node(std::int64_t node) const;
  rma::Result<rma::armci::Received> take(std::int32_t tag, std::span<std::byte> buffer,
                                         std::int64_t from);
  rma::Result<std::optional<rma::armci::Received>> look(std::int32_t tag, std::int64_t from);
  rma::Status serve_posted(std::int32_t tag, std::int64_t from);
  rma::Status make_counter();
  rma::Status free();
  template <class T>
  rma::Status combine_all(T* numbers, std::int64_t count, std::string_view operation);

  rma::armci::Session& session_;
  std::optional<arrays::Counter> counter_;
  std::list<Posted> posted_;
  bool is_debug_ = false;
  std::int64_t sent_ = 0;
  std::int64_t received_ = 0;
  std::int64_t sent_bytes_ = 0;
  std::int64_t received_bytes_ = 0;
};

}  // namespace tessera::ga::tcgmsg
