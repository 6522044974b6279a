// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/engine/mpi_network.hpp"
#include "rma/engine/node_context.hpp"
#include "rma/engine/startup.hpp"
#include "rma/node/agent_host.hpp"
#include "rma/progress/waiter.hpp"
#include "rma/transport/mpi/creation.hpp"
#include "rma/transport/mpi/endpoint.hpp"
#include "rma/transport/mpi/mpi_control_channel.hpp"
#include "rma/transport/mpi/progress.hpp"
#include "rma/transport/mpi/segment.hpp"
#include "rma/transport/mpi/self_test.hpp"
#include "rma/transport/mpi/staged_endpoint.hpp"
#include "rma/transport/mpi/world.hpp"

namespace tessera::rma::mpi {
namespace {

// Memory of this rank alone: some MPI libraries cannot make a window of one process.
class OwnSegment final : public Segment {
 public:
  explicit OwnSegment(std::byte* memory) noexcept : memory_(memory) {}
  [[nodiscard]] std::byte* local() const noexcept override { return memory_; }
  [[nodiscard]] DirectMap direct() const noexcept override { return {.base = memory_}; }
  Status free() override { return {}; }

 private:
  std::byte* memory_;
};

// All endpoints of this transport: needed when windows end and for fences of all ranks.
class EndpointRegistry {
 public:
  void add(WorldRank peer, WindowEndpoint* endpoint) {
    const std::lock_guard guard(mutex_);
    all_.emplace_back(peer, endpoint);
  }
  void remove(const WindowEndpoint* endpoint) noexcept {
    const std::lock_guard guard(mutex_);
    std::erase_if(all_, [&](const auto& each) { return each.second == endpoint; });
  }
  void forget(const Window& window) {
    const std::lock_guard guard(mutex_);
    for (const auto& [peer, endpoint] : all_) {
      endpoint->forget(window);
    }
  }
  /// Fences the endpoints of one rank, or of all.
  Status fence(std::optional<WorldRank> only) {
    const std::lock_guard guard(mutex_);
    Status first;
    for (const auto& [peer, endpoint] : all_) {
      if (!only || peer == *only) {
        Status fenced = endpoint->fence();
        first = first.ok() ? std::move(fenced) : std::move(first);
      }
    }
    return first;
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<WorldRank, WindowEndpoint*>> all_;
};

// Removes itself from the list at its end.
class RegisteredEndpoint final : public WindowEndpoint {
 public:
  RegisteredEndpoint(std::shared_ptr<World> world, std::shared_ptr<Progress> progress,
                     Datatypes& types, const Methods& methods, WorldRank peer, bool is_mapped,
                     std::shared_ptr<EndpointRegistry> list)
      : WindowEndpoint(std::move(world), *progress, types, methods, peer, is_mapped),
        progress_(std::move(progress)),
        list_(std::move(list)) {
    list_->add(peer, this);
  }
  ~RegisteredEndpoint() override { list_->remove(this); }
  RegisteredEndpoint(const RegisteredEndpoint&) = delete;
  RegisteredEndpoint& operator=(const RegisteredEndpoint&) = delete;

 private:
  std::shared_ptr<Progress> progress_;
  std::shared_ptr<EndpointRegistry> list_;
};

EpochMode epoch_mode_of(const Settings& settings) {
  return settings.mpi_epochs == "per_operation" ? EpochMode::per_operation : EpochMode::lock_all;
}

// MPI-2 has no atomics, so its locks are made of puts and gets.
bool locks_by_bytes(const Settings& settings) {
  return settings.mpi_locks == "bytes" || epoch_mode_of(settings) == EpochMode::per_operation;
}

// Memory of a window that stays locked may be a local buffer: operations take no locks.
WindowPool::Staging staging_of(const Settings& settings) {
  using Staging = WindowPool::Staging;
  if (epoch_mode_of(settings) == EpochMode::lock_all || settings.mpi_staging == "never") {
    return Staging::none;
  }
  return settings.mpi_staging == "always" ? Staging::all_windows : Staging::separate_windows;
}

class MpiTransport final : public Transport, public MemoryTransport, public DataTransport {
 public:
  MpiTransport(const TransportContext& context, std::shared_ptr<World> world,
               std::shared_ptr<Progress> progress)
      : world_(std::move(world)),
        progress_(std::move(progress)),
        node_(detail::nodes_of(context).node),
        nodes_(*detail::nodes_of(context).map),
        has_own_memory_(!context.has_memory),
        locks_by_bytes_(locks_by_bytes(*context.settings)),
        stages_(staging_of(*context.settings) != WindowPool::Staging::none),
        methods_(Methods::of(*context.settings, world_->library(),
                             detail::nodes_of(context).machines == 1)),
        pool_(std::make_shared<WindowPool>(
            world_, context, epoch_mode_of(*context.settings),
            [list = endpoints_](const Window& w) { list->forget(w); })) {
    if (!methods_.shares_windows) {
      progress_->poll_while_waiting();
    }
    node_->set_progress_delegate(progress_.get());
    pool_->set_staging(staging_of(*context.settings));
  }
  ~MpiTransport() override { node_->set_progress_delegate(nullptr); }
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  [[nodiscard]] std::string_view name() const noexcept override { return "mpi"; }
  [[nodiscard]] const Capabilities& capabilities() const noexcept override { return can_; }
  [[nodiscard]] MemoryTransport* memory() noexcept override { return this; }
  [[nodiscard]] DataTransport& data() noexcept override { return *this; }
  [[nodiscard]] bool reaches(WorldRank peer) const override {
    return has_own_memory_ || node_->local_rank_of(peer) < 0;
  }

