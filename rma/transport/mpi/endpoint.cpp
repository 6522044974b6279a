// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/endpoint.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/kernels/accumulate.hpp"
#include "rma/kernels/copy.hpp"
#include "rma/protocol/direct.hpp"
#include "rma/protocol/overlap.hpp"
#include "rma/transport/mpi/each_call.hpp"
#include "rma/transport/mpi/error.hpp"
#include "rma/transport/mpi/runs.hpp"
#include "rma/transport/mpi/types.hpp"

namespace tessera::rma::mpi {
namespace {

using kernels::Direction;
using Which = StridedSide::Which;

// Whether every run of the shape is one aligned word at the target.
bool are_words(const CopyShape& shape, std::uint64_t displacement) noexcept {
  return is_word(displacement, shape.run_bytes) &&
         are_multiples(shape, displacement, shape.run_bytes);
}

Effect copy_effect(Direction direction) noexcept {
  return direction == Direction::to_remote ? Effect::write() : Effect();
}

// Types whose sums this MPI computes incorrectly.
bool is_small_integer(ElementType type) noexcept {
  return is_integer(type) && size_of(type) < sizeof(std::int32_t);
}

// Scaled elements, packed one after another.
class ScaledSource {
 public:
  ScaledSource(std::size_t bytes, const Scale& scale)
      : scale_(scale), bytes_(scale.is_one() ? nullptr : std::make_unique<std::byte[]>(bytes)) {}
  const std::byte* take(const std::byte* from, std::size_t bytes) noexcept {
    if (bytes_ == nullptr) {
      return from;
    }
    std::byte* const scaled = bytes_.get() + used_;
    kernels::accumulate_run(scaled, from, bytes, scale_);
    used_ += bytes;
    return scaled;
  }
  std::unique_ptr<std::byte[]> keep() && noexcept { return std::move(bytes_); }

 private:
  Scale scale_;
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t used_ = 0;
};

MPI_Datatype integer_type(int bytes) noexcept {
  return bytes == sizeof(std::int32_t) ? MPI_INT32_T : MPI_INT64_T;
}

// A word of 4 or 8 bytes, as MPI reads and writes it.
union Word {
  std::int64_t wide;
  std::int32_t narrow;
};

Word word_of(std::int64_t value, int bytes) noexcept {
  Word word{.wide = value};
  if (bytes == sizeof(std::int32_t)) {
    word.narrow = static_cast<std::int32_t>(value);
  }
  return word;
}

}  // namespace

// Holds the mutex of a slice's owner, if the operation needs it.
class WindowEndpoint::OwnerMutexGuard {
 public:
  static Result<OwnerMutexGuard> begin(const WindowLocation& location, bool is_needed) {
    detail::RemoteLocks* const mutexes = is_needed ? location.mutexes : nullptr;
    if (mutexes != nullptr) {
      TESSERA_RETURN_IF_ERROR(mutexes->lock(TeamRank{location.rank}, 0, [] {}).status());
    }
    return OwnerMutexGuard(mutexes, TeamRank{location.rank});
  }
  OwnerMutexGuard(OwnerMutexGuard&& other) noexcept
      : mutexes_(std::exchange(other.mutexes_, nullptr)), owner_(other.owner_) {}
  OwnerMutexGuard& operator=(OwnerMutexGuard&&) = delete;
  ~OwnerMutexGuard() {
    if (mutexes_ != nullptr) {
      mutexes_->unlock(owner_, 0).ignore("the next operation on the window fails as well");
    }
  }

