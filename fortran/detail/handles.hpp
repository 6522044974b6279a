// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. What the pointers of the C interface point to.
//
// A handle is a pointer to a small shell around its contents; the job owns the shells. Freeing a
// handle removes the contents, and the shell is reused for a later object of the same kind. Each
// use has a unique pointer (tagged_address.hpp), so that a copy of a freed handle is recognised
// until tessera_job_free. A shell whose use numbers are exhausted stays with the job: 256 bytes for
// each 16 million uses. The mark at the beginning distinguishes handles from handles of other kinds
// and from other memory.
//
// The types of the C interface, such as tessera_array, have no members here: shell_of() is the only
// way from a handle to its shell.
//
// Threads: any thread makes and uses handles; freeing a handle while it is used is an error of the
// program.
#pragma once

#include <array>
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
#include "fortran/c/types.h"
#include "fortran/detail/call.hpp"
#include "fortran/detail/tagged_address.hpp"
#include "rma/base/result.hpp"
#include "rma/handle.hpp"
#include "rma/job.hpp"
#include "rma/lock.hpp"
#include "rma/region.hpp"

namespace tessera::capi {

/// The first word of a shell, which identifies its kind.
enum class HandleKind : std::uint64_t {
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
  mirrored,
  output
};
constexpr std::size_t number_of(HandleKind kind) noexcept {
  return static_cast<std::size_t>(kind) - static_cast<std::size_t>(HandleKind::job);
}
inline constexpr std::size_t mark_count = number_of(HandleKind::output) + 1;

/// Shells are aligned to this, which leaves low bits for the number of the use.
inline constexpr std::size_t shell_bytes = 256;
using TaggedShellAddress = TaggedAddress<shell_bytes>;

struct alignas(shell_bytes) AnyShell {
  explicit AnyShell(HandleKind kind) noexcept : mark(kind) {}
  virtual ~AnyShell() = default;
  AnyShell(const AnyShell&) = delete;
  AnyShell& operator=(const AnyShell&) = delete;

  const HandleKind mark;
  tessera_job* job = nullptr;  ///< the owner
  std::size_t use = 0;         ///< how often it was used before
  std::uint64_t number = 0;  ///< in the order of creation; later objects may refer to earlier ones
  std::string name;          ///< for messages: "array 'A'"
  AnyShell* next = nullptr;  ///< in the list of free shells
};

template <HandleKind own_mark, class Held>
struct Shell : AnyShell {
  using Contents = Held;
  static constexpr HandleKind kind = own_mark;
  Shell() : AnyShell(own_mark) {}
  std::unique_ptr<Contents> contents;  ///< null after it was freed
};

/// Maps a handle type to its shell: member Type. Each header of contents adds its own.
template <class Handle>
struct ShellOf;
template <class Handle>
using ShellType = typename ShellOf<Handle>::Type;

/// An update of ghost cells refers to its halo, and the halo to its array.
struct HaloContents {
  std::shared_ptr<arrays::ArrayBase> array;
  arrays::Halo halo;
  std::optional<arrays::HaloUpdate> update = {};
};

/// Locks do not store their job.
struct LocksContents {
  rma::Team team;
  rma::LockSet locks;
};

/// The detection of missing syncs counts accesses while they last.
struct AccessContents {
  rma::LocalAccess right;
  arrays::detail::LocalUse use;
};

/// For element types with arithmetic, the pointer is to an Array<T>.
struct ArrayContents {
  std::shared_ptr<arrays::ArrayBase> array;
  bool is_node_copy = false;  ///< of a mirrored array, which frees it
};

/// "job", "team", …
const char* name_of(HandleKind mark) noexcept;

rma::Status explain_null(HandleKind kind);
rma::Status explain_other(HandleKind kind);
/// For the use number in the handle.
rma::Status explain_freed(const AnyShell& shell, std::size_t use);

template <>
struct ShellOf<tessera_team> {
  using Type = Shell<HandleKind::team, rma::Team>;
};
template <>
struct ShellOf<tessera_locks> {
  using Type = Shell<HandleKind::locks, LocksContents>;
};
template <>
struct ShellOf<tessera_counter> {
  using Type = Shell<HandleKind::counter, arrays::Counter>;
};
template <>
struct ShellOf<tessera_distribution> {
  using Type = Shell<HandleKind::distribution, arrays::Distribution>;
};
template <>
struct ShellOf<tessera_array> {
  using Type = Shell<HandleKind::array, ArrayContents>;
};
template <>
struct ShellOf<tessera_access> {
  using Type = Shell<HandleKind::access, AccessContents>;
};
template <>
struct ShellOf<tessera_halo> {
  using Type = Shell<HandleKind::halo, HaloContents>;
};
template <>
struct ShellOf<tessera_job> {
  using Type = tessera_job;
};

}  // namespace tessera::capi

/// A job's shell is used once, and deleted by tessera_job_free.
struct tessera_job : tessera::capi::Shell<tessera::capi::HandleKind::job, tessera::rma::Job> {
  std::mutex mutex;  ///< guards the members below
  std::vector<std::unique_ptr<tessera::capi::AnyShell>> shells;
  std::array<tessera::capi::FreeSlots<tessera::capi::AnyShell>, tessera::capi::mark_count>
      resting;                       ///< freed shells of each kind
  std::uint64_t made = 0;            ///< number of handles made
  std::int32_t rank_in_errors = -1;  ///< -1: the job has one rank
  std::atomic<bool> was_stopped = false;
};

