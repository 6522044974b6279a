// SPDX-License-Identifier: BSD-3-Clause
//
// File: an open file descriptor with complete reads and writes at given offsets; and the temporary
// file that a checkpoint is written to.
//
// A temporary is called TARGET.tmp-XXXXXXXXXXXXXXXX, with sixteen random digits. A member that
// doesn't share the directory therefore finds no file of that name, not even an older one. The
// process that made the file holds a lock on it, which ends with the process: a temporary without a
// lock was left over by a process that died.
//
// Threads: reads and writes from any thread. Ownership: move-only; the destructor closes the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "rma/base/result.hpp"

namespace tessera::arrays::detail {

/// An error of the file system: "cannot ACTION PATH: text of errno", with a hint if there is a
/// remedy. Codes: invalid_argument (the path, or access rights), limit_exceeded (space, sizes,
/// descriptors), no_memory, unreachable (everything else: the device fails).
rma::Status file_error(int error, const std::string& action, const std::string& path);

class File {
 public:
  File() = default;
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File() { close(); }

  /// Errors: as file_error; invalid_argument for a directory or a device.
  static rma::Result<File> open_to_read(const std::string& path);
  /// Opens a file that another member made. Errors: as file_error.
  static rma::Result<File> open_to_write(const std::string& path);
  /// Opens an existing file to read and write, and locks it. Errors: as file_error; also
  /// invalid_argument if another process has locked it.
  static rma::Result<File> open_to_append(const std::string& path);
  /// Makes and locks a temporary next to `target`. It has the access rights of `target`, if that
  /// exists, and read and write rights for its owner.
  static rma::Result<File> create_temporary(const std::string& target);

  /// Reads at `offset`, always all bytes. Errors: as file_error; protocol if the file ends before
  /// that.
  [[nodiscard]] rma::Status read_at(std::uint64_t offset, std::span<std::byte> to) const;
  [[nodiscard]] rma::Status write_at(std::uint64_t offset, std::span<const std::byte> from) const;
  [[nodiscard]] rma::Result<std::uint64_t> size() const;
  /// Sets the size of the file, with zeros where nothing was written.
  [[nodiscard]] rma::Status resize(std::uint64_t bytes) const;
  /// Gives the file exactly the access rights of another file, if that exists.
  void copy_permissions_of(const std::string& other) const noexcept;
  /// Returns when everything that this process wrote is on the device.
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

/// The file that `path` refers to, after following symbolic links, so that the links stay. Errors:
/// invalid_argument if it is a directory or a device, or its directory doesn't exist.
rma::Result<std::string> checkpoint_target(const std::string& path);
/// Removes temporaries of `target` whose writers have died.
void remove_stale_temporaries(const std::string& target);
/// Replaces `target` by `temporary`, atomically, and makes the change durable. Errors: as
/// file_error; unreachable if the new file is in place but may not be durable.
rma::Status replace(const std::string& temporary, const std::string& target);
void remove_file(const std::string& path) noexcept;
bool does_exist(const std::string& path) noexcept;

}  // namespace tessera::arrays::detail
