// SPDX-License-Identifier: BSD-3-Clause
//
// File: an open file descriptor, with reads and writes at given places that are done in full or
// tell why not; and the temporary file that a checkpoint is written to.
//
// A temporary is called TARGET.tmp-XXXXXXXXXXXXXXXX, sixteen random digits, so that a member that
// doesn't share the directory finds no file of that name, and not an older one. Whoever made it
// keeps a lock on it, which ends with its process: what has no lock is left over from one that
// died.
//
// Threads: reads and writes from any. Ownership: move-only; the destructor closes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "rma/result.hpp"

namespace tessera::arrays::detail {

/// An error of the file system: "cannot ACTION PATH: what errno says", with a hint where there is
/// a remedy. Codes: invalid_argument (the path, or rights), limit_exceeded (space, sizes,
/// descriptors), no_memory, unreachable (all else: the device doesn't do it).
rma::Status file_error(int error, const std::string& action, const std::string& path);

class File {
 public:
  File() = default;
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File() { close(); }

  /// Errors: as file_error; invalid_argument for a directory or a device.
  static rma::Result<File> open_to_read(const std::string& path);
  /// Opens what another member made. Errors: as file_error.
  static rma::Result<File> open_to_write(const std::string& path);
  /// Makes and locks a temporary beside `target`, with the rights of `target` if there is one, and
  /// those to read and write for its owner.
  static rma::Result<File> create_temporary(const std::string& target);

  /// Errors: as file_error; protocol for an end before all is read.
  [[nodiscard]] rma::Status read_at(std::uint64_t offset, std::span<std::byte> to) const;
  [[nodiscard]] rma::Status write_at(std::uint64_t offset, std::span<const std::byte> from) const;
  [[nodiscard]] rma::Result<std::uint64_t> size() const;
  /// Makes the file so long, with zeros where nothing was written.
  [[nodiscard]] rma::Status resize(std::uint64_t bytes) const;
  /// Gives the file exactly the rights of another one, if that exists.
  void take_rights_of(const std::string& other) const noexcept;
  /// Returns when what this process wrote is on the device.
  [[nodiscard]] rma::Status sync() const;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
  void close() noexcept;

 private:
  File(int descriptor, std::string path) noexcept
      : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_ = -1;
  std::string path_;
};

/// The file that `path` means: the end of symbolic links, so that they stay. Errors:
/// invalid_argument when it is a directory or a device, or its directory doesn't exist.
rma::Result<std::string> checkpoint_target(const std::string& path);
/// Removes temporaries of `target` whose writers are no more.
void remove_left_over(const std::string& target);
/// Puts `temporary` in the place of `target`, whole or not at all, and makes that last. Errors: as
/// file_error; unreachable when it is in place and may not last.
rma::Status replace(const std::string& temporary, const std::string& target);
void remove_file(const std::string& path) noexcept;

}  // namespace tessera::arrays::detail