 private:
  OwnerMutexGuard(detail::RemoteLocks* mutexes, TeamRank owner) noexcept
      : mutexes_(mutexes), owner_(owner) {}
  detail::RemoteLocks* mutexes_;
  TeamRank owner_;
};

// MPI's own additions are atomic; get, add and put is atomic only under the mutex.
bool WindowEndpoint::needs_mutex(const WindowLocation& location, bool at_origin) noexcept {
  return location.has_conflicts && (location.excludes_atomics || at_origin);
}

WindowEndpoint::WindowLocation WindowEndpoint::location_of(const Target& target) const noexcept {
  const WindowSegment& segment = WindowSegment::of(target);
  return {segment.window(),
          target.rank.value,
          segment.displacement_at(target.rank.value) + target.offset,
          segment.lock_type(),
          segment.is_strict() && !has_atomics(segment.window()),
          segment.has_conflicts(),
          segment.mutexes()};
}

// The same for an accumulate.
WindowEndpoint::WindowLocation WindowEndpoint::location_of(const Target& target,
                                                           const Scale& scale) const noexcept {
  WindowLocation location = location_of(target);
  if (combines_in_epoch(location.window, scale)) {
    location.lock_type = MPI_LOCK_EXCLUSIVE;
    location.keeps_lock = true;
  }
  return location;
}

// `issue` makes the MPI calls in an epoch. A blocking operation is complete locally at return.
template <class Issue>
Status WindowEndpoint::start(const WindowLocation& location, const WindowAccess& access,
                             Completion& done, Issue&& issue) {
  TESSERA_RETURN_IF_ERROR(world_->check_thread());
  keep_target_awake(location.window);
  std::list<MpiOperation> operation(1);
  MpiOperation& own = operation.front();
  own.access = access;
  own.endpoint = this;
  own.done = &done;
  const Epoch epoch(location.window, location.rank, location.lock_type, location.keeps_lock);
  {
    const std::lock_guard guard(mutex_);
    const auto mpi_guard = world_->lock_calls();
    TESSERA_RETURN_IF_ERROR(prepare(access));
    TESSERA_RETURN_IF_ERROR(epoch.begin());
    Status issued = detail::catch_bad_alloc([&] { return issue(own, epoch); });
    if (issued.ok() && done.is_in_background() && !is_mapped_ && location.window.is_lock_all()) {
      if (access.effect.changes()) {
        add_once(started_, {access.window, access.rank});
        has_changed_.store(true, std::memory_order_release);
      }
      progress_.operations().add(operation);
      return {};
    }
    // Calls issued before an error must no longer use the caller's memory.
    Status finished = location.window.is_lock_all() ? finish_now(own) : epoch.end();
    TESSERA_RETURN_IF_ERROR(issued);
    TESSERA_RETURN_IF_ERROR(finished);
  }
  done.end({});
  return {};
}

// Requires: the lock is held.
Status WindowEndpoint::finish_now(MpiOperation& operation) {
  const WindowAccess& access = operation.access;
  const Window& window = *access.window;
  if (operation.request != MPI_REQUEST_NULL) {
    TESSERA_RETURN_IF_ERROR(check("MPI_Wait", MPI_Wait(&operation.request, MPI_STATUS_IGNORE)));
  }
  if (access.effect.changes() && (is_mapped_ || is_flush_free(window))) {
    return window.flush(access.rank);
  }
  TESSERA_RETURN_IF_ERROR(window.flush_local(access.rank));
  if (access.effect.changes()) {
    add_change(access);
  }
  return {};
}

// The request of the operation, if it is one MPI call and a handle waits for it.
MPI_Request* WindowEndpoint::request_of(MpiOperation& operation) const noexcept {
  const bool has_one = methods_.uses_requests && operation.done->is_in_background() &&
                       operation.access.window->is_lock_all();
  return has_one ? &operation.request : nullptr;
}

// The same for calls with derived datatypes.
MPI_Request* WindowEndpoint::request_of_types(MpiOperation& operation) const noexcept {
  return methods_.types_have_requests ? request_of(operation) : nullptr;
}

// The same for a run, which may need several calls, or a call without a request.
MPI_Request* WindowEndpoint::request_of(MpiOperation& operation, const CopyShape& shape,
                                        std::uint64_t displacement) const noexcept {
  const WindowAccess& access = operation.access;
  const Run run{*access.window, access.rank, displacement, shape.run_bytes};
  const bool is_one = shape.levels == 0 && shape.run_bytes <= max_call_bytes &&
                      !run.needs_accumulate() && !run.is_torn_by_gets();
  return is_one ? request_of(operation) : nullptr;
}

// Whether local memory and the target's memory, on this same rank, overlap: MPI forbids that.
bool WindowEndpoint::overlaps_itself(const WindowLocation& location, const void* local,
                                     const CopyShape& shape) const noexcept {
  if (peer_ != world_->rank() || location.window.memory() == nullptr) {
    return false;
  }
  const auto here = reinterpret_cast<std::uintptr_t>(local);
  const auto there =
      reinterpret_cast<std::uintptr_t>(location.window.origin()) + location.displacement;
  const CopyShape::Extent own = shape.local_extent();
  const CopyShape::Extent target = shape.remote_extent();
  return here + static_cast<std::uintptr_t>(own.lowest) <
             there + static_cast<std::uintptr_t>(target.highest) &&
         there + static_cast<std::uintptr_t>(target.lowest) <
             here + static_cast<std::uintptr_t>(own.highest);
}

Result<Sides> WindowEndpoint::sides_of(const CopyShape& shape, MPI_Datatype element,
                                       std::size_t element_bytes) {
  TESSERA_ASSIGN_OR_RETURN(
      const MPI_Datatype local,
      types_.find(StridedSide::of(shape, Which::local, element, element_bytes)));
  TESSERA_ASSIGN_OR_RETURN(
      const MPI_Datatype remote,
      types_.find(StridedSide::of(shape, Which::remote, element, element_bytes)));
  return Sides{1, local, remote};
}

// Rows that are words get a word's type.
Result<Sides> WindowEndpoint::copied_sides_of(const CopyShape& shape, std::uint64_t displacement) {
  return are_words(shape, displacement)
             ? sides_of(shape, word_type(shape.run_bytes), shape.run_bytes)
             : sides_of(shape, MPI_BYTE, 1);
}

// Runs that overlap on the written side are moved one after another.
Method WindowEndpoint::method_of(const CopyShape& shape, Which written) {
  return runs_are_apart(shape, written) ? Method::batched : Method::conservative;
}

bool WindowEndpoint::copies_directly(const WindowLocation& location, const CopyShape& shape,
                                     Which written) const {
  const bool keeps_words = written == Which::local
                               ? location.window.gets_whole_words(shape.run_bytes)
                               : location.window.keeps_words();
  return shape.levels > 0 && methods_.of_shape(shape, false) == Method::direct &&
         runs_are_apart(shape, written) &&
         Datatypes::is_short(StridedSide::of(shape, written, MPI_BYTE, 1)) &&
         (keeps_words || !are_words(shape, location.displacement));
}

Status WindowEndpoint::copy(const Target& remote, std::byte* local, const CopyShape& shape,
                            Direction direction, Completion& done) {
  const WindowLocation location = location_of(remote);
  const Which written = written_side(direction);
  const WindowAccess access = location.access(shape.remote_extent(), copy_effect(direction));
  return start(location, access, done, [&](MpiOperation& operation, const Epoch& epoch) -> Status {
    const Run first{location.window, location.rank, location.displacement, shape.run_bytes};
    if (overlaps_itself(location, local, shape)) {
      kernels::move_shape(local, location.window.origin() + location.displacement, shape,
                          direction);
      return Status();
    }
    if (copies_directly(location, shape, written)) {
      TESSERA_ASSIGN_OR_RETURN(const Sides sides, copied_sides_of(shape, location.displacement));
      return transfer_sides(first, local, sides, direction, request_of_types(operation));
    }
    MPI_Request* const request = request_of(operation, shape, location.displacement);
    return for_each_call(shape, first, completer_of(epoch, method_of(shape, written)),
                         [&](std::int64_t offset, const Run& run) {
                           return transfer_run(run, local + offset, direction, request);
                         });
  });
}

Status WindowEndpoint::put(const Target& to, const void* from, const CopyShape& shape,
                           Completion& done) {
  // A put reads its local memory, and does not change it.
  return copy(to, static_cast<std::byte*>(const_cast<void*>(from)), shape, Direction::to_remote,
              done);
}

Status WindowEndpoint::get(void* to, const Target& from, const CopyShape& shape, Completion& done) {
  return copy(from, static_cast<std::byte*>(to), shape, Direction::from_remote, done);
}

Result<bool> WindowEndpoint::put_now(const Target& to, const void* from, std::size_t bytes) {
  if (is_shared(WindowSegment::of(to).window(), bytes)) {
    return put_shared(to, from, bytes);
  }
  constexpr std::size_t max_bytes = 256;
  if (bytes > max_bytes || is_mapped_) {
    return false;
  }
  TESSERA_RETURN_IF_ERROR(world_->check_thread());
  const WindowLocation location = location_of(to);
  keep_target_awake(location.window);
  const std::lock_guard guard(mutex_);
  const auto mpi_guard = world_->lock_calls();
  const WindowAccess access =
      location.access({0, static_cast<std::int64_t>(bytes)}, Effect::write());
  TESSERA_RETURN_IF_ERROR(prepare(access));
  const Epoch epoch(location.window, location.rank, location.lock_type);
  TESSERA_RETURN_IF_ERROR(epoch.begin());
  Status put = put_run({location.window, location.rank, location.displacement, bytes},
                       static_cast<const std::byte*>(from), nullptr);
  if (!location.window.is_lock_all()) {
    TESSERA_RETURN_IF_ERROR(epoch.end());
    TESSERA_RETURN_IF_ERROR(put);
    return true;
  }
  TESSERA_RETURN_IF_ERROR(put);
  TESSERA_RETURN_IF_ERROR(location.window.flush_local(location.rank));
  add_change(access);
  return true;
}

Status WindowEndpoint::accumulate(const Target& to, const void* from, const CopyShape& shape,
                                  const Scale& scale, Completion& done) {
  const WindowLocation location = location_of(to, scale);
  const bool adds_here = adds_at_origin(location.window, scale);
  const bool at_origin = adds_here || location.keeps_lock;
  TESSERA_ASSIGN_OR_RETURN(const OwnerMutexGuard owner_guard,
                           OwnerMutexGuard::begin(location, needs_mutex(location, adds_here)));
  const auto* const source = static_cast<const std::byte*>(from);
  const bool are_apart = runs_are_apart(shape, Which::remote);
  const bool by_swaps = uses_swaps(location.window, scale);
  const bool is_direct = shape.levels > 0 && scale.is_one() && are_apart && !by_swaps &&
                         methods_.of_shape(shape, true) == Method::direct;
  const std::size_t unit = added_type(scale.type()).bytes;
  const Effect effect =
      effect_of(location, scale, !are_multiples(shape, location.displacement, unit));
  const WindowAccess access = location.access(shape.remote_extent(), effect);
  return start(location, access, done, [&](MpiOperation& operation, const Epoch& epoch) -> Status {
    const Run first{location.window, location.rank, location.displacement, shape.run_bytes};
    if (at_origin) {
      OriginAccumulator accumulator(scale, epoch);
      TESSERA_RETURN_IF_ERROR(for_each_call(shape, first, completer_of(epoch, Method::direct),
                                            [&](std::int64_t local, const Run& run) {
                                              Status added = accumulator.add(run, source + local);
                                              return added.ok() && !are_apart ? accumulator.finish()
                                                                              : std::move(added);
                                            }));
      return accumulator.finish();
    }
    if (is_direct) {
      const AddedType added = added_type(scale.type());
      TESSERA_ASSIGN_OR_RETURN(const Sides sides, sides_of(shape, added.type, added.bytes));
      return update_sides(first, from, sides, op_of(scale));
    }
    ScaledSource scaled(shape.total_bytes(), scale);
    Status issued = for_each_call(shape, first, completer_of(epoch, Method::batched),
                                  [&](std::int64_t local, const Run& run) {
                                    const auto* const operands =
                                        scaled.take(source + local, run.bytes);
                                    return by_swaps ? combine_by_swaps(run, operands, scale)
                                                    : accumulate_run(run, operands, scale);
                                  });
    operation.source = std::move(scaled).keep();
    return issued;
  });
}

// Whether MPI adds incorrectly, or only with the help of a target that may be computing.
bool WindowEndpoint::adds_at_origin(const Window& window, const Scale& scale) const noexcept {
  return !window.has_atomics() || (methods_.small_sums_saturate && is_small_integer(scale.type()));
}

namespace {

// Whether this MPI has no correct operation: Tessera defines minima and maxima with NaNs, MPI does
// not, and some MPIs compare unsigned integers as signed ones.
bool lacks_operation(const Methods& methods, const Scale& scale) noexcept {
  const bool is_extreme = scale.op() == AccumulateOp::min || scale.op() == AccumulateOp::max;
  return is_extreme && (!is_integer(scale.type()) ||
                        (methods.unsigned_compares_as_signed && is_unsigned(scale.type())));
}

}  // namespace

// If a window stays locked, and its compare-and-swaps are not atomic with its accumulates, MPI
// itself computes minima and maxima, also of NaNs.
bool WindowEndpoint::uses_swaps(const Window& window, const Scale& scale) const noexcept {
  return lacks_operation(methods_, scale) && has_atomics(window);
}

// Gets, combines and puts in one epoch. Its exclusive lock excludes all other accumulates.
bool WindowEndpoint::combines_in_epoch(const Window& window, const Scale& scale) const noexcept {
  return lacks_operation(methods_, scale) && !window.is_lock_all() &&
         !adds_at_origin(window, scale);
}

// MPI's own accumulates of one operation and type may come in any order, unless their elements
// share bytes without being the same.
Effect WindowEndpoint::effect_of(const WindowLocation& location, const Scale& scale,
                                 bool shares_bytes) const noexcept {
  const bool by_mpi = !adds_at_origin(location.window, scale) && !location.keeps_lock &&
                      !uses_swaps(location.window, scale);
  return by_mpi && !shares_bytes ? Effect::combine(scale) : Effect::write();
}

Method WindowEndpoint::method_of(Fragments fragments, bool accumulates,
                                 Status (*check_overlap)(Fragments)) const {
  const bool is_checked = !accumulates && !methods_.lists_may_overlap;
  const bool overlap = !is_checked && !check_overlap(fragments).ok();
  return methods_.of_list(fragments, accumulates, overlap);
}

BatchCompleter WindowEndpoint::completer_of(const Epoch& epoch, Method method) const noexcept {
  return {epoch, method, methods_.batch};
}

namespace {

// The type that describes a list's pieces so that MPI copies words whole: a word's type if all are
// words of that size, bytes if none is a word; nothing if they differ.
std::optional<AddedType> element_of(const Run& first, Fragments fragments,
                                    bool keeps_words) noexcept {
  const auto is_word_here = [&](const Fragment& each) {
    return is_word(first.displacement + each.remote_offset, each.bytes);
  };
  if (std::none_of(fragments.begin(), fragments.end(), is_word_here)) {
    return AddedType{MPI_BYTE, 1};
  }
  const std::size_t bytes = fragments.front().bytes;
  const bool all_words =
      keeps_words && std::all_of(fragments.begin(), fragments.end(), [&](const Fragment& each) {
        return each.bytes == bytes && is_word_here(each);
      });
  return all_words ? std::optional(AddedType{word_type(bytes), bytes}) : std::nullopt;
}

}  // namespace

Status WindowEndpoint::copy_fragments(const Target& remote, Fragments fragments,
                                      Direction direction, Completion& done) {
  const WindowLocation location = location_of(remote);
  const bool is_put = direction == Direction::to_remote;
  const WindowAccess access = location.access(remote_extent(fragments), copy_effect(direction));
  return start(location, access, done, [&](MpiOperation& operation, const Epoch& epoch) -> Status {
    const Run first{location.window, location.rank, location.displacement, 0};
    const Method method = method_of(
        fragments, false, is_put ? detail::check_remote_overlap : detail::check_local_overlap);
    const bool keeps_words =
        is_put ? first.window.keeps_words()
               : fragments.empty() || first.window.gets_whole_words(fragments.front().bytes);
    const auto element = element_of(first, fragments, keeps_words);
    const auto transfer_all = [&](const ListTypes& types, MPI_Request* request) {
      return transfer_sides(first.at_first(fragments),
                            static_cast<std::byte*>(fragments.front().local),
                            {1, types.local(), types.remote()}, direction, request);
    };
    if (method == Method::direct && element) {
      TESSERA_ASSIGN_OR_RETURN(const ListTypes types,
                               ListTypes::create(fragments, element->type, element->bytes));
      return transfer_all(types, request_of_types(operation));
    }
    if (method == Method::batched && element) {
      TESSERA_ASSIGN_OR_RETURN(const ListTypes* const types, cached_types(fragments, *element));
      if (types != nullptr) {
        return transfer_all(*types, nullptr);
      }
    }
    return for_each_call(
        fragments, first, completer_of(epoch, method), [&](const Fragment& each, const Run& run) {
          return transfer_run(run, static_cast<std::byte*>(each.local), direction, nullptr);
        });
  });
}

Status WindowEndpoint::put_fragments(const Target& to, Fragments fragments, Completion& done) {
  return copy_fragments(to, fragments, Direction::to_remote, done);
}

Status WindowEndpoint::get_fragments(const Target& from, Fragments fragments, Completion& done) {
  return copy_fragments(from, fragments, Direction::from_remote, done);
}

Status WindowEndpoint::accumulate_fragments(const Target& to, Fragments fragments,
                                            const Scale& scale, Completion& done) {
  const WindowLocation location = location_of(to, scale);
  const bool adds_here = adds_at_origin(location.window, scale);
  const bool at_origin = adds_here || location.keeps_lock;
  TESSERA_ASSIGN_OR_RETURN(const OwnerMutexGuard owner_guard,
                           OwnerMutexGuard::begin(location, needs_mutex(location, adds_here)));
  const std::size_t unit = added_type(scale.type()).bytes;
  const Effect effect =
      effect_of(location, scale, !are_multiples(fragments, location.displacement, unit));
  const WindowAccess access = location.access(remote_extent(fragments), effect);
  return start(location, access, done, [&](MpiOperation& operation, const Epoch& epoch) -> Status {
    const Run first{location.window, location.rank, location.displacement, 0};
    if (at_origin) {
      const bool are_apart = detail::check_remote_overlap(fragments).ok();
      OriginAccumulator accumulator(scale, epoch);
      TESSERA_RETURN_IF_ERROR(for_each_call(
          fragments, first, completer_of(epoch, Method::direct),
          [&](const Fragment& each, const Run& run) {
            Status added = accumulator.add(run, static_cast<const std::byte*>(each.local));
            return added.ok() && !are_apart ? accumulator.finish() : std::move(added);
          }));
      return accumulator.finish();
    }
    const Method method = method_of(fragments, true, detail::check_remote_overlap);
    const bool by_swaps = uses_swaps(location.window, scale);
    if (method == Method::direct && scale.is_one() && !by_swaps) {
      const AddedType added = added_type(scale.type());
      TESSERA_ASSIGN_OR_RETURN(const ListTypes types,
                               ListTypes::create(fragments, added.type, added.bytes));
      return update_sides(first.at_first(fragments), fragments.front().local,
                          {1, types.local(), types.remote()}, op_of(scale));
    }
    ScaledSource scaled(total_bytes(fragments), scale);
    Status issued = for_each_call(
        fragments, first, completer_of(epoch, method), [&](const Fragment& each, const Run& run) {
          const auto* const operands =
              scaled.take(static_cast<const std::byte*>(each.local), each.bytes);
          return by_swaps ? combine_by_swaps(run, operands, scale)
                          : accumulate_run(run, operands, scale);
        });
    operation.source = std::move(scaled).keep();
    return issued;
  });
}

// Complete at return, locally and at the target.
Status WindowEndpoint::atomic(const Target& at, const AtomicRequest& request, Completion& done) {
  TESSERA_RETURN_IF_ERROR(world_->check_thread());
  const WindowLocation location = location_of(at);
  keep_target_awake(location.window);
  TESSERA_RETURN_IF_ERROR(has_atomics(location.window) ? atomic_by_mpi(location, request)
                                                       : atomic_by_mutex(location, request));
  done.end({});
  return {};
}

Status WindowEndpoint::atomic_by_mpi(const WindowLocation& location, const AtomicRequest& request) {
  const std::lock_guard guard(mutex_);
  const auto mpi_guard = world_->lock_calls();
  TESSERA_RETURN_IF_ERROR(flush_changes());
  const auto bytes = static_cast<std::size_t>(request.bytes);
  return call_atomic({location.window, location.rank, location.displacement, bytes}, request);
}

Status WindowEndpoint::call_atomic(const Run& word, const AtomicRequest& request) {
  const MPI_Datatype type = integer_type(request.bytes);
  const Word operand = word_of(request.operand, request.bytes);
  const Word expected = word_of(request.expected, request.bytes);
  const auto displacement = static_cast<MPI_Aint>(word.displacement);
  Word previous{};
  if (request.kind == AtomicRequest::Kind::compare_swap) {
    TESSERA_RETURN_IF_ERROR(check("MPI_Compare_and_swap",
                                  MPI_Compare_and_swap(&operand, &expected, &previous, type,
                                                       word.rank, displacement, word.handle())));
  } else {
    const MPI_Op op = op_of(request.kind);
    TESSERA_RETURN_IF_ERROR(check(
        "MPI_Fetch_and_op",
        MPI_Fetch_and_op(&operand, &previous, type, word.rank, displacement, op, word.handle())));
  }
  TESSERA_RETURN_IF_ERROR(word.window.flush(word.rank));
  request.report(request.bytes == sizeof(std::int32_t) ? std::int64_t{previous.narrow}
                                                       : previous.wide);
  return {};
}

// If MPI has no working atomics: reads and writes, under the mutex of the slice's owner.
Status WindowEndpoint::atomic_by_mutex(const WindowLocation& location,
                                       const AtomicRequest& request) {
  TESSERA_ASSIGN_OR_RETURN(const OwnerMutexGuard owner_guard,
                           OwnerMutexGuard::begin(location, true));
  const Epoch epoch(location.window, location.rank, location.lock_type);
  const std::lock_guard guard(mutex_);
  const auto mpi_guard = world_->lock_calls();
  TESSERA_RETURN_IF_ERROR(flush_changes());
  TESSERA_RETURN_IF_ERROR(epoch.begin());
  Status changed = change_word(location, request, epoch);
  TESSERA_RETURN_IF_ERROR(epoch.end());
  return changed;
}

Status WindowEndpoint::change_word(const WindowLocation& location, const AtomicRequest& request,
                                   const Epoch& epoch) {
  const auto bytes = static_cast<std::size_t>(request.bytes);
  const Run run{location.window, location.rank, location.displacement, bytes};
  const Sides sides = Sides::of(run.displacement, bytes);
  alignas(8) std::array<std::byte, sizeof(std::int64_t)> word{};
  TESSERA_RETURN_IF_ERROR(get_sides(run, word.data(), sides, nullptr));
  TESSERA_RETURN_IF_ERROR(epoch.renew(true));
  request.report(detail::atomic_direct(word.data(), request));
  TESSERA_RETURN_IF_ERROR(put_sides(run, word.data(), sides, nullptr));
  return epoch.renew(true);
}

// The target's progress thread sleeps longer and longer if no messages arrive, and it does not see
// operations that MPI serves.
void WindowEndpoint::keep_target_awake(const Window& window) {
  if (!window.needs_target() || peer_ == world_->rank()) {
    return;
  }
  const auto now = Clock::now();
  if (now - last_keep_awake_.load(std::memory_order_relaxed) >= Progress::awake_time / 2) {
    last_keep_awake_.store(now, std::memory_order_relaxed);
    progress_.send(peer_, {.kind = MessageKind::stay_awake}).ignore("the operation takes longer");
  }
}

// Also completes operations under way: a flag that is raised next comes after their data.
Status WindowEndpoint::fence() {
  TESSERA_RETURN_IF_ERROR(world_->check_thread());
  const std::lock_guard guard(mutex_);
  const auto mpi_guard = world_->lock_calls();
  for (const ChangedWindow& each : started_) {
    changes_.add(each);
  }
  started_.clear();
  return flush_changes();
}

bool WindowEndpoint::is_fenced(RegionId) const noexcept {
  return !has_changed_.load(std::memory_order_acquire);
}

// Flushes the changes that the access must follow, and makes room for its own: nothing fails after
// MPI has completed it. Memory of this rank itself is also accessed by loads and stores, so all
// operations there follow each other. In shared memory a flush costs nothing, and is_shared() holds
// afterwards. Requires: the lock is held.
Status WindowEndpoint::prepare(const WindowAccess& access) {
  if (access.effect.changes()) {
    started_.reserve(started_.size() + 1);
    changes_.reserve(changes_.windows().size() + started_.size() + 1);
  }
  const bool follows_all = is_own_ || is_flush_free(*access.window);
  return follows_all || changes_.must_precede(access) ? flush_changes() : Status();
}

// Requires: the lock is held.
Status WindowEndpoint::flush_changes() {
  Status first;
  for (const auto& [window, rank] : changes_.windows()) {
    Status flushed = window->flush(rank).at(peer_);
    first = first.ok() ? std::move(flushed) : std::move(first);
  }
  changes_.clear();
  has_changed_.store(!started_.empty(), std::memory_order_release);
  return first;
}

// MPICH 4.0 wrongly treats operations that another thread starts at the end of a flush as completed
// by the flush.
std::optional<Status> WindowEndpoint::try_flush_local(const Window& window, int rank) {
  const std::unique_lock guard(mutex_, std::try_to_lock);
  return guard.owns_lock() ? std::optional(window.flush_local(rank)) : std::nullopt;
}

void WindowEndpoint::record_change(const WindowAccess& change) {
  const std::lock_guard guard(mutex_);
  add_change(change);
}

// Requires: the lock is held.
void WindowEndpoint::add_change(const WindowAccess& change) {
  changes_.add(change);
  has_changed_.store(true, std::memory_order_release);
}

void WindowEndpoint::forget(const Window& window) {
  const std::lock_guard guard(mutex_);
  changes_.forget(window);
  std::erase_if(started_, [&](const ChangedWindow& each) { return each.window == &window; });
  has_changed_.store(!changes_.is_empty() || !started_.empty(), std::memory_order_release);
}

}  // namespace tessera::rma::mpi
