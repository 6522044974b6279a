// SPDX-License-Identifier: BSD-3-Clause
//
// HandleTable: the operations that an armci_hdl_t stands for.
//
// A program's handle is a number in a table of claims, with a generation and a seal by which the
// table recognises its own handles. Any other content, such as zeroes or old stack bytes, is an
// empty handle: some ARMCIs let programs leave handles uninitialised, and such programs work.
// Operations that are complete when they start, as all on one node are, add no claim; such a handle
// costs two loads.
//
// Threads: one handle, one thread at a time; different handles from any.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "rma/aggregate.hpp"
#include "rma/armci/armci.h"
#include "rma/base/result.hpp"
#include "rma/handle.hpp"
#include "rma/job.hpp"

namespace tessera::rma::armci {

/// What an aggregate collects: operations of one kind, to one process, with one factor.
struct AggregateKind {
  Op op;
  WorldRank rank;
  std::optional<Scale> scale;
  friend bool operator==(const AggregateKind&, const AggregateKind&) = default;
};

/// The operations that one handle stands for.
class Claim {
 public:
  /// Adds operations that were started.
  void collect(Handle&& started) { started_.collect(std::move(started)); }
  /// The aggregate for an operation; starts the kept operations first if they are of another kind.
  Aggregate& aggregate_for(Job& job, const AggregateKind& kind);
  /// Starts the kept operations.
  void start();
  bool done();
  Status wait();

 private:
  friend class HandleTable;
  std::uint32_t generation_ = 0;
  Handle started_;
  std::optional<Aggregate> kept_;
  std::optional<AggregateKind> kind_;
};

class HandleTable {
 public:
  HandleTable();
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;

  /// True for handles that were set to aggregate.
  [[nodiscard]] bool is_aggregate(const armci_hdl_t& handle) const noexcept {
    return handle.data[0] != 0 && has_flag(handle);
  }
  /// The claim of a handle; null if the handle is empty.
  [[nodiscard]] Claim* find(const armci_hdl_t& handle) const noexcept {
    return handle.data[0] == 0 ? nullptr : find_sealed(handle);
  }
  /// The claim of a handle; makes one if it has none. Errors: limit_exceeded.
  Result<Claim*> claim_of(armci_hdl_t& handle);

  Status set_aggregate(armci_hdl_t& handle);
  /// Also starts the kept operations.
  Status unset_aggregate(armci_hdl_t& handle);

  /// Waits for the operations of a handle. Afterwards the handle is empty, and still set to
  /// aggregate if it was.
  Status wait(armci_hdl_t& handle);
  /// True when wait() would not block.
  bool done(armci_hdl_t& handle);

  /// Waits for all, and drops their errors: the end of the job reports them.
  void clear();

 private:
  // 2^18 claims at a time. Memory is allocated for those in use only.
  static constexpr std::uint32_t chunk_entries = 256;
  static constexpr std::uint32_t max_chunks = 1024;
  struct Chunk {
    std::array<Claim, chunk_entries> claims;
  };
  /// The content of the words of an armci_hdl_t.
  struct Content {
    std::uint32_t number = 0;  ///< number of the claim, from 1, and a flag; 0: empty
    std::uint32_t generation = 0;
    std::uint64_t seal = 0;
  };

  [[nodiscard]] bool has_flag(const armci_hdl_t& handle) const noexcept;
  [[nodiscard]] Claim* find_sealed(const armci_hdl_t& handle) const noexcept;
  [[nodiscard]] std::uint64_t seal_of(std::uint32_t number,
                                      std::uint32_t generation) const noexcept;
  [[nodiscard]] bool is_ours(const Content& content) const noexcept;
  static Content read(const armci_hdl_t& handle) noexcept;
  void write(armci_hdl_t& handle, std::uint32_t number, std::uint32_t generation) const noexcept;
  [[nodiscard]] Claim* at(std::uint32_t number) const noexcept;
  Result<std::uint32_t> allocate_number();
  void give_back(std::uint32_t number);

  std::uint64_t secret_;
  std::mutex mutex_;
  std::vector<std::uint32_t> free_;
  std::uint32_t used_ = 0;
  std::array<std::atomic<Chunk*>, max_chunks> chunks_{};
  std::vector<std::unique_ptr<Chunk>> owned_;
};

}  // namespace tessera::rma::armci
