// SPDX-License-Identifier: BSD-3-Clause
//
// SF's C and Fortran names, sf.h and sf.fh. Requests are done when they begin.
#include "fortran/ga/include/sf.h"

#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "fortran/ga/include/chemio.h"
#include "fortran/ga/pario/fortran_names.h"
#include "fortran/ga/pario/shared_files.hpp"

namespace {

using tessera::ga::pario::copy_text;
using tessera::ga::pario::copy_to_fortran;
using tessera::ga::pario::Failure;
using tessera::ga::pario::fortran_text;
using tessera::ga::pario::Reopen;
using tessera::ga::pario::SharedFiles;

int failure_code(Failure failure) {
  return static_cast<int>(failure);
}

template <class Act>
int with_shared_files(const Act& act) noexcept {
  try {
    return failure_code(act(SharedFiles::all()));
  } catch (const std::bad_alloc&) {
    return failure_code(Failure::memory);
  }
}

template <class I>
int create(std::string_view name, const I* suffix, I* handle) noexcept {
  return with_shared_files([&](SharedFiles& files) {
    const auto given = suffix == nullptr ? std::nullopt : std::optional<std::int64_t>(*suffix);
    const auto made = files.create(name, given);
    *handle = static_cast<I>(made.handle);
    return made.failure;
  });
}

int destroy(std::int64_t handle) noexcept {
  return with_shared_files([&](SharedFiles& files) { return files.destroy(handle); });
}
int reopen(std::int64_t handle, Reopen how) noexcept {
  return with_shared_files([&](SharedFiles& files) { return files.reopen(handle, how); });
}
int sync(std::int64_t handle) noexcept {
  return with_shared_files([&](const SharedFiles& files) { return files.sync(handle); });
}
template <class I>
int write(std::int64_t handle, double offset, double bytes, const char* buffer,
          I* request) noexcept {
  *request = ELIO_DONE;
  return with_shared_files(
      [&](const SharedFiles& files) { return files.write(handle, offset, bytes, buffer); });
}
template <class I>
int read(std::int64_t handle, double offset, double bytes, char* buffer, I* request) noexcept {
  *request = ELIO_DONE;
  return with_shared_files(
      [&](const SharedFiles& files) { return files.read(handle, offset, bytes, buffer); });
}
template <class I>
int wait_all(I* requests, std::int64_t count) noexcept {
  int result = ELIO_OK;
  for (std::int64_t i = 0; i < count; ++i) {
    if (requests[i] != ELIO_DONE) {
      result = failure_code(Failure::handle);
    }
    requests[i] = ELIO_DONE;
  }
  return result;
}

}  // namespace

extern "C" {

int SF_Create(char* fname, SFsize_t, SFsize_t, SFsize_t, int* handle) {
  return create<int>(fname, nullptr, handle);
}
int SF_Create_suffix(char* fname, SFsize_t, SFsize_t, SFsize_t, int* handle, int suffix) {
  return create(fname, &suffix, handle);
}
int SF_Destroy(int handle) {
  return destroy(handle);
}
int SF_Rwtor(int handle) {
  return reopen(handle, Reopen::to_read);
}
int SF_Open(int handle) {
  return reopen(handle, Reopen::to_read_and_write);
}
int SF_Close(int handle) {
  return reopen(handle, Reopen::never);
}
int SF_Fsync(int handle) {
  return sync(handle);
}
int SF_Write(int handle, SFsize_t offset, SFsize_t bytes, char* buffer, int* req_id) {
  return write(handle, offset, bytes, buffer, req_id);
}
int SF_Read(int handle, SFsize_t offset, SFsize_t bytes, char* buffer, int* req_id) {
  return read(handle, offset, bytes, buffer, req_id);
}
int SF_Wait(int* req_id) {
  return wait_all(req_id, 1);
}
int SF_Waitall(int* list, int num) {
  return wait_all(list, num);
}
void SF_Errmsg(int error, char* msg) {
  constexpr std::size_t room = 80;
  copy_text(tessera::ga::pario::text_of(error), msg, room);
}

Integer sf_create_(const char* name, const double*, const double*, const double*, Integer* handle,
                   std::size_t length) {
  return create<Integer>(fortran_text(name, length), nullptr, handle);
}
Integer sf_create_suffix_(const char* name, const double*, const double*, const double*,
                          Integer* handle, const Integer* suffix, std::size_t length) {
  return create<Integer>(fortran_text(name, length), suffix, handle);
}
Integer sf_destroy_(const Integer* handle) {
  return destroy(*handle);
}
Integer sf_rwtor_(const Integer* handle) {
  return reopen(*handle, Reopen::to_read);
}
Integer sf_open_(const Integer* handle) {
  return reopen(*handle, Reopen::to_read_and_write);
}
Integer sf_close_(const Integer* handle) {
  return reopen(*handle, Reopen::never);
}
Integer sf_fsync_(const Integer* handle) {
  return sync(*handle);
}
Integer sf_write_(const Integer* handle, const double* offset, const double* bytes,
                  const char* buffer, Integer* request) {
  return write(*handle, *offset, *bytes, buffer, request);
}
Integer sf_read_(const Integer* handle, const double* offset, const double* bytes, char* buffer,
                 Integer* request) {
  return read(*handle, *offset, *bytes, buffer, request);
}
Integer sf_wait_(Integer* request) {
  return wait_all(request, 1);
}
Integer sf_waitall_(Integer* requests, const Integer* count) {
  return wait_all(requests, *count);
}
void sf_errmsg_(const Integer* error, char* text, std::size_t length) {
  copy_to_fortran(tessera::ga::pario::text_of(*error), text, length);
}

}  // extern "C"
