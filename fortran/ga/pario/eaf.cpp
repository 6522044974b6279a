// SPDX-License-Identifier: BSD-3-Clause
//
// EAF's C and Fortran names, eaf.h and eaf.fh. Requests are done when they begin.
#include "fortran/ga/include/eaf.h"

#include <cstdlib>
#include <new>
#include <span>
#include <string_view>

#include "fortran/ga/pario/eaf_files.hpp"
#include "fortran/ga/pario/fortran_names.h"

namespace {

using tessera::ga::pario::copy_text;
using tessera::ga::pario::copy_to_fortran;
using tessera::ga::pario::EafError;
using tessera::ga::pario::EafFiles;
using tessera::ga::pario::File;
using tessera::ga::pario::fortran_text;

constexpr int done = 0;  // the number of every request

int code(EafError error) {
  return static_cast<int>(error);
}

// No exception leaves a function of C.
template <class Act>
EafError with_eaf_files(const Act& act) noexcept {
  try {
    return act(EafFiles::all());
  } catch (const std::bad_alloc&) {
    return EafError::memory;
  }
}

EafError open_file(std::string_view name, std::int64_t type, int& fd) noexcept {
  return with_eaf_files([&](EafFiles& files) {
    const auto opened = files.open(name, type);
    fd = opened.number;
    return opened.error;
  });
}

EafError remove_file(std::string_view name) noexcept {
  return with_eaf_files([&](EafFiles& files) { return files.remove(name); });
}

EafError read_file(std::int64_t fd, double offset, void* buffer, std::size_t bytes) noexcept {
  return with_eaf_files([&](EafFiles& files) {
    return files.read(fd, offset, {static_cast<std::byte*>(buffer), bytes});
  });
}

EafError write_file(std::int64_t fd, double offset, const void* buffer,
                    std::size_t bytes) noexcept {
  return with_eaf_files([&](EafFiles& files) {
    return files.write(fd, offset, {static_cast<const std::byte*>(buffer), bytes});
  });
}

EafError check_request(std::int64_t fd, std::int64_t id) noexcept {
  return with_eaf_files([&](const EafFiles& files) {
    return !files.is_open(fd) ? EafError::descriptor : id == done ? EafError::none : EafError::wait;
  });
}

EafError free_space(std::string_view path, std::int64_t& mib) noexcept {
  return with_eaf_files([&](const EafFiles&) {
    const auto free = File::free_space(std::string(path));
    mib = free.ok() ? *free >> 20 : 0;
    return free.ok() ? EafError::none : EafError::stat;
  });
}

}  // namespace