  Result<std::unique_ptr<Segment>> allocate(Team& team, std::size_t my_bytes,
                                            const RegionOptions& options) override {
    TESSERA_ASSIGN_OR_RETURN(
        auto segment, pool_->allocate(nullptr, team, my_bytes, options, WindowPool::Use::regions));
    return std::unique_ptr<Segment>(std::move(segment));
  }
  Result<std::unique_ptr<Segment>> attach(Team& team, void* memory, std::size_t my_bytes,
                                          const RegionOptions& options) override {
    if (team.size() == 1) {
      return std::unique_ptr<Segment>(
          std::make_unique<OwnSegment>(static_cast<std::byte*>(memory)));
    }
    return expose(team, nullptr, memory, my_bytes, options);
  }
  Result<std::unique_ptr<Segment>> allocate_over(MemoryTransport& memory, Team& team,
                                                 const MemoryRequest& request,
                                                 const RegionOptions& options) override {
    if (&memory == this || team.size() == 1) {
      return DataTransport::allocate_over(memory, team, request, options);
    }
    if (request.is_attached) {
      TESSERA_ASSIGN_OR_RETURN(auto inner,
                               memory.attach(team, request.attached, request.bytes, options));
      return expose(team, std::move(inner), request.attached, request.bytes, options);
    }
    TESSERA_ASSIGN_OR_RETURN(auto segment, pool_->allocate(&memory, team, request.bytes, options,
                                                           WindowPool::Use::regions));
    return std::unique_ptr<Segment>(std::move(segment));
  }

  Result<std::unique_ptr<Endpoint>> connect(WorldRank peer) override {
    std::unique_ptr<Endpoint> endpoint = std::make_unique<RegisteredEndpoint>(
        world_, progress_, types_, methods_, peer, node_->local_rank_of(peer) >= 0, endpoints_);
    return stages_ ? std::make_unique<StagedEndpoint>(std::move(endpoint), pool_->local_windows())
                   : std::move(endpoint);
  }
  std::unique_ptr<detail::NodeControlChannel> control_channel() override {
    auto link = std::make_unique<MpiControlChannel>(
        progress_, pool_, node_, nodes_, locks_by_bytes_, exit_lock_releaser_,
        [list = endpoints_](std::optional<WorldRank> only) { return list->fence(only); });
    pool_->set_mutexes([link = link.get()](Team& team) {
      return link->make_locks(team,
                              std::vector<std::int64_t>(static_cast<std::size_t>(team.size()), 1));
    });
    return link;
  }

  int progress() override { return progress_->poll(); }
  bool wait(Completion& done, std::chrono::nanoseconds period) override {
    return progress_->wait(done, period);
  }
  void wake_progress() override { progress_->wake(); }

  // Windows end when all ranks are here, and until then MPI needs every process.
  void leave() noexcept override {
    detail::catch_bad_alloc([&]() -> Status {
      exit_lock_releaser_->release_all();
      return {};
    }).ignore("a rank that waits for them reports it");
    send_shutdown_notices();
    constexpr detail::TimedWaits waits{.first = std::chrono::microseconds(50),
                                       .longest = std::chrono::microseconds(50)};
    detail::poll_until(waits, [&] {
      const auto have_left = [&] { return progress_->server().left() >= world_->size() - 1; };
      while (!have_left() && progress_->poll() > 0) {
      }
      return have_left();
    });
    progress_->channel().finish_sending();
    progress_->stop_thread();
    pool_->close();
    progress_->channel().close();
    world_->close();
  }

