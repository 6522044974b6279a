// SPDX-License-Identifier: BSD-3-Clause
//
// Global Arrays on ARMCI-MPI, as Debian builds it. Sealed together with ARMCI-MPI
// (bench/CMakeLists.txt), because it calls functions with the names of Tessera's own ARMCI
// interface.
#include "bench/baselines/baseline.hpp"

#include "bench/baselines/mpi_api.hpp"

extern "C" {
#include <ga.h>  // has no extern "C" of its own
#include <macdecls.h>
}

namespace tessera::bench {
namespace {

/// Global Arrays' functions take pointers to non-const for data that they only read.
template <class T>
T* unconst(const T* pointer) {
  return const_cast<T*>(pointer);
}

/// A box in Global Arrays' format: including the last element, and with the extents of all
/// dimensions except the first for the layout of the local elements.
struct Patch {
  explicit Patch(const GlobalArray::Box& box) : lo(box.lo), hi(box.hi) {
    for (std::size_t dim = 0; dim < lo.size(); ++dim) {
      if (dim > 0) {
        leading.push_back(hi[dim] - lo[dim]);
      }
      --hi[dim];
    }
  }
  std::vector<std::int64_t> lo;
  std::vector<std::int64_t> hi;
  std::vector<std::int64_t> leading;
};

class Handle : public GlobalArray {
 public:
  explicit Handle(std::span<const std::int64_t> extents)
      : dims_(extents.size()),
        handle_(NGA_Create64(C_DBL, static_cast<int>(extents.size()), unconst(extents.data()),
                             unconst("bench"), nullptr)) {
    GA_Zero(handle_);
  }
  ~Handle() override { GA_Destroy(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  [[nodiscard]] Box block_of(int rank) const override {
    Box block{std::vector<std::int64_t>(dims_), std::vector<std::int64_t>(dims_)};
    NGA_Distribution64(handle_, rank, block.lo.data(), block.hi.data());
    for (std::int64_t& end : block.hi) {
      ++end;
    }
    return block;
  }

  void put(const Box& box, const double* from) override {
    Patch patch(box);
    NGA_Put64(handle_, patch.lo.data(), patch.hi.data(), unconst(from), patch.leading.data());
  }
  void get(const Box& box, double* to) override {
    Patch patch(box);
    NGA_Get64(handle_, patch.lo.data(), patch.hi.data(), to, patch.leading.data());
  }
  void accumulate(const Box& box, const double* from, double alpha) override {
    Patch patch(box);
    NGA_Acc64(handle_, patch.lo.data(), patch.hi.data(), unconst(from), patch.leading.data(),
              &alpha);
  }

  void gather(std::span<const std::int64_t> places, std::span<double> values) override {
    NGA_Gather_flat64(handle_, values.data(), unconst(places.data()), std::ssize(values));
  }
  void scatter(std::span<const std::int64_t> places, std::span<const double> values) override {
    NGA_Scatter_flat64(handle_, unconst(values.data()), unconst(places.data()), std::ssize(values));
  }
  void scatter_accumulate(std::span<const std::int64_t> places, std::span<const double> values,
                          double alpha) override {
    NGA_Scatter_acc_flat64(handle_, unconst(values.data()), unconst(places.data()),
                           std::ssize(values), &alpha);
  }

 private:
  std::size_t dims_;
  int handle_;
};

class CounterHandle : public GlobalCounter {
 public:
  CounterHandle() : handle_(create()) { GA_Zero(handle_); }
  ~CounterHandle() override { GA_Destroy(handle_); }
  CounterHandle(const CounterHandle&) = delete;
  CounterHandle& operator=(const CounterHandle&) = delete;

  std::int64_t draw(std::int64_t count) override {
    std::int64_t first = 0;
    return NGA_Read_inc64(handle_, &first, count);
  }

 private:
  static int create() {
    std::int64_t one = 1;
    return NGA_Create64(C_LONG, 1, &one, unconst("counter"), nullptr);
  }
  int handle_;
};

class Library : public GlobalArrays {
 public:
  Library() {
    GA_Initialize();
    constexpr Integer doubles = 16 << 20;  // of its stack and its heap, for lists of elements
    MA_init(MT_C_DBL, doubles, doubles);
  }
  ~Library() override { GA_Terminate(); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  [[nodiscard]] std::unique_ptr<GlobalArray> create(
      std::span<const std::int64_t> extents) override {
    return std::make_unique<Handle>(extents);
  }
  [[nodiscard]] std::unique_ptr<GlobalCounter> create_counter() override {
    return std::make_unique<CounterHandle>();
  }
  void sync() override { GA_Sync(); }
};

}  // namespace

std::unique_ptr<GlobalArrays> GlobalArrays::start(RankGroup& group, std::string& missing) {
  if (const std::string reason = mpi::missing_windows(group.size()); !reason.empty()) {
    missing = "global arrays: " + reason;
    return nullptr;
  }
  return std::make_unique<Library>();
}

}  // namespace tessera::bench
