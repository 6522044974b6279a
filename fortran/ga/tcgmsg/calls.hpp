// SPDX-License-Identifier: BSD-3-Clause
//
// What TCGMSG's names, which are in the table `names`, call in both languages. Errors end the
// program, as TCGMSG's do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "fortran/ga/include/tcgmsg.h"
#include "fortran/ga/include/typesf2c.h"
#include "fortran/ga/tcgmsg/messages.hpp"

namespace tessera::ga::tcgmsg {

/// Prints the error and ends the program on all processes.
void end_with(const char* function, const rma::Status& error) noexcept;
/// Ends the program because of an error that the program itself reports.
void end_with(std::string_view message, std::int64_t code) noexcept;

/// Runs `act`, which returns a status.
template <class Act>
void guard(const char* function, const Act& act) noexcept {
  try {
    if (const rma::Status status = act(); !status.ok()) [[unlikely]] {
      end_with(function, status);
    }
  } catch (const std::bad_alloc&) {
    end_with(function, rma::Status::code_only(rma::Code::no_memory));
  } catch (const std::exception& error) {
    end_with(function, rma::Status::error(rma::Code::internal, error.what()));
  }
}

/// Runs `act` with the messages of the session that runs.
template <class Act>
void call(const char* function, const Act& act) noexcept {
  guard(function, [&]() -> rma::Status {
    TESSERA_ASSIGN_OR_RETURN(Messages* const messages, Messages::find());
    return act(*messages);
  });
}
/// The same; starts TCGMSG if no session runs.
template <class Act>
void call_together(const char* function, const Act& act) noexcept {
  guard(function, [&]() -> rma::Status {
    TESSERA_ASSIGN_OR_RETURN(Messages* const messages, Messages::find_or_begin());
    return act(*messages);
  });
}

inline std::string_view text_of(const char* name) noexcept {
  return name == nullptr ? std::string_view() : name;
}
/// Fortran's, without the blanks at its end.
inline std::string_view text_of(const char* name, std::size_t length) noexcept {
  while (length > 0 && name[length - 1] == ' ') {
    --length;
  }
  return {name, length};
}

inline std::span<std::byte> bytes_of(void* buffer, std::int64_t length) noexcept {
  return {static_cast<std::byte*>(buffer), static_cast<std::size_t>(length)};
}

void begin(int* argc, char*** argv) noexcept;
void begin_without_arguments() noexcept;
[[noreturn]] void end() noexcept;
inline std::int64_t is_ready() noexcept {
  return Messages::is_begun() ? 1 : 0;
}
inline std::int64_t nodes() noexcept {
  std::int64_t count = 0;
  call("nnodes", [&](const Messages& messages) {
    count = messages.size();
    return rma::Status();
  });
  return count;
}
inline std::int64_t node() noexcept {
  std::int64_t own = 0;
  call("nodeid", [&](const Messages& messages) {
    own = messages.rank();
    return rma::Status();
  });
  return own;
}
inline void send(std::int64_t type, void* buffer, std::int64_t length, std::int64_t to,
                 std::int64_t sync) noexcept {
  call("snd", [&](Messages& messages) {
    return messages.send(type, bytes_of(buffer, length), to, sync != 0);
  });
}
/// `received` and `from` are null if the caller does not need the length or the sender.
template <class I>
void receive(std::int64_t type, void* buffer, std::int64_t length, I* received, std::int64_t node,
             I* from, std::int64_t sync) noexcept {
  Messages::Came came;
  call("rcv", [&](Messages& messages) -> rma::Status {
    TESSERA_ASSIGN_OR_RETURN(came,
                             messages.receive(type, bytes_of(buffer, length), node, sync != 0));
    return {};
  });
  if (received != nullptr) {
    *received = static_cast<I>(came.bytes);
  }
  if (from != nullptr) {
    *from = static_cast<I>(came.from);
  }
}
inline std::int64_t probe(std::int64_t type, std::int64_t from) noexcept {
  bool has_arrived = false;
  call("probe", [&](Messages& messages) -> rma::Status {
    TESSERA_ASSIGN_OR_RETURN(has_arrived, messages.probe(type, from));
    return {};
  });
  return has_arrived ? 1 : 0;
}
inline void wait(std::int64_t other) noexcept {
  call("waitcom", [&](Messages& messages) { return messages.wait(other); });
}
inline void broadcast(void* buffer, std::int64_t length, std::int64_t root) noexcept {
  call_together("brdcst", [&](Messages& messages) {
    return messages.broadcast(bytes_of(buffer, length), root);
  });
}
template <class T>
void combine(const char* function, T* numbers, std::int64_t count,
             std::string_view operation) noexcept {
  call_together(function,
                [&](Messages& messages) { return messages.combine(numbers, count, operation); });
}
inline void synchronize() noexcept {
  call_together("synch", [](Messages& messages) { return messages.synchronize(); });
}
inline std::int64_t next(std::int64_t processes) noexcept {
  std::int64_t value = 0;
  call("nxtval", [&](Messages& messages) -> rma::Status {
    TESSERA_ASSIGN_OR_RETURN(value, messages.next(processes));
    return {};
  });
  return value;
}
inline void copy_file(std::int64_t root, std::string_view name) noexcept {
  call("pfcopy",
       [&](Messages& messages) { return messages.copy_file(root, std::string(name).c_str()); });
}

/// The number of elements of `to` bytes that have room for `count` elements of `from` bytes.
std::int64_t convert(const char* function, std::int64_t count, std::size_t from,
                     std::size_t to) noexcept;
double seconds() noexcept;
inline std::int64_t hundredths() noexcept {
  return static_cast<std::int64_t>(seconds() * 100.0);
}
inline double random_number(std::int64_t seed) noexcept {
  if (seed != 0) {
    srand48(seed);
  }
  return drand48();
}
inline void end_with_code(std::int64_t code) noexcept {
  end_with("parerr: the program found an error,", code);
}
/// For calls that mark events in a log; this library keeps none.
inline void nothing() noexcept {}
void set_debug(std::int64_t value) noexcept;
void print_counts() noexcept;
void write_to_log() noexcept;
std::int64_t be_nice(std::int64_t by) noexcept;

}  // namespace tessera::ga::tcgmsg
