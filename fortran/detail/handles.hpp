// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. What the pointers of the C interface point to.
//
// A handle is a small shell around its contents. The job owns the shells of all that was made with
// it until tessera_job_free; freeing a handle takes the contents out, so that a copy of the pointer
// can still be looked at and told to be stale. The mark at the beginning tells handles of different
// kinds apart, and from other memory.
//
// A shell may be used again where a program makes millions of a kind, as of local accesses: each
// use has a handle of its own, the next address within the shell, so that copies of earlier handles
// are told to be stale as well. When there are no more addresses it is left to the job.
//
// Threads: shells are made and looked at by any thread; freeing one while it is used is a mistake.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays/array_base.hpp"
#include "arrays/counter.hpp"
#include "arrays/distribution.hpp"
#include "arrays/halo.hpp"
#include "fortran/c_types.h"
#include "fortran/detail/call.hpp"
#include "rma/handle.hpp"
#include "rma/job.hpp"
#include "rma/lock.hpp"
#include "rma/region.hpp"
#include "rma/result.hpp"

namespace tessera::capi {

/// The first word of a handle, so that its kind can be told.
enum class Mark : std::uint64_t {
  job = 0x7465'7373'6a6f'6221,
  team,
  locks,
  counter,
  distribution,
  array,
  access,
  halo,
  transfers,
  sparse,
  sparse_builder,
  sparse_rows,
  spmv,
  checkpoint_writer,
  checkpoint,
  mirrored
};

/// Shells lie at multiples of this, so that every address within one leads to it.
inline constexpr std::size_t shell_bytes = 256;

struct alignas(shell_bytes) AnyShell {
  explicit AnyShell(Mark kind) noexcept : mark(kind) {}
  virtual ~AnyShell() = default;
  AnyShell(const AnyShell&) = delete;
  AnyShell& operator=(const AnyShell&) = delete;

  const Mark mark;
  tessera_job* job = nullptr;  ///< that owns it
  std::size_t use = 0;         ///< how often it was used before: its handle's place in the shell
  std::string name;            ///< for messages: "array 'A'"
};

template <Mark own_mark, class Held>
struct Shell : AnyShell {
  using Contents = Held;
  static constexpr Mark kind = own_mark;
  Shell() : AnyShell(own_mark) {}
  std::unique_ptr<Contents> contents;  ///< null once it was freed
};

/// An update of ghost cells refers to its exchange, and that to its array.
struct HaloContents {
  std::shared_ptr<arrays::ArrayBase> array;
  arrays::Halo halo;
  std::optional<arrays::HaloUpdate> update = {};
};

/// Locks do not tell whose they are.
struct LocksContents {
  rma::Team team;
  rma::LockSet locks;
};

/// Of an element type that can be computed with, an Array<T> is behind the pointer.
struct ArrayContents {
  std::shared_ptr<arrays::ArrayBase> array;
  bool is_node_copy = false;  ///< of a mirrored array, which frees it
};

/// "job", "team", …
const char* name_of(Mark mark) noexcept;

rma::Status explain_null(Mark kind);
rma::Status explain_other(Mark kind);
/// Of the handle at that place in the shell.
rma::Status explain_freed(const AnyShell& shell, std::size_t use);

}  // namespace tessera::capi

struct tessera_team : tessera::capi::Shell<tessera::capi::Mark::team, tessera::rma::Team> {};
struct tessera_locks
    : tessera::capi::Shell<tessera::capi::Mark::locks, tessera::capi::LocksContents> {};
struct tessera_counter
    : tessera::capi::Shell<tessera::capi::Mark::counter, tessera::arrays::Counter> {};
struct tessera_distribution
    : tessera::capi::Shell<tessera::capi::Mark::distribution, tessera::arrays::Distribution> {};
struct tessera_array
    : tessera::capi::Shell<tessera::capi::Mark::array, tessera::capi::ArrayContents> {};
struct tessera_access
    : tessera::capi::Shell<tessera::capi::Mark::access, tessera::rma::LocalAccess> {};
struct tessera_halo : tessera::capi::Shell<tessera::capi::Mark::halo, tessera::capi::HaloContents> {
};

struct tessera_job : tessera::capi::Shell<tessera::capi::Mark::job, tessera::rma::Job> {
  std::mutex mutex;  ///< of what follows
  std::vector<std::unique_ptr<tessera::capi::AnyShell>> shells;
  std::vector<tessera_access*> ended;  ///< shells that can be used again
  std::atomic<bool> was_stopped = false;
};