 private:
  Result<std::unique_ptr<Segment>> expose(Team& team, std::unique_ptr<Segment> inner, void* memory,
                                          std::size_t bytes, const RegionOptions& options) {
    TESSERA_ASSIGN_OR_RETURN(
        auto segment,
        pool_->expose(team, std::move(inner), static_cast<std::byte*>(memory), bytes, options));
    return std::unique_ptr<Segment>(std::move(segment));
  }
  // Starts with the next rank, so that not all ranks notify the same one at once.
  void send_shutdown_notices() noexcept {
    for (int step = 1; step < world_->size(); ++step) {
      const WorldRank to{(world_->rank().value + step) % world_->size()};
      progress_->send(to, {.kind = MessageKind::left}).ignore("MPI ends the job");
    }
  }

  Capabilities can_{.attach = true,
                    .strided = true,
                    .accumulate = true,
                    .atomics = true,
                    .strict = true,
                    .handles_all_updates = true};
  std::shared_ptr<World> world_;
  std::shared_ptr<Progress> progress_;
  std::shared_ptr<detail::Node> node_;
  const detail::NodeMap& nodes_;
  const bool has_own_memory_;
  const bool locks_by_bytes_;
  const bool stages_;
  const Methods methods_;
  Datatypes types_;
  std::shared_ptr<EndpointRegistry> endpoints_ = std::make_shared<EndpointRegistry>();
  std::shared_ptr<ExitLockReleaser> exit_lock_releaser_ = std::make_shared<ExitLockReleaser>();
  std::shared_ptr<WindowPool> pool_;
};

Status check_context(const TransportContext& context) {
  if (!detail::nodes_of(context).communicator) {
    return Status::error(Code::unsupported, "transport mpi needs a job that MPI started")
        .hint("start the program with mpirun or srun, or set TESSERA_BOOTSTRAP=mpi");
  }
  if (context.has_memory && detail::nodes_of(context).map->count() == 1) {
    return Status::error(Code::unsupported, "mpi connects nodes, and all ranks are on one");
  }
  if (context.are_connected) {
    return Status::error(Code::unsupported, "the nodes are connected already");
  }
  return {};
}

// Collective. By default MPI is for networks that no other transport of the library supports.
Status check_network(const TransportContext& context) {
  const detail::MpiNetwork own = detail::find_mpi_network();
  const std::byte has_one{!own.network.empty()};
  TESSERA_ASSIGN_OR_RETURN(const auto all, context.exchange(std::span(&has_one, 1)));
  const auto missing = std::find(all.begin(), all.end(), std::byte{0});
  if (missing == all.end()) {
    return {};
  }
  const std::string reason = own.network.empty()
                                 ? own.reason
                                 : fmt::format("rank {} finds no network for MPI but Ethernet",
                                               std::distance(all.begin(), missing));
  return Status::error(Code::unsupported, "not chosen by default: " + reason)
      .hint("set TESSERA_TRANSPORT=shm,mpi to use MPI's windows nevertheless");
}

// A rank's result of its part of the start.
struct Report {
  std::uint32_t code = 0;
  std::array<char, 300> text{};
};

// Collective. Returns the error of the lowest rank that has one. Afterwards every rank receives
// messages.
Status agree(const TransportContext& context, const Status& own) {
  Report report{.code = static_cast<std::uint32_t>(own.code())};
  const std::string text = own.ok() ? "" : own.message();
  std::copy_n(text.begin(), std::min(text.size(), report.text.size() - 1), report.text.begin());
  TESSERA_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                           context.exchange(std::as_bytes(std::span(&report, 1))));
  std::vector<Report> all(static_cast<std::size_t>(context.size));
  TESSERA_RETURN_IF_ERROR(detail::check_exchanged(bytes.size(), std::span(all).size_bytes()));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].code != 0) {
      return Status::error(static_cast<Code>(all[rank].code),
                           fmt::format("on rank {}: {}", rank, all[rank].text.data()));
    }
  }
  return {};
}

// Local. Makes room for messages from other nodes, and starts the thread that receives them.
Status prepare(const TransportContext& context, Progress& progress, const Library& library) {
  detail::Node& node = *detail::nodes_of(context).node;
  if (node.local_rank() == detail::agent_host_local_rank) {
    TESSERA_RETURN_IF_ERROR(node.make_remote_rank_tables(context.size));
  }
  TESSERA_RETURN_IF_ERROR(progress.start_messages());
  const std::string& mode = context.settings->mpi_progress;
  return library.is_multiple() && mode != "none" ? progress.start_thread(mode == "poll") : Status();
}

void warn_of_threads(const TransportContext& context, const Library& library) {
  if (context.rank.value == 0 && !library.is_multiple()) {
    context.warn(fmt::format(
        "MPI was started with {}: ranks that compute cannot serve other ranks; start it with "
        "MPI_THREAD_MULTIPLE, or let Tessera start it",
        thread_level_name(library.thread_level)));
  }
}

