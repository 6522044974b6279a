// SPDX-License-Identifier: BSD-3-Clause
//
// SharedFiles: the files of SF. A handle is -3000 + the number of a slot; the lowest free one is
// used.
//
// Threads: one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fortran/ga/pario/files.hpp"

namespace tessera::ga::pario {

enum class Reopen : unsigned char { never, to_read, to_read_and_write };

class SharedFiles {
 public:
  static constexpr std::size_t max_files = 100;
  static constexpr std::int64_t first_handle = -3000;

  /// The files of this process.
  static SharedFiles& all();

  struct Created {
    Failure failure = Failure::none;
    std::int64_t handle = 0;
  };
  /// Collective over the default group. Appends a dot and the suffix, or else the slot's number, to
  /// the file's name.
  Created create(std::string_view name, std::optional<std::int64_t> suffix);
  /// Collective. Deletes the file.
  Failure destroy(std::int64_t handle);

  Failure reopen(std::int64_t handle, Reopen how);
  [[nodiscard]] Failure sync(std::int64_t handle) const;
  Failure read(std::int64_t handle, double offset, double bytes, char* buffer) const;
  Failure write(std::int64_t handle, double offset, double bytes, const char* buffer) const;

 private:
  struct Slot {
    bool is_used = false;
    std::string name;
    File file;
  };
  [[nodiscard]] const Slot* find(std::int64_t handle) const;
  /// Returns act(file, offset, bytes).
  template <class Act>
  Failure move(std::int64_t handle, double offset, double bytes, const Act& act) const;

  std::array<Slot, max_files> slots_;
};

}  // namespace tessera::ga::pario
