// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include "rma/base/file_links.hpp"
#include "rma/base/memory.hpp"

namespace tessera::arrays::detail {
namespace {

using rma::Code;
using rma::Result;
using rma::Status;
namespace fs = std::filesystem;

constexpr const char* temporary_mark = ".tmp-";
constexpr std::size_t token_digits = 16;
// Below the kernel's limit for one call.
constexpr std::size_t max_io_bytes = std::size_t{1} << 30U;

Code code_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EACCES:
    case EPERM:
    case EROFS:
    case ENAMETOOLONG:
    case ELOOP:
    case ETXTBSY:
      return Code::invalid_argument;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
      return Code::limit_exceeded;
    case ENOMEM:
      return Code::no_memory;
    default:
      return Code::unreachable;
  }
}

const char* remedy_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return "check the path; its directory must exist, on a file system that all ranks share";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a directory and a file that this user may read or write";
    case ENOSPC:
    case EDQUOT:
      return "free some space, or write elsewhere; an older file of that name is unchanged";
    default:
      return rma::remedy_for_system_error(error);
  }
}

Status refuse(const std::string& action, const std::string& path, const char* what) {
  return Status::error(Code::invalid_argument, fmt::format("cannot {} {}: {}", action, path, what))
      .hint("give the path of a file");
}

Status check_regular(int descriptor, const std::string& action, const std::string& path) {
  struct stat facts = {};
  if (::fstat(descriptor, &facts) != 0) {
    return file_error(errno, action, path);
  }
  if (S_ISDIR(facts.st_mode)) {
    return refuse(action, path, "it is a directory");
  }
  if (!S_ISREG(facts.st_mode)) {
    return refuse(action, path, "it is a device or a pipe");
  }
  return {};
}

Result<int> open_descriptor(const std::string& path, int flags, const std::string& action) {
  // Without O_NONBLOCK, opening a pipe would wait until another process writes to it.
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0666);
  if (descriptor < 0) {
    return errno == EISDIR ? refuse(action, path, "it is a directory")
                           : file_error(errno, action, path);
  }
  if (Status status = check_regular(descriptor, action, path); !status.ok()) {
    ::close(descriptor);
    return status;
  }
  return descriptor;
}

enum class Lock : std::uint8_t { taken, anothers, impossible };

// The lock belongs to the open file, not to the process, since ranks may be threads. On a file
// system without such locks, a left-over file is not recognised, and stays.
Lock take_lock(int descriptor) noexcept {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(descriptor, F_OFD_SETLK, &lock) == 0) {
    return Lock::taken;
  }
  return errno == EAGAIN || errno == EACCES ? Lock::anothers : Lock::impossible;
}

bool is_still_named(int descriptor, const std::string& path) noexcept {
  struct stat by_descriptor = {};
  struct stat by_name = {};
  return ::fstat(descriptor, &by_descriptor) == 0 && ::stat(path.c_str(), &by_name) == 0 &&
         by_descriptor.st_ino == by_name.st_ino && by_descriptor.st_dev == by_name.st_dev;
}

std::string temporary_name(const std::string& target) {
  std::random_device device;
  const std::uint64_t token = std::uint64_t{device()} << 32U | device();
  return fmt::format("{}{}{:016x}", target, temporary_mark, token);
}

bool is_temporary_of(const std::string& name, const std::string& target_name) {
  const std::string start = target_name + temporary_mark;
  return name.size() == start.size() + token_digits && name.compare(0, start.size(), start) == 0 &&
         name.find_first_not_of("0123456789abcdef", start.size()) == std::string::npos;
}

fs::path directory_of(const std::string& path) {
  const fs::path directory = fs::path(path).parent_path();
  return directory.empty() ? fs::path(".") : directory;
}

// Copies access rights, so that a checkpoint that only its owner could read is never readable for
// others.
void copy_permissions(const std::string& target, int descriptor, mode_t besides) noexcept {
  struct stat facts = {};
  if (::stat(target.c_str(), &facts) == 0) {
    static_cast<void>(::fchmod(descriptor, (facts.st_mode & 07777U) | besides));
  }
}

void remove_if_unlocked(const std::string& path) noexcept {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (descriptor < 0) {
    return;
  }
  if (take_lock(descriptor) == Lock::taken && is_still_named(descriptor, path)) {
    ::unlink(path.c_str());
  }
  ::close(descriptor);
}

}  // namespace

Status file_error(int error, const std::string& action, const std::string& path) {
  Status status = Status::error(code_of(error), fmt::format("cannot {} {}: {}", action, path,
                                                            rma::describe_system_error(error)));
  return std::move(status).hint(remedy_of(error));
}

File::File(File&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
    path_ = std::move(other.path_);
  }
  return *this;
}

void File::close() noexcept {
  if (descriptor_ >= 0) {
    ::close(std::exchange(descriptor_, -1));
  }
}

Result<File> File::open_to_read(const std::string& path) {
  TESSERA_ASSIGN_OR_RETURN(const int descriptor, open_descriptor(path, O_RDONLY, "read"));
  return File(descriptor, path);
}

Result<File> File::open_to_write(const std::string& path) {
  TESSERA_ASSIGN_OR_RETURN(const int descriptor, open_descriptor(path, O_WRONLY, "write"));
  return File(descriptor, path);
}

Result<File> File::open_to_append(const std::string& path) {
  TESSERA_ASSIGN_OR_RETURN(const int descriptor, open_descriptor(path, O_RDWR, "append to"));
  File file(descriptor, path);
  if (take_lock(descriptor) == Lock::anothers) {
    return Status::error(Code::invalid_argument,
                         fmt::format("cannot append to {}: another program writes it now", path))
        .hint("end that program, or wait until it has closed the file");
  }
  return file;
}

