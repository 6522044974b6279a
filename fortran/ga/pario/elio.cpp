// SPDX-License-Identifier: BSD-3-Clause
//
// ELIO, elio.h. Requests are done when they begin.
#include "fortran/ga/include/elio.h"

#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "fortran/ga/pario/files.hpp"

namespace {

using tessera::ga::pario::Access;
using tessera::ga::pario::bytes_of;
using tessera::ga::pario::Failure;
using tessera::ga::pario::File;
using tessera::rma::Status;

// The object that an Fd_t points to.
struct OpenFile : fd_struct {
  File file;
  std::string own_name;
};

// The failure of the last elio_open that failed.
constinit Failure open_failure = Failure::unknown;

int code(Failure failure) {
  return static_cast<int>(failure);
}

int code(const Status& status, Failure failure) {
  return status.ok() ? ELIO_OK : code(failure);
}

const File* file_of(Fd_t fd) {
  return fd == nullptr ? nullptr : &static_cast<OpenFile*>(fd)->file;
}

template <class Act>
int with_length(Fd_t fd, Off_t offset, Size_t bytes, const Act& act) {
  const File* const file = file_of(fd);
  if (file == nullptr) {
    return code(Failure::handle);
  }
  const auto at = bytes_of(offset);
  if (!at || bytes < 0) {
    return code(Failure::conversion);
  }
  return act(*file, *at, static_cast<std::size_t>(bytes));
}

}  // namespace

extern "C" {

Fd_t elio_open(const char* fname, int type, int mode) {
  open_failure = Failure::none;
  if (type != ELIO_RW && type != ELIO_W && type != ELIO_R) {
    open_failure = Failure::mode;
    return nullptr;
  }
  try {
    auto opened = File::open(fname, static_cast<Access>(type));
    if (!opened.ok()) {
      open_failure = Failure::open;
      return nullptr;
    }
    auto* const file = new OpenFile;
    file->file = std::move(opened).take();
    file->own_name = fname;
    static_cast<fd_struct&>(*file) = {.fd = 0,
                                      .fs = ELIO_UFS,
                                      .mode = mode,
                                      .type = type,
                                      .name = file->own_name.data(),
                                      .extent = 0,
                                      .next = nullptr};
    return file;
  } catch (const std::bad_alloc&) {
    open_failure = Failure::memory;
    return nullptr;
  }
}

int elio_close(Fd_t fd) {
  if (fd == nullptr) {
    return code(Failure::handle);
  }
  auto* const file = static_cast<OpenFile*>(fd);
  const Status closed = file->file.close();
  delete file;
  return code(closed, Failure::close);
}

int elio_delete(const char* filename) {
  return code(File::remove(filename), Failure::remove);
}

Size_t elio_read(Fd_t fd, Off_t offset, void* buf, Size_t bytes) {
  Size_t count = 0;
  const int failed =
      with_length(fd, offset, bytes, [&](const File& file, std::int64_t at, std::size_t length) {
        const auto read = file.read(at, {static_cast<std::byte*>(buf), length});
        count = read.ok() ? *read : 0;
        return code(read.status(), Failure::read);
      });
  return failed != ELIO_OK ? failed : count;
}

Size_t elio_write(Fd_t fd, Off_t offset, const void* buf, Size_t bytes) {
  const int failed =
      with_length(fd, offset, bytes, [&](const File& file, std::int64_t at, std::size_t length) {
        return code(file.write(at, {static_cast<const std::byte*>(buf), length}), Failure::write);
      });
  return failed != ELIO_OK ? failed : bytes;
}

int elio_aread(Fd_t fd, Off_t offset, void* buf, Size_t bytes, io_request_t* req_id) {
  const Size_t count = elio_read(fd, offset, buf, bytes);
  *req_id = ELIO_DONE;
  if (count < 0) {
    return static_cast<int>(count);
  }
  return count == bytes ? ELIO_OK : code(Failure::end_of_file);
}

int elio_awrite(Fd_t fd, Off_t offset, const void* buf, Size_t bytes, io_request_t* req_id) {
  const Size_t count = elio_write(fd, offset, buf, bytes);
  *req_id = ELIO_DONE;
  return count < 0 ? static_cast<int>(count) : ELIO_OK;
}

int elio_wait(io_request_t* id) {
  *id = ELIO_DONE;
  return ELIO_OK;
}

int elio_probe(io_request_t* id, int* status) {
  *id = ELIO_DONE;
  *status = ELIO_DONE;
  return ELIO_OK;
}

int elio_truncate(Fd_t fd, Off_t length) {
  return with_length(fd, length, 0, [](const File& file, std::int64_t at, std::size_t) {
    return code(file.truncate(at), Failure::truncate);
  });
}

int elio_length(Fd_t fd, Off_t* length) {
  return with_length(fd, 0, 0, [&](const File& file, std::int64_t, std::size_t) {
    const auto bytes = file.length();
    *length = bytes.ok() ? static_cast<double>(*bytes) : 0.0;
    return code(bytes.status(), Failure::stat);
  });
}

int elio_fsync(Fd_t fd) {
  return with_length(fd, 0, 0, [](const File& file, std::int64_t, std::size_t) {
    return code(file.sync(), Failure::sync);
  });
}

int elio_stat(char* fname, stat_t* statinfo) {
  try {
    const auto free = File::free_space(fname);
    statinfo->fs = ELIO_UFS;
    statinfo->avail = free.ok() ? static_cast<avail_t>(*free >> 10) : 0;
    return code(free.status(), Failure::stat);
  } catch (const std::bad_alloc&) {
    return code(Failure::memory);
  }
}

int elio_dirname(const char* fname, char* statinfo, int len) {
  try {
    const std::string folder = tessera::ga::pario::folder_of(fname);
    if (len <= 0 || folder.size() >= static_cast<std::size_t>(len)) {
      return code(Failure::long_name);
    }
    std::memcpy(statinfo, folder.c_str(), folder.size() + 1);
    return ELIO_OK;
  } catch (const std::bad_alloc&) {
    return code(Failure::memory);
  }
}

void elio_errmsg(int number, char* msg) {
  constexpr std::size_t room = 80;
  const int meant = number == ELIO_PENDING_ERR ? code(open_failure) : number;
  tessera::ga::pario::copy_text(tessera::ga::pario::text_of(meant), msg, room);
}

}  // extern "C"