// Whether all ranks have the right to create, given whether this one has.
using CreationAgreement = std::function<Result<bool>(bool)>;
CreationAgreement creation_agreement_of(const TransportContext& context) {
  return [&](bool has_lock) -> Result<bool> {
    const std::byte own{has_lock};
    TESSERA_ASSIGN_OR_RETURN(const auto all, context.exchange(std::span(&own, 1)));
    return std::count(all.begin(), all.end(), std::byte{1}) == std::ssize(all);
  };
}

// Collective. Other jobs of these processes may be active.
Result<std::shared_ptr<World>> create_world(const TransportContext& context,
                                            const CreationAgreement& agree_to_create) {
  const int communicator = *detail::nodes_of(context).communicator;
  Result<std::shared_ptr<World>> world = Status::code_only(Code::internal);
  TESSERA_RETURN_IF_ERROR(
      create_exclusively(agree_to_create, world, [&] { return World::create(communicator); }));
  return world;
}

// Collective. Errors: unsupported if MPI cannot make windows.
Status test_windows(const TransportContext& context, const std::shared_ptr<World>& world,
                    const CreationAgreement& agree_to_create) {
  Result<TestWindow> made = Status::code_only(Code::internal);
  TESSERA_RETURN_IF_ERROR(
      create_exclusively(agree_to_create, made, [&] { return make_test_window(world); }));
  TESSERA_RETURN_IF_ERROR(agree(context, made.status()));
  world->set_mixes_atomics(test_mixed_atomics(*made->window));
  return agree(context, made->window->free());
}

Result<std::unique_ptr<Transport>> create_over(const TransportContext& context,
                                               const std::shared_ptr<World>& world) {
  auto progress = std::make_shared<Progress>(world, detail::nodes_of(context).node);
  TESSERA_RETURN_IF_ERROR(agree(context, prepare(context, *progress, world->library())));
  warn_of_threads(context, world->library());
  return std::unique_ptr<Transport>(
      std::make_unique<MpiTransport>(context, world, std::move(progress)));
}

Result<std::unique_ptr<Transport>> create(const TransportContext& context) {
  TESSERA_RETURN_IF_ERROR(check_context(context));
  if (detail::are_default_transports(*context.settings)) {
    TESSERA_RETURN_IF_ERROR(check_network(context));
  }
  TESSERA_RETURN_IF_ERROR(agree(context, check_single_mpi()));
  const CreationAgreement agree_to_create = creation_agreement_of(context);
  TESSERA_ASSIGN_OR_RETURN(const auto world, create_world(context, agree_to_create));
  Status tested = test_windows(context, world, agree_to_create);
  auto created = tested.ok() ? create_over(context, world)
                             : Result<std::unique_ptr<Transport>>(std::move(tested));
  if (!created.ok()) {
    world->close();
  }
  return created;
}

// A description in words, before or after the start of MPI.
std::string describe(const Settings& settings) {
  const detail::MpiNetwork network =
      detail::are_default_transports(settings) ? detail::find_mpi_network() : detail::MpiNetwork{};
  if (!network.reason.empty()) {
    return fmt::format("not used: {} (TESSERA_TRANSPORT=shm,mpi uses it nevertheless)",
                       network.reason);
  }
  int is_initialized = 0;
  int is_finalized = 0;
  MPI_Initialized(&is_initialized);
  MPI_Finalized(&is_finalized);
  const std::string by =
      fmt::format("{}epochs {}, locks by {}", network.network.empty() ? "" : network.network + ", ",
                  settings.mpi_epochs, locks_by_bytes(settings) ? "bytes" : settings.mpi_locks);
  if (is_initialized == 0 || is_finalized != 0) {
    return by + "; MPI is not running";
  }
  const Library library = find_library();
  std::string text = fmt::format("{}; {}", by, thread_level_name(library.thread_level));
  text += library.is_multiple() ? "" : ", so ranks that compute cannot serve others";
  text += library.allocated_windows_break ? "; avoids MPI_Win_allocate (osc/rdma)" : "";
  text += library.exposed_windows_break ? "; avoids atomics in exposed memory (osc/rdma)" : "";
  text += library.window_limit_is_fatal ? "; checks for a free window before making one" : "";
  text += library.typed_requests_break ? "; avoids requests of derived datatypes" : "";
  text += library.small_sums_saturate ? "; avoids MPI_SUM of 8 and 16 bits" : "";
  text += library.unsigned_compares_as_signed ? "; avoids MPI_MIN and MPI_MAX of unsigned integers"
                                              : "";
  return text;
}

}  // namespace

TransportFactory factory() {
  return {"mpi", create, describe};
}

}  // namespace tessera::rma::mpi