Result<File> File::create_temporary(const std::string& target) {
  // Another writer may remove it as a left-over file before it is locked.
  constexpr int attempts = 8;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const std::string path = temporary_name(target);
    TESSERA_ASSIGN_OR_RETURN(const int descriptor,
                             open_descriptor(path, O_RDWR | O_CREAT | O_EXCL, "create"));
    File file(descriptor, path);
    if (take_lock(descriptor) != Lock::anothers && is_still_named(descriptor, path)) {
      copy_permissions(target, descriptor, S_IRUSR | S_IWUSR);  // members open it by name
      return file;
    }
  }
  return Status::error(
      Code::unreachable,
      fmt::format("cannot create a file next to {}: another process removes it each time", target));
}

Status File::read_at(std::uint64_t offset, std::span<std::byte> to) const {
  while (!to.empty()) {
    const ssize_t done = ::pread(descriptor_, to.data(), std::min(to.size(), max_io_bytes),
                                 static_cast<off_t>(offset));
    if (done == 0) {
      return Status::error(Code::protocol,
                           fmt::format("{} ends at byte {}, {} bytes before the end of "
                                       "the data to read",
                                       path_, offset, to.size()))
          .hint("the file is truncated; use an older checkpoint");
    }
    if (done < 0 && errno != EINTR) {
      return file_error(errno, "read", path_);
    }
    const auto advance = static_cast<std::size_t>(std::max<ssize_t>(done, 0));
    to = to.subspan(advance);
    offset += advance;
  }
  return {};
}

Status File::write_at(std::uint64_t offset, std::span<const std::byte> from) const {
  if (offset + from.size() > rma::max_file_bytes()) {
    return file_error(EFBIG, "write", path_);
  }
  const std::uint64_t first = offset;
  const std::size_t all = from.size();
  while (!from.empty()) {
    const ssize_t done = ::pwrite(descriptor_, from.data(), std::min(from.size(), max_io_bytes),
                                  static_cast<off_t>(offset));
    if (done < 0 && errno != EINTR) {
      return file_error(errno, "write", path_);
    }
    const auto advance = static_cast<std::size_t>(std::max<ssize_t>(done, 0));
    from = from.subspan(advance);
    offset += advance;
  }
  // Lets the device begin to write, which otherwise waits until sync(). If that isn't supported,
  // nothing is lost.
  static_cast<void>(::sync_file_range(descriptor_, static_cast<off_t>(first),
                                      static_cast<off_t>(all), SYNC_FILE_RANGE_WRITE));
  return {};
}

Result<std::uint64_t> File::size() const {
  struct stat facts = {};
  if (::fstat(descriptor_, &facts) != 0) {
    return file_error(errno, "inspect", path_);
  }
  return static_cast<std::uint64_t>(facts.st_size);
}

Status File::resize(std::uint64_t bytes) const {
  if (bytes > rma::max_file_bytes()) {
    return file_error(EFBIG, "resize", path_);
  }
  return ::ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0
             ? Status()
             : file_error(errno, "resize", path_);
}

void File::copy_permissions_of(const std::string& other) const noexcept {
  copy_permissions(other, descriptor_, 0);
}

Status File::sync() const {
  return ::fsync(descriptor_) == 0 ? Status() : file_error(errno, "complete", path_);
}

Result<std::string> checkpoint_target(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    return Status::error(Code::invalid_argument, "the path is empty, or contains a zero byte");
  }
  std::error_code error;
  const fs::file_status there = fs::status(path, error);
  if (fs::is_directory(there)) {
    return refuse("write", path, "it is a directory");
  }
  if (fs::exists(there) && !fs::is_regular_file(there)) {
    return refuse("write", path, "it is a device or a pipe");
  }
  error.clear();  // a file that does not exist is not an error
  const fs::path target =
      fs::exists(there) ? fs::canonical(path, error) : rma::resolve_links(path, error);
  if (error) {
    return file_error(error.value(), "resolve", path);
  }
  const fs::path directory = directory_of(target.string());
  struct stat facts = {};
  if (::stat(directory.c_str(), &facts) != 0) {
    return file_error(errno, "write into directory", directory.string());
  }
  return target.string();
}

void remove_stale_temporaries(const std::string& target) {
  const std::string name = fs::path(target).filename().string();
  std::error_code error;
  fs::directory_iterator entry(directory_of(target), error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (is_temporary_of(entry->path().filename().string(), name)) {
      remove_if_unlocked(entry->path().string());
    }
  }
}

Status replace(const std::string& temporary, const std::string& target) {
  if (::rename(temporary.c_str(), target.c_str()) != 0) {
    return file_error(errno, "rename " + temporary + " to", target);
  }
  const std::string directory = directory_of(target).string();
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // A directory that may be written but not read can't be opened; the new name is in place
  // nevertheless.
  if (descriptor < 0) {
    return {};
  }
  const int synced = ::fsync(descriptor);
  const int error = errno;
  ::close(descriptor);
  // Some file systems can't write a directory to the device.
  return synced == 0 || error == EINVAL || error == EROFS
             ? Status()
             : Status::error(Code::unreachable,
                             fmt::format("cannot write directory {} to its device: {}", directory,
                                         std::strerror(error)))
                   .hint(target +
                         " is the new file, but a machine failure within the next seconds may undo "
                         "that");
}

void remove_file(const std::string& path) noexcept {
  ::unlink(path.c_str());
}

bool does_exist(const std::string& path) noexcept {
  std::error_code error;
  return fs::exists(path, error);
}

}  // namespace tessera::arrays::detail
