// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/ga/pario/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace tessera::ga::pario {

using rma::Code;
using rma::Result;
using rma::Status;

namespace {

// In the order of Failure, from seek on.
constexpr std::array<std::string_view, 26> texts{
    "can't find the position in the file",
    "can't write to the file",
    "can't begin to write to the file",
    "can't read from the file",
    "can't begin to read from the file",
    "can't wait for the request",
    "no such handle",
    "wrong mode of a file",
    "can't find the folder of the file",
    "can't read the attributes of the file",
    "can't open the file",
    "no memory for a record of the file",
    "not supported",
    "can't delete the file",
    "can't close the file",
    "interrupted too often",
    "the request failed",
    "the name is too long",
    "can't find the type of the file system",
    "not a whole number of bytes",
    "wrong type of a file system",
    "can't find out whether the request is done",
    "can't change the length of the file",
    "end of file",
    "can't write the file to disk",
    "unknown error",
};

int flags_of(Access access) {
  switch (access) {
    case Access::read:
      return O_RDONLY;
    case Access::write:
      return O_WRONLY | O_CREAT | O_TRUNC;
    default:
      return O_RDWR | O_CREAT;
  }
}

template <class Call>
auto repeated(const Call& call) {
  while (true) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) {
      return result;
    }
  }
}

}  // namespace

std::string_view text_of(std::int64_t code) noexcept {
  if (code == 0) {
    return "OK";
  }
  const std::int64_t at = code - static_cast<std::int64_t>(Failure::seek);
  return at >= 0 && at < static_cast<std::int64_t>(texts.size())
             ? texts[static_cast<std::size_t>(at)]
             : std::string_view();
}

std::optional<std::int64_t> bytes_of(double number) noexcept {
  constexpr double most = 9007199254740992.0;  // 2^53: above, not all whole numbers are doubles
  if (!(number >= 0.0 && number <= most) || std::floor(number) < number) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(number);
}

File::File(File&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), name_(std::move(other.name_)) {}

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    close().ignore("it is replaced");
    descriptor_ = std::exchange(other.descriptor_, -1);
    name_ = std::move(other.name_);
  }
  return *this;
}

File::~File() {
  close().ignore("a destructor cannot report; close() does");
}

Status File::failed(const char* what) const {
  return Status::error(Code::invalid_argument,
                       fmt::format("can't {} file '{}': {}", what, name_, std::strerror(errno)));
}

Result<File> File::open(const std::string& name, Access access) {
  File file;
  file.name_ = name;
  file.descriptor_ =
      repeated([&] { return ::open(name.c_str(), flags_of(access) | O_CLOEXEC, 0666); });
  if (file.descriptor_ < 0) {
    return file.failed("open");
  }
  struct stat attributes {};
  if (fstat(file.descriptor_, &attributes) == 0 && S_ISDIR(attributes.st_mode)) {
    errno = EISDIR;
    return file.failed("open");
  }
  return file;
}

Status File::close() {
  if (!is_open()) {
    return {};
  }
  // Not repeated: the descriptor is closed also if this was interrupted.
  const int result = ::close(std::exchange(descriptor_, -1));
  return result == 0 || errno == EINTR ? Status() : failed("close");
}

Result<std::int64_t> File::read(std::int64_t offset, std::span<std::byte> bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto rest = bytes.subspan(done);
    const ssize_t count = repeated([&] {
      return pread(descriptor_, rest.data(), rest.size(), offset + static_cast<off_t>(done));
    });
    if (count < 0) {
      return failed("read from");
    }
    if (count == 0) {
      break;
    }
    done += static_cast<std::size_t>(count);
  }
  return static_cast<std::int64_t>(done);
}

Status File::read_all(std::int64_t offset, std::span<std::byte> bytes) const {
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t count, read(offset, bytes));
  if (count < static_cast<std::int64_t>(bytes.size())) {
    return Status::error(Code::out_of_range,
                         fmt::format("file '{}' ends at byte {}: {} bytes from {} on are not there",
                                     name_, offset + count, bytes.size(), offset));
  }
  return {};
}

Status File::write(std::int64_t offset, std::span<const std::byte> bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto rest = bytes.subspan(done);
    const ssize_t count = repeated([&] {
      return pwrite(descriptor_, rest.data(), rest.size(), offset + static_cast<off_t>(done));
    });
    if (count <= 0) {
      if (count == 0) {
        errno = ENOSPC;
      }
      return failed("write to");
    }
    done += static_cast<std::size_t>(count);
  }
  return {};
}

Result<std::int64_t> File::length() const {
  struct stat attributes {};
  if (fstat(descriptor_, &attributes) != 0) {
    return failed("read the length of");
  }
  return static_cast<std::int64_t>(attributes.st_size);
}

Status File::truncate(std::int64_t length) const {
  return repeated([&] { return ftruncate(descriptor_, length); }) == 0
             ? Status()
             : failed("change the length of");
}

Status File::sync() const {
  return repeated([&] { return fsync(descriptor_); }) == 0 ? Status() : failed("write to disk");
}

Status File::remove(const std::string& name) {
  if (unlink(name.c_str()) == 0 || errno == ENOENT) {
    return {};
  }
  return Status::error(Code::invalid_argument,
                       fmt::format("can't delete file '{}': {}", name, std::strerror(errno)));
}

Result<std::int64_t> File::free_space(const std::string& name) {
  struct statvfs system {};
  const std::string folder = folder_of(name);
  if (statvfs(folder.c_str(), &system) != 0) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("can't read the free space of folder '{}': {}", folder, std::strerror(errno)));
  }
  return static_cast<std::int64_t>(system.f_bavail) * static_cast<std::int64_t>(system.f_frsize);
}

std::string folder_of(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? "." : std::string(name.substr(0, slash + 1));
}

void copy_text(std::string_view text, char* to, std::size_t room) noexcept {
  if (room == 0) {
    return;
  }
  const std::size_t length = std::min(text.size(), room - 1);
  std::memcpy(to, text.data(), length);
  to[length] = 0;
}

std::string_view text_of(const char* text, std::size_t length) noexcept {
  while (length > 0 && text[length - 1] == ' ') {
    --length;
  }
  return {text, length};
}

void copy_to_fortran(std::string_view text, char* to, std::size_t length) noexcept {
  const std::size_t used = std::min(text.size(), length);
  std::memcpy(to, text.data(), used);
  std::memset(to + used, ' ', length - used);
}

}  // namespace tessera::ga::pario
