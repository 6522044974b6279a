// SPDX-License-Identifier: BSD-3-Clause
//
// File: a file that is read and written at offsets, for all interfaces of this folder; and the
// numbers and texts of errors that they share with ELIO.
//
// Threads: reads and writes from any; open and close from one. Ownership: move-only; the destructor
// closes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rma/base/result.hpp"

namespace tessera::ga::pario {

enum class Access : std::int32_t { read_write = -1, write = -2, read = -3 };

/// ELIO's numbers of errors.
enum class Failure : std::int32_t {
  none = 0,
  seek = -2000,
  write,
  write_async,
  read,
  read_async,
  suspend,
  handle,
  mode,
  folder,
  stat,
  open,
  memory,
  unsupported,
  remove,
  close,
  interrupted,
  request,
  long_name,
  file_system,
  conversion,
  type,
  probe,
  truncate,
  end_of_file,
  sync,
  unknown,
};
/// The text of an error; empty for an unknown number.
std::string_view text_of(std::int64_t code) noexcept;

/// A number of bytes that is given as a double. Unset if it is negative, not an integer, or above
/// 2^53.
std::optional<std::int64_t> bytes_of(double number) noexcept;

class File {
 public:
  File() = default;
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  /// Makes the file if it may be written and does not exist. For write, one that exists is emptied.
  /// Errors: invalid_argument, with the system's reason.
  static rma::Result<File> open(const std::string& name, Access access);
  rma::Status close();
  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Returns the number of bytes that were read: fewer than requested at the end of the file.
  rma::Result<std::int64_t> read(std::int64_t offset, std::span<std::byte> bytes) const;
  /// Reads all bytes. Errors: out_of_range (the file ends before), invalid_argument.
  rma::Status read_all(std::int64_t offset, std::span<std::byte> bytes) const;
  rma::Status write(std::int64_t offset, std::span<const std::byte> bytes) const;
  [[nodiscard]] rma::Result<std::int64_t> length() const;
  rma::Status truncate(std::int64_t length) const;
  rma::Status sync() const;

  /// Succeeds if there is no such file.
  static rma::Status remove(const std::string& name);
  /// Bytes that are free where the file is or would be.
  static rma::Result<std::int64_t> free_space(const std::string& name);

 private:
  [[nodiscard]] rma::Status failed(const char* what) const;

  int descriptor_ = -1;
  std::string name_;
};

/// The folder of a file: "." if the name has none.
std::string folder_of(std::string_view name);

/// Copies a text and a zero to memory of `room` bytes, as much as fits.
void copy_text(std::string_view text, char* to, std::size_t room) noexcept;
/// Texts of Fortran: one without the blanks at its end; one that is padded with blanks.
std::string_view text_of(const char* text, std::size_t length) noexcept;
void copy_to_fortran(std::string_view text, char* to, std::size_t length) noexcept;
inline std::string_view text_of(const char* text) noexcept {
  return text == nullptr ? std::string_view() : text;
}

/// A text variable of the caller: in C with room for all of the text and a zero, or in Fortran.
struct TextRoom {
  char* to;
  std::optional<std::size_t> length;  ///< of Fortran's variable; unset in C

  void set(std::string_view text) const noexcept {
    if (length) {
      copy_to_fortran(text, to, *length);
    } else {
      copy_text(text, to, text.size() + 1);
    }
  }
};

}  // namespace tessera::ga::pario
