// SPDX-License-Identifier: BSD-3-Clause
//
// Network: all devices of one FakeVerbs, the objects made on them, and the rules between them.
// FakeVerbs changes it at its callers' requests; the Wire executes what they posted.
//
// Threads: `mutex` guards everything here, and callers of its functions hold it. Exceptions are
// `faults` and completion queues, which have their own locks.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/fake_verbs_faults.hpp"
#include "tests/support/fake_verbs_objects.hpp"
#include "tests/support/fake_verbs_wire.hpp"

namespace tessera::rma::test::fake {

/// Objects of one kind, owned, and found by the user's pointer.
template <class Object>
class Table {
 public:
  Object* add(std::unique_ptr<Object> object) {
    Object* const plain = object.get();
    objects_.emplace(plain, std::move(object));
    return plain;
  }
  bool has(const void* object) const { return objects_.count(object) > 0; }
  void remove(const void* object) { objects_.erase(object); }
  std::size_t size() const noexcept { return objects_.size(); }

  template <class Condition>
  std::size_t count_if(Condition&& condition) const {
    std::size_t count = 0;
    for (const auto& [key, object] : objects_) {
      count += condition(*object) ? 1U : 0U;
    }
    return count;
  }
  template <class Action>
  void for_each(Action&& action) const {
    for (const auto& [key, object] : objects_) {
      action(*object);
    }
  }

 private:
  std::map<const void*, std::unique_ptr<Object>> objects_;
};

/// The result of a failed call that returns a pointer: null, with errno.
inline std::nullptr_t failed(int error) {
  errno = error;
  return nullptr;
}

/// The object that the event is about, which can't be destroyed before the event is acknowledged;
/// null if it is the device.
const void* subject_of(const ibv_async_event& event);

inline const DeviceModel& model_of(const ibv_context* device) {
  return static_cast<const Device*>(device)->hardware->model;
}

class Network {
 public:
  Network(std::vector<DeviceModel> models, std::uint64_t seed);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// The error with which a call on this device must fail, or 0.
  int error_of(FakeVerbs::Call call, const ibv_context* device);

  // --- devices
  /// Null if the device doesn't exist, or was removed.
  Hardware* find_hardware(const std::string& name);
  void notify(Device& device, const ibv_async_event& event);
  void notify(QueuePair& queue, ibv_event_type type);
  /// Removes events about an object that is destroyed.
  void withdraw_events(ibv_context& device, const void* subject);
  /// The receiver of this queue pair's messages, or null if they don't arrive.
  QueuePair* peer_of(const QueuePair& queue);

  // --- memory
  /// The region that contains this piece and grants `access` to requests in `domain`.
  Region* find_local(const ibv_pd* domain, const ibv_sge& piece, int access);
  /// The region of `peer` that grants remote access.
  Region* find_remote(const QueuePair& peer, std::uint32_t key, std::uint64_t address,
                      std::uint64_t bytes, int access);

  // --- queues
  /// Adds a completion, or breaks the queue if it is full.
  void complete(CompletionQueue& queue, const Completion& completion);
  void complete(QueuePair& queue, const Request& request, ibv_wc_status status);
  /// The queue pair fails: its outstanding requests are flushed.
  void set_error(QueuePair& queue);
  /// Removes requests and completions, as for a reset or a destruction.
  void clear(QueuePair& queue);
  /// Fails the queue pairs whose completion queues overflowed.
  void fail_overflowed();

  // --- what users did
  /// Records a mistake of the user, and returns the error of the call.
  int record_misuse(int error, const std::string& what);
  /// As record_misuse(EBUSY), unless `users` is 0.
  int refuse_busy(std::size_t users, const std::string& what);

  std::mutex mutex;
  Faults faults;

  std::vector<std::unique_ptr<Hardware>> hardware;
  std::set<std::pair<Hardware*, Hardware*>> disconnected;
  ibv_fork_status fork_status = IBV_FORK_DISABLED;

  Table<Device> devices;
  Table<Domain> domains;
  Table<Region> regions;
  Table<Channel> channels;
  Table<CompletionQueue> completion_queues;
  Table<ReceiveQueue> receive_queues;
  Table<QueuePair> queue_pairs;
  std::map<std::uint32_t, Region*> local_keys;
  std::map<std::uint32_t, Region*> remote_keys;
  std::map<std::uint32_t, QueuePair*> numbers;
  std::map<const void*, int> unacknowledged;  // fetched events of a queue

  std::size_t registered_bytes = 0;
  std::size_t memlock_limit = SIZE_MAX;
  bool has_registered = false;
  bool relaxes_all = false;
  std::shared_ptr<const std::function<void(const FakeVerbs::Registration&)>> watcher;

  bool is_tracing = false;
  std::vector<FakeVerbs::Posted> trace;
  std::uint64_t batches = 0;
  std::vector<std::string> misuses;
  std::size_t not_ready_count = 0;
  std::atomic<std::uint64_t> poll_count{0};

  std::uint32_t next_key = 0x1000;
  std::uint32_t next_number = 17;

  std::vector<CompletionQueue*> newly_broken;  // until fail_overflowed()

  Wire wire;  // last: its thread uses the others
};

}  // namespace tessera::rma::test::fake