extern "C" {

int EAF_Open(const char* fname, int type, int* fd) {
  return code(open_file(fname, type, *fd));
}
int EAF_Close(int fd) {
  return code(with_eaf_files([&](EafFiles& files) { return files.close(fd); }));
}
int EAF_Delete(const char* fname) {
  return code(remove_file(fname));
}
int EAF_Read(int fd, eaf_off_t offset, void* buf, size_t bytes) {
  return code(read_file(fd, offset, buf, bytes));
}
int EAF_Write(int fd, eaf_off_t offset, const void* buf, size_t bytes) {
  return code(write_file(fd, offset, buf, bytes));
}
int EAF_Aread(int fd, eaf_off_t offset, void* buf, size_t bytes, int* req_id) {
  *req_id = done;
  return EAF_Read(fd, offset, buf, bytes);
}
int EAF_Awrite(int fd, eaf_off_t offset, const void* buf, size_t bytes, int* req_id) {
  *req_id = done;
  return EAF_Write(fd, offset, buf, bytes);
}
int EAF_Wait(int fd, int id) {
  return code(check_request(fd, id));
}
int EAF_Probe(int id, int* status) {
  *status = 0;
  return code(id == done ? EafError::none : EafError::probe);
}
int EAF_Length(int fd, eaf_off_t* length) {
  return code(with_eaf_files([&](const EafFiles& files) { return files.length(fd, *length); }));
}
int EAF_Truncate(int fd, eaf_off_t length) {
  return code(with_eaf_files([&](EafFiles& files) { return files.truncate(fd, length); }));
}
int EAF_Stat(const char* path, long* avail_mb, char* fstype, int fslen) {
  constexpr std::string_view kind = "UFS";
  if (fslen <= static_cast<int>(kind.size())) {
    return code(EafError::too_short);
  }
  copy_text(kind, fstype, static_cast<std::size_t>(fslen));
  std::int64_t mib = 0;
  const int error = code(free_space(path, mib));
  *avail_mb = mib;
  return error;
}
int EAF_Eof(int error) {
  return error == code(EafError::end_of_file) ? 0 : 1;
}
void EAF_Errmsg(int error, char* msg) {
  constexpr std::size_t room = 80;
  copy_text(tessera::ga::pario::eaf_text_of(error), msg, room);
}
void EAF_Print_stats(int fd) {
  with_eaf_files([&](const EafFiles& files) {
    files.print_counts(fd);
    return EafError::none;
  });
}

Integer eaf_open_(const char* name, const Integer* type, Integer* fd, std::size_t length) {
  int number = -1;
  const int error = code(open_file(fortran_text(name, length), *type, number));
  *fd = number;
  return error;
}
Integer eaf_close_(const Integer* fd) {
  return code(with_eaf_files([&](EafFiles& files) { return files.close(*fd); }));
}
Integer eaf_delete_(const char* name, std::size_t length) {
  return code(remove_file(fortran_text(name, length)));
}
Integer eaf_read_(const Integer* fd, const double* offset, void* buffer, const Integer* bytes) {
  return code(read_file(*fd, *offset, buffer, static_cast<std::size_t>(*bytes)));
}
Integer eaf_write_(const Integer* fd, const double* offset, const void* buffer,
                   const Integer* bytes) {
  return code(write_file(*fd, *offset, buffer, static_cast<std::size_t>(*bytes)));
}
Integer eaf_aread_(const Integer* fd, const double* offset, void* buffer, const Integer* bytes,
                   Integer* request) {
  *request = done;
  return eaf_read_(fd, offset, buffer, bytes);
}
Integer eaf_awrite_(const Integer* fd, const double* offset, const void* buffer,
                    const Integer* bytes, Integer* request) {
  *request = done;
  return eaf_write_(fd, offset, buffer, bytes);
}
Integer eaf_wait_(const Integer* fd, const Integer* request) {
  return code(check_request(*fd, *request));
}
Integer eaf_probe_(const Integer* request, Integer* status) {
  *status = 0;
  return code(*request == done ? EafError::none : EafError::probe);
}
Integer eaf_length_(const Integer* fd, double* bytes) {
  return code(with_eaf_files([&](const EafFiles& files) { return files.length(*fd, *bytes); }));
}
Integer eaf_truncate_(const Integer* fd, const double* bytes) {
  return code(with_eaf_files([&](EafFiles& files) { return files.truncate(*fd, *bytes); }));
}
Integer eaf_stat_(const char* path, Integer* free_mib, char* kind, std::size_t path_length,
                  std::size_t kind_length) {
  std::int64_t mib = 0;
  const int error = code(free_space(fortran_text(path, path_length), mib));
  copy_to_fortran("UFS", kind, kind_length);
  *free_mib = static_cast<Integer>(mib);
  return error;
}
Integer eaf_eof_(const Integer* error) {
  return *error == code(EafError::end_of_file) ? 1 : 0;
}
void eaf_errmsg_(const Integer* error, char* text, std::size_t length) {
  copy_to_fortran(tessera::ga::pario::eaf_text_of(*error), text, length);
}
void eaf_print_stats_(const Integer* fd) {
  with_eaf_files([&](const EafFiles& files) {
    files.print_counts(*fd);
    return EafError::none;
  });
}
double eaf_util_random_(const Integer* seed) {
  if (*seed != 0) {
    srand48(*seed);
  }
  return drand48();
}
Integer eaf_util_szint_() {
  return sizeof(Integer);
}

}  // extern "C"