/// Gone once it was waited for. Keeps the job, so that it may be waited for after it.
struct tessera_handle {
  const tessera::capi::Mark mark = tessera::capi::Mark::transfers;
  tessera::rma::Job job;
  tessera::rma::Handle transfers = {};
};

namespace tessera::capi {

inline std::size_t use_of(const void* handle) noexcept {
  return reinterpret_cast<std::uintptr_t>(handle) % shell_bytes;
}
template <class Handle>
const Handle* shell_of(const Handle* handle) noexcept {
  const auto* const place = reinterpret_cast<const std::byte*>(handle);
  return reinterpret_cast<const Handle*>(place - use_of(handle));
}
template <class Handle>
Handle* shell_of(Handle* handle) noexcept {
  return reinterpret_cast<Handle*>(reinterpret_cast<std::byte*>(handle) - use_of(handle));
}

/// Errors: invalid_argument (null, or of another kind), closed (freed).
template <class Handle>
rma::Status check(const Handle* handle) {
  if (handle == nullptr) [[unlikely]] {
    return explain_null(Handle::kind);
  }
  const Handle& shell = *shell_of(handle);
  if (shell.mark != Handle::kind) [[unlikely]] {
    return explain_other(Handle::kind);
  }
  if (shell.contents == nullptr || shell.use != use_of(handle)) [[unlikely]] {
    return explain_freed(shell, use_of(handle));
  }
  return {};
}

/// What a handle stands for. Errors: as check().
template <class Handle>
rma::Result<typename Handle::Contents*> open(const Handle* handle) {
  TESSERA_RETURN_IF_ERROR(check(handle));
  return shell_of(handle)->contents.get();
}
/// The same for arrays: their elements.
inline rma::Result<arrays::ArrayBase*> open_array(const tessera_array* handle) {
  TESSERA_RETURN_IF_ERROR(check(handle));
  return handle->contents->array.get();
}

/// Lets `act`, which returns a Status, work with what a handle stands for.
template <class Handle, class Act>
int call_on(const char* function, const Handle* handle, const Act& act) noexcept {
  return call(function, [&]() -> rma::Status {
    TESSERA_RETURN_IF_ERROR(check(handle));
    return act(*shell_of(handle)->contents);
  });
}
template <class Act>
int call_on(const char* function, const tessera_array* handle, const Act& act) noexcept {
  return call(function, [&]() -> rma::Status {
    TESSERA_RETURN_IF_ERROR(check(handle));
    return act(*handle->contents->array);
  });
}

/// A new handle of `job`'s for `contents`. Requires: `job` is open.
template <class Handle>
Handle* make_handle(tessera_job* job, std::unique_ptr<typename Handle::Contents> contents,
                    const std::string& name) {
  auto shell = std::make_unique<Handle>();
  shell->job = job;
  shell->name = name;
  shell->contents = std::move(contents);
  Handle* const handle = shell.get();
  const std::lock_guard guard(job->mutex);
  job->shells.push_back(std::move(shell));
  return handle;
}
template <class Handle>
Handle* make_handle(tessera_job* job, typename Handle::Contents contents) {
  return make_handle<Handle>(job, std::make_unique<typename Handle::Contents>(std::move(contents)),
                             name_of(Handle::kind));
}

/// For what a stopped job would let a program do: local access. Errors: closed.
inline rma::Status check_running(const tessera_job& job) {
  return job.was_stopped ? rma::Status::error(rma::Code::closed, "the job was stopped")
                         : rma::Status();
}

/// Sets `*place` to null and frees what it stood for: release(contents) gives it back. A null
/// handle stands for nothing. Errors: as check(), and those of `release`, which free it, too; that
/// the job was stopped is none.
template <class Handle, class Release>
rma::Status free_handle(Handle** place, const Release& release) {
  if (place == nullptr) {
    return explain_null(Handle::kind);
  }
  if (*place == nullptr) {
    return {};
  }
  TESSERA_RETURN_IF_ERROR(check(*place));
  Handle& shell = *shell_of(*place);
  rma::Status status = release(*shell.contents);
  shell.contents.reset();
  *place = nullptr;
  const bool was_stopped = status.code() == rma::Code::closed && shell.job->was_stopped;
  return was_stopped ? rma::Status() : status;
}

}  // namespace tessera::capi
