// SPDX-License-Identifier: BSD-3-Clause
//
// EafFiles: the files of EAF that are open in this process. A file is on disk or in memory. One in
// memory has a fixed size, keeps its content after it is closed, and is found by its name until it
// is deleted.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fortran/ga/pario/files.hpp"

namespace tessera::ga::pario {

/// EAF's numbers of errors.
enum class EafError : std::int32_t {
  none = 0,
  end_of_file = -10001,
  max_open = -10002,
  memory = -10003,
  open = -10004,
  close = -10005,
  descriptor = -10006,
  write = -10007,
  write_async = -10008,
  read = -10009,
  read_async = -10010,
  wait = -10011,
  probe = -10012,
  remove = -10013,
  unimplemented = -10014,
  stat = -10015,
  too_short = -10016,
  too_long = -10017,
  offset = -10018,
  truncate = -10019,
  length = -10020,
};
/// The text of an error of EAF or ELIO; empty for an unknown number.
std::string_view eaf_text_of(std::int64_t code) noexcept;

class EafFiles {
 public:
  static constexpr std::size_t max_open = 1024;
  static constexpr std::int64_t max_name = 1024;

  /// The files of this process.
  static EafFiles& all();

  struct Opened {
    EafError error = EafError::none;
    int number = -1;
  };
  Opened open(std::string_view name, std::int64_t type);
  EafError close(std::int64_t number);
  EafError remove(std::string_view name);

  EafError read(std::int64_t number, double offset, std::span<std::byte> bytes);
  EafError write(std::int64_t number, double offset, std::span<const std::byte> bytes);
  EafError length(std::int64_t number, double& length) const;
  EafError truncate(std::int64_t number, double length);
  [[nodiscard]] bool is_open(std::int64_t number) const { return find(number) != nullptr; }
  void print_counts(std::int64_t number) const;

 private:
  struct FreeMemory {
    void operator()(std::byte* bytes) const noexcept { std::free(bytes); }
  };
  struct Memory {
    std::unique_ptr<std::byte[], FreeMemory> owner;
    std::span<std::byte> bytes;
    std::int64_t used = 0;  ///< the end of what was written
  };
  struct Counts {
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
    double seconds = 0;
  };
  struct Entry {
    std::string name;
    File file;
    std::shared_ptr<Memory> memory;  ///< null: on disk
    Counts reads;
    Counts writes;
  };

  [[nodiscard]] Entry* find(std::int64_t number) const;
  /// Checks a read or write, does it by `move_bytes(entry, at)`, and counts it in `counts`.
  template <class Byte, class Move>
  EafError move(std::int64_t number, double offset, std::span<Byte> bytes, Counts Entry::*counts,
                const Move& move_bytes);
  /// Null if there is no memory. The system gives pages when they are written.
  static std::shared_ptr<Memory> make_memory(std::size_t bytes);
  static EafError read_memory(const Memory& memory, std::int64_t at, std::span<std::byte> bytes);
  static EafError write_memory(Memory& memory, std::int64_t at, std::span<const std::byte> bytes);

  std::vector<std::unique_ptr<Entry>> entries_;  ///< by number; null: not in use
  std::map<std::string, std::shared_ptr<Memory>, std::less<>> in_memory_;
};

}  // namespace tessera::ga::pario