/// Deleted after the wait. Keeps the job alive, so that it may be waited for after the job's end.
struct tessera_handle {
  const tessera::capi::HandleKind mark = tessera::capi::HandleKind::transfers;
  tessera::rma::Job job;
  tessera::rma::Handle transfers = {};
};

namespace tessera::capi {

template <class Handle>
ShellType<Handle>* shell_of(const Handle* handle) noexcept {
  return static_cast<ShellType<Handle>*>(TaggedShellAddress::slot_of(handle));
}

/// Errors: invalid_argument (null, or of another kind), closed (freed).
template <class Handle>
rma::Status check(const Handle* handle) {
  constexpr HandleKind kind = ShellType<Handle>::kind;
  if (handle == nullptr) [[unlikely]] {
    return explain_null(kind);
  }
  const ShellType<Handle>& shell = *shell_of(handle);
  if (shell.mark != kind) [[unlikely]] {
    return explain_other(kind);
  }
  set_caller_rank(shell.job->rank_in_errors);
  const std::size_t use = TaggedShellAddress::use_of(handle);
  if (shell.contents == nullptr || shell.use != use) [[unlikely]] {
    return explain_freed(shell, use);
  }
  return {};
}

/// The contents of a handle. Errors: as check().
template <class Handle>
rma::Result<typename ShellType<Handle>::Contents*> open(const Handle* handle) {
  TESSERA_RETURN_IF_ERROR(check(handle));
  return shell_of(handle)->contents.get();
}
/// The same for arrays: the array.
inline rma::Result<arrays::ArrayBase*> open_array(const tessera_array* handle) {
  TESSERA_RETURN_IF_ERROR(check(handle));
  return shell_of(handle)->contents->array.get();
}

/// The contents of a handle that was checked, and its job.
template <class Handle>
typename ShellType<Handle>::Contents& contents_of(const Handle* handle) noexcept {
  return *shell_of(handle)->contents;
}
inline arrays::ArrayBase& array_of(const tessera_array* handle) noexcept {
  return *shell_of(handle)->contents->array;
}
template <class Handle>
tessera_job* job_of(const Handle* handle) noexcept {
  return shell_of(handle)->job;
}
template <class Handle>
const std::string& name_of(const Handle* handle) noexcept {
  return shell_of(handle)->name;
}

/// Calls `act`, which returns a Status, with the contents of a handle.
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
    return act(array_of(handle));
  });
}

/// A new handle of `job` for `contents`. Requires: `job` is open.
template <class Handle>
Handle* make_handle(tessera_job* job,
                    std::unique_ptr<typename ShellType<Handle>::Contents> contents,
                    std::string name) {
  using Own = ShellType<Handle>;
  const std::lock_guard guard(job->mutex);
  auto* shell = static_cast<Own*>(job->resting[number_of(Own::kind)].take());
  if (shell != nullptr) {
    ++shell->use;
  } else {
    auto made = std::make_unique<Own>();
    made->job = job;
    shell = made.get();
    job->shells.push_back(std::move(made));
  }
  shell->number = ++job->made;
  shell->name = std::move(name);
  shell->contents = std::move(contents);
  return static_cast<Handle*>(TaggedShellAddress::pointer_to(shell, shell->use));
}
template <class Handle>
Handle* make_handle(tessera_job* job, typename ShellType<Handle>::Contents contents) {
  using Own = ShellType<Handle>;
  return make_handle<Handle>(job, std::make_unique<typename Own::Contents>(std::move(contents)),
                             name_of(Own::kind));
}

/// Destroys the contents of an open handle; its shell can be reused.
template <class Handle>
void end_handle(const Handle* handle) {
  ShellType<Handle>& shell = *shell_of(handle);
  shell.contents.reset();
  if (shell.use + 1 < TaggedShellAddress::max_uses) {
    const std::lock_guard guard(shell.job->mutex);
    shell.job->resting[number_of(shell.mark)].push(shell);
  }
}

/// For local access, which does not itself notice that the job was stopped. Errors: closed.
inline rma::Status check_running(const tessera_job& job) {
  return job.was_stopped ? rma::Status::error(rma::Code::closed, "the job was stopped")
                         : rma::Status();
}

/// Sets `*handle` to null and frees the contents by release(contents). A null handle does nothing.
/// Errors: as check(), and those of `release`, after which the handle is freed, too. A stopped job
/// is not an error.
template <class Handle, class Release>
rma::Status free_handle(Handle** handle, const Release& release) {
  if (handle == nullptr) {
    return explain_null(ShellType<Handle>::kind);
  }
  if (*handle == nullptr) {
    return {};
  }
  TESSERA_RETURN_IF_ERROR(check(*handle));
  rma::Status status = release(contents_of(*handle));
  const tessera_job* const job = job_of(*handle);
  end_handle(*handle);
  *handle = nullptr;
  const bool was_stopped = status.code() == rma::Code::closed && job->was_stopped;
  return was_stopped ? rma::Status() : status;
}

}  // namespace tessera::capi
