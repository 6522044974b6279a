// SPDX-License-Identifier: BSD-3-Clause
#include "bench/arrays/patches.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "arrays/array.hpp"
#include "arrays/patch.hpp"
#include "rma/transfer.hpp"

namespace tessera::bench {
namespace {

using arrays::Array;
using arrays::Box;

constexpr std::int64_t edge_of_array = 2048;
constexpr std::int64_t large_bytes = 64 << 10;
constexpr std::string_view bare = "rma";
constexpr std::string_view large_target = "patches from 64 KiB: speed / rma";

/// The strided call that moves a part of the box that has one owner.
struct BareCall {
  rma::RemoteAddress at;
  rma::CopyShape shape;
  std::int64_t first = 0;  ///< where the part begins in the local elements of the box
};

/// One box, its elements here, and both ways to move it.
class Patches {
 public:
  Patches(const Array<double>& array, const Box& box, Operation operation)
      : array_(array),
        box_(box),
        operation_(operation),
        elements_(static_cast<std::size_t>(box.volume())) {
    const arrays::Strides strides = arrays::dense_strides(box.extents());
    for (const arrays::Patch& patch : array.distribution().patches(box)) {
      calls_.push_back({array.region().at(
                            patch.owner, static_cast<std::uint64_t>(patch.offset) * sizeof(double)),
                        copy_shape(patch, strides, sizeof(double)),
                        distance(box.lo(), patch.box.lo(), strides)});
    }
  }

  void by_box() {
    switch (operation_) {
      case Operation::put:
        rma::require(array_.put(box_, elements_));
        break;
      case Operation::get:
        rma::require(array_.get(box_, elements_));
        break;
      default:
        rma::require(array_.accumulate(box_, elements_, alpha));
        break;
    }
  }

  void by_calls() {
    for (const BareCall& call : calls_) {
      double* const local = elements_.data() + call.first;
      switch (operation_) {
        case Operation::put:
          rma::require(rma::put(array_.job(), call.at, local, call.shape));
          break;
        case Operation::get:
          rma::require(rma::get(array_.job(), call.at, local, call.shape));
          break;
        default:
          rma::require(
              rma::accumulate(array_.job(), call.at, local, call.shape, rma::Scale::of(alpha)));
          break;
      }
    }
  }

  /// Does it once and looks at each element; what is wrong, or nothing.
  template <class Once>
  std::string verify(Once&& once) {
    std::vector<double> before(elements_.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      before[i] = static_cast<double>(i) + 0.25;
      elements_[i] = operation_ == Operation::get ? 0.0 : static_cast<double>(i) * 3 + 1;
    }
    rma::require(array_.put(box_, before));
    rma::require(array_.fence());
    once();
    rma::require(array_.fence());
    std::vector<double> after(elements_.size());
    rma::require(array_.get(box_, after));
    for (std::size_t i = 0; i < after.size(); ++i) {
      const double wanted = operation_ == Operation::put   ? elements_[i]
                            : operation_ == Operation::get ? before[i]
                                                           : before[i] + alpha * elements_[i];
      if (after[i] != wanted || (operation_ == Operation::get && elements_[i] != wanted)) {
        return fmt::format("element {} of the box is {}, not {}", i, after[i], wanted);
      }
    }
    return "";
  }

 private:
  static constexpr double alpha = 0.5;

  const Array<double>& array_;
  Box box_;
  Operation operation_;
  std::vector<double> elements_;
  std::vector<BareCall> calls_;
};

template <class Once>
Candidate candidate(std::string name, const std::shared_ptr<Patches>& patches, bool verifies,
                    std::size_t bytes, Once once) {
  Candidate made;
  made.name = std::move(name);
  made.bytes = bytes;
  made.run = [patches, once](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions; ++i) {
      once(*patches);
    }
  };
  if (verifies) {
    made.verify = [patches, once] { return patches->verify([&] { once(*patches); }); };
  }
  return made;
}

void measure(Session& session, Table& table, const Array<double>& array, const Box& box,
             Operation operation, const std::string& name) {
  const auto patches = std::make_shared<Patches>(array, box, operation);
  const auto bytes = static_cast<std::size_t>(box.volume()) * sizeof(double);
  const std::vector<Candidate> candidates = {
      candidate(std::string(bare), patches, session.is_leader(), bytes,
                [](Patches& both) { both.by_calls(); }),
      candidate("tessera", patches, session.is_leader(), bytes,
                [](Patches& both) { both.by_box(); })};
  const auto measured = session.measure(
      table, {"arrays", name, to_string(box.extents()), static_cast<std::int64_t>(bytes)},
      box.extent(0), candidates);
  if (session.is_leader() && bytes >= large_bytes) {
    session.targets().observe(large_target, fmt::format("{} {}", name, to_string(box.extents())),
                              ratio_of_medians(measured[0].samples_ns, measured[1].samples_ns));
  }
}

/// A square box inside of the block of rank 1, or of the only rank.
std::optional<Box> box_in_block(const Array<double>& array, std::int64_t edge) {
  const Box block = array.box_of({array.team().size() > 1 ? 1 : 0});
  if (std::min(block.extent(0), block.extent(1)) < edge) {
    return {};
  }
  return Box({block.lo(0), block.lo(1)}, {block.lo(0) + edge, block.lo(1) + edge});
}

void measure(Session& session, const Array<double>& array, Operation operation,
             const std::string& name) {
  Table in_one = session.table("Box in One Block, " + name, 1, Quantity::latency, "Edge");
  for (const std::int64_t edge : {4, 16, 32, 96, 256, 512}) {
    if (const auto box = box_in_block(array, edge)) {
      measure(session, in_one, array, *box, operation, name);
    }
  }
  Table in_all = session.table("Box in All Blocks, " + name, 1, Quantity::latency, "Edge");
  for (const std::int64_t edge : {32, 256, 1024}) {
    const std::int64_t lo = (edge_of_array - edge) / 2;
    measure(session, in_all, array, Box({lo, lo}, {lo + edge, lo + edge}), operation,
            name + "_all");
  }
}

}  // namespace

void measure_patches(Session& session) {
  auto array =
      Array<double>::create(session.job(), {edge_of_array, edge_of_array}, {.name = "patches"})
          .value();
  measure(session, array, Operation::put, "put");
  measure(session, array, Operation::get, "get");
  measure(session, array, Operation::accumulate, "accumulate");
}

std::vector<Target> patch_targets() {
  return {{.name = std::string(large_target), .reference = std::string(bare), .limit = 0.95}};
}

}  // namespace tessera::bench
