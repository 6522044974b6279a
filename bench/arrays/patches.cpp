// SPDX-License-Identifier: BSD-3-Clause
//
// Boxes of a distributed matrix by global indices, compared with the strided calls of rma that move
// the same bytes with known addresses and shapes: the difference is the cost of arrays.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "arrays/array.hpp"
#include "arrays/gather.hpp"
#include "arrays/patch.hpp"
#include "bench/baselines/baseline.hpp"
#include "bench/baselines/mpi.hpp"
#include "bench/parts.hpp"
#include "rma/transfer.hpp"

namespace tessera::bench {
namespace {

using arrays::Array;
using arrays::Box;

constexpr std::int64_t edge_of_array = 2048;
constexpr std::int64_t large_bytes = 64 << 10;
constexpr std::string_view bare = "rma";
constexpr std::string_view large_target = "patches from 64 KiB: speed / rma";

/// The strided call for a part of the box that one rank owns.
struct BareCall {
  rma::RemoteAddress at;
  rma::CopyShape shape;
  std::int64_t first = 0;  ///< start of the part in the local elements of the box
};

/// One box, its local elements, and both ways to move it.
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

  /// Runs once and checks each element; returns an error message, or an empty string.
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
  Candidate made = by_one(
      std::move(name), [patches, once] { once(*patches); }, bytes);
  if (verifies) {
    made.verify = [patches, once] { return patches->verify([&] { once(*patches); }); };
  }
  return made;
}

/// The bare calls first.
std::vector<Candidate> candidates_of(const Session& session, const Array<double>& array,
                                     const Box& box, Operation operation) {
  const auto patches = std::make_shared<Patches>(array, box, operation);
  const auto bytes = static_cast<std::size_t>(box.volume()) * sizeof(double);
  return {candidate(std::string(bare), patches, session.is_leader(), bytes,
                    [](Patches& both) { both.by_calls(); }),
          candidate("tessera", patches, session.is_leader(), bytes,
                    [](Patches& both) { both.by_box(); })};
}

void measure(Session& session, Topic& topic, const Array<double>& array, const Box& box,
             Operation operation) {
  const std::int64_t bytes = box.volume() * std::int64_t{sizeof(double)};
  const std::string shape = to_string(box.extents());
  const auto measured = session.measure(topic, {box.extent(0), shape, bytes},
                                        candidates_of(session, array, box, operation));
  if (bytes >= large_bytes) {
    session.observe(large_target, fmt::format("{} {}", topic.op, shape), &measured[0],
                    &measured[1]);
  }
}

/// A cube of `edge` inside of the block of rank 1, or of the only rank.
std::optional<Box> box_in_block(const Array<double>& array, std::int64_t edge) {
  const Box block = array.box_of({array.team().size() > 1 ? 1 : 0});
  arrays::Index hi = block.lo();
  for (int dim = 0; dim < block.ndims(); ++dim) {
    hi[dim] += edge;
    if (block.extent(dim) < edge) {
      return {};
    }
  }
  return Box(block.lo(), hi);
}

void measure(Session& session, const Array<double>& array, Operation operation) {
  const std::string name = name_of(operation);
  Topic in_one{"arrays", name, "Box in One Block, " + name, Quantity::latency, "Edge"};
  for (const std::int64_t edge : {4, 16, 32, 96, 256, 512}) {
    if (const auto box = box_in_block(array, edge)) {
      measure(session, in_one, array, *box, operation);
    }
  }
  Topic in_all{"arrays", name + "_all", "Box in All Blocks, " + name, Quantity::latency, "Edge"};
  for (const std::int64_t edge : {32, 256, 1024}) {
    const std::int64_t lo = (edge_of_array - edge) / 2;
    measure(session, in_all, array, Box({lo, lo}, {lo + edge, lo + edge}), operation);
  }
}

/// The same bytes in one piece, from or to the start of the block's slice.
Candidate one_piece(const Array<double>& array, std::size_t bytes, Operation operation) {
  const rma::TeamRank owner{array.team().size() > 1 ? 1 : 0};
  const auto buffer = std::make_shared<std::vector<double>>(bytes / sizeof(double));
  return by_one(
      "contiguous",
      [buffer, &job = array.job(), at = array.region().at(owner), bytes, operation] {
        rma::require(operation == Operation::get ? rma::get(job, at, buffer->data(), bytes)
                                                 : rma::put(job, at, buffer->data(), bytes));
      },
      bytes);
}

/// A box at the lower corner of a block, by MPI's subarray types, and its data check.
class MpiBoxes {
 public:
  /// Requires: `memory` has room for the block.
  MpiBoxes(const MpiMemory& memory, int rank, const Box& block, const Box& box, Operation operation)
      : block_(static_cast<std::size_t>(block.volume())),
        local_(static_cast<std::size_t>(box.volume())) {
    MpiMemory::Box part;
    for (int dim = 0; dim < block.ndims(); ++dim) {
      part.block.push_back(block.extent(dim));
      part.lo.push_back(box.lo(dim) - block.lo(dim));
      part.extents.push_back(box.extent(dim));
    }
    move_ = memory.box_mover(operation, rank, part, local_.data());
    get_all_ = memory.box_mover(Operation::get, rank, whole(part), block_.data());
    put_all_ = memory.box_mover(Operation::put, rank, whole(part), block_.data());
    complete_ = [&memory, rank] { memory.complete(rank); };
    for (std::size_t place = 0; place < local_.size(); ++place) {
      places_.push_back(offset_in_block(part, place));
    }
    is_get_ = operation == Operation::get;
  }

  void move() const { move_(); }

  std::string verify() {
    for (std::size_t i = 0; i < block_.size(); ++i) {
      block_[i] = static_cast<double>(i);
    }
    for (std::size_t i = 0; i < local_.size(); ++i) {
      local_[i] = is_get_ ? -1 : -2 - static_cast<double>(i);
    }
    put_all_();
    complete_();
    move_();
    complete_();
    std::vector<double> wanted = block_;
    for (std::size_t i = 0; i < local_.size(); ++i) {
      if (!is_get_) {
        wanted[places_[i]] = local_[i];
      } else if (local_[i] != static_cast<double>(places_[i])) {
        return fmt::format("element {} of the box is {}, not {}", i, local_[i], places_[i]);
      }
    }
    get_all_();
    return block_ == wanted ? "" : "the block has wrong elements";
  }

 private:
  static MpiMemory::Box whole(MpiMemory::Box part) {
    part.lo.assign(part.lo.size(), 0);
    part.extents = part.block;
    return part;
  }
  static std::size_t offset_in_block(const MpiMemory::Box& part, std::size_t place) {
    auto rest = static_cast<std::int64_t>(place);
    std::int64_t found = 0;
    std::int64_t stride = 1;
    for (std::size_t dim = part.block.size(); dim-- > 0;) {
      found += (part.lo[dim] + rest % part.extents[dim]) * stride;
      rest /= part.extents[dim];
      stride *= part.block[dim];
    }
    return static_cast<std::size_t>(found);
  }

  std::vector<double> block_;
  std::vector<double> local_;
  std::vector<std::size_t> places_;
  std::function<void()> move_;
  std::function<void()> get_all_;
  std::function<void()> put_all_;
  std::function<void()> complete_;
  bool is_get_ = false;
};

std::optional<Candidate> mpi_box(const Session& session, const MpiMemory* memory,
                                 const Array<double>& array, const Box& box, Operation operation) {
  if (memory == nullptr) {
    return {};
  }
  const int owner = array.team().size() > 1 ? 1 : 0;
  const auto bytes = static_cast<std::size_t>(box.volume()) * sizeof(double);
  if (!session.is_leader()) {
    return by_one(
        "mpi subarray", [] {}, bytes);
  }
  const auto boxes = std::make_shared<MpiBoxes>(*memory, owner, array.box_of(rma::TeamRank{owner}),
                                                box, operation);
  Candidate candidate = by_one(
      "mpi subarray", [boxes] { boxes->move(); }, bytes);
  candidate.verify = [boxes] { return boxes->verify(); };
  return candidate;
}

/// A box with these extents at the lower corner of the owner's block in Global Arrays.
class GlobalArrayBoxes {
 public:
  GlobalArrayBoxes(GlobalArray& array, int owner, const arrays::Extents& extents,
                   Operation operation)
      : array_(array), box_(array.block_of(owner)), is_get_(operation == Operation::get) {
    std::size_t elements = 1;
    for (int dim = 0; dim < extents.ndims(); ++dim) {
      const auto at = static_cast<std::size_t>(dim);
      fits_ = fits_ && box_.hi[at] - box_.lo[at] >= extents[dim];
      box_.hi[at] = box_.lo[at] + extents[dim];
      elements *= static_cast<std::size_t>(extents[dim]);
    }
    local_.resize(elements);
  }

  [[nodiscard]] bool fits() const { return fits_; }

  void move() {
    if (is_get_) {
      array_.get(box_, local_.data());
    } else {
      array_.put(box_, local_.data());
    }
  }

  std::string verify() {
    std::vector<double> there(local_.size());
    for (std::size_t i = 0; i < local_.size(); ++i) {
      local_[i] = is_get_ ? -1 : 5 + static_cast<double>(i);
      there[i] = is_get_ ? 5 + static_cast<double>(i) : -1;
    }
    array_.put(box_, there.data());
    move();
    array_.get(box_, there.data());
    return there == local_ ? "" : "the box has wrong elements";
  }

 private:
  GlobalArray& array_;
  GlobalArray::Box box_;
  std::vector<double> local_;
  bool is_get_;
  bool fits_ = true;
};

std::optional<Candidate> global_arrays_box(const Session& session, GlobalArray* array, int owner,
                                           const arrays::Extents& extents, Operation operation) {
  if (array == nullptr) {
    return {};
  }
  const auto boxes = std::make_shared<GlobalArrayBoxes>(*array, owner, extents, operation);
  if (!boxes->fits()) {
    return {};
  }
  Candidate candidate = by_one(
      GlobalArrays::name, [boxes] { boxes->move(); },
      static_cast<std::size_t>(volume(extents)) * sizeof(double));
  if (session.is_leader()) {
    candidate.verify = [boxes] { return boxes->verify(); };
  }
  return candidate;
}

/// The same array in other libraries; null if that isn't measured.
struct OtherLibraries {
  std::unique_ptr<MpiMemory> mpi;
  std::unique_ptr<GlobalArray> global_array;
};

OtherLibraries other_libraries(Session& session, const arrays::Extents& extents) {
  OtherLibraries made;
  if (session.compares_with(Peer::mpi)) {
    made.mpi = MpiMemory::create(
        session.group(), static_cast<std::size_t>(arrays::volume(extents)) * sizeof(double));
  }
  if (GlobalArrays* const library = session.global_arrays()) {
    made.global_array = library->create(std::span(extents.begin(), extents.end()));
  }
  return made;
}

void measure_boxes(Session& session, const Array<double>& array, const OtherLibraries& others,
                   Operation operation, const std::vector<std::int64_t>& edges) {
  const int dims = array.extents().ndims();
  const int owner = array.team().size() > 1 ? 1 : 0;
  const std::string name = name_of(operation);
  Topic topic{"arrays", fmt::format("{}_{}d", name, dims),
              fmt::format("Box of {} Dimensions, {}, Bandwidth", dims, name), Quantity::bandwidth,
              "Edge"};
  for (const std::int64_t edge : edges) {
    const auto box = box_in_block(array, edge);
    if (!box) {
      continue;
    }
    const std::int64_t bytes = box->volume() * std::int64_t{sizeof(double)};
    std::vector<Candidate> candidates{one_piece(array, static_cast<std::size_t>(bytes), operation)};
    add(candidates,
        global_arrays_box(session, others.global_array.get(), owner, box->extents(), operation));
    add(candidates, mpi_box(session, others.mpi.get(), array, *box, operation));
    add(candidates, candidates_of(session, array, *box, operation));
    const auto measured =
        session.measure(topic, {edge, to_string(box->extents()), bytes}, candidates);
    if (session.is_leader()) {
      session.remark(fmt::format("{}: speed / the same bytes in one piece", edge),
                     ratio_of_medians(measured.front().samples_ns, measured.back().samples_ns));
    }
  }
}

}  // namespace

void measure_boxes(Session& session) {
  const std::vector<std::int64_t> small_edges = {2, 4, 8, 16};
  const std::vector<std::int64_t> large_edges = {4, 8, 16, 32, 64};
  for (const arrays::Extents& extents :
       {arrays::Extents{128, 128, 128}, arrays::Extents{32, 32, 32, 32}}) {
    auto array = Array<double>::create(session.job(), extents, {.name = "boxes"}).value();
    const OtherLibraries others = other_libraries(session, extents);
    const auto& edges = extents.ndims() == 3 ? large_edges : small_edges;
    measure_boxes(session, array, others, Operation::put, edges);
    measure_boxes(session, array, others, Operation::get, edges);
  }
}

void measure_patches(Session& session) {
  auto array =
      Array<double>::create(session.job(), {edge_of_array, edge_of_array}, {.name = "patches"})
          .value();
  for (const Operation operation : {Operation::put, Operation::get, Operation::accumulate}) {
    measure(session, array, operation);
  }
}

std::vector<Target> patch_targets() {
  return {{.name = std::string(large_target), .reference = std::string(bare), .limit = 0.95}};
}

// Listed elements of a distributed matrix, gathered, scattered and accumulated by all ranks at
// once, compared with Global Arrays.

namespace {

using arrays::Array;
using arrays::IndexList;

constexpr std::int64_t bits_of_offset = 22;
constexpr std::int64_t edge = 1 << (bits_of_offset / 2);
constexpr std::int64_t elements = edge * edge;
constexpr double alpha = 0.5;
constexpr std::int64_t bytes_per_element =
    4;  ///< of the largest size of -m, so that 4 MiB give all
constexpr std::string_view rated_gather = "gather of 10⁶ elements: speed / Global Arrays";
constexpr std::int64_t rated_count = 1'000'000;

/// The `number`-th of all elements in a shuffled order, in which each element comes once.
std::int64_t shuffled(std::int64_t number) {
  constexpr std::uint64_t mask = elements - 1;
  auto mixed = static_cast<std::uint64_t>(number);
  for (const std::uint64_t factor : {0x9E3779B1U, 0x85EBCA77U}) {
    mixed = (mixed * factor) & mask;
    mixed ^= mixed >> (bits_of_offset / 2);
  }
  return static_cast<std::int64_t>(mixed);
}

double value_at(std::int64_t element, double factor) {
  return factor * static_cast<double>(element % 1009 + 1);
}

/// A rank's list: elements that no other rank lists, and a value for each.
struct List {
  List(int rank, int ranks, std::int64_t count) : values(static_cast<std::size_t>(count)) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t element = shuffled(i * ranks + rank);
      numbers.push_back(element);
      places.push_back(element / edge);
      places.push_back(element % edge);
    }
  }
  void fill(double factor) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = value_at(numbers[i], factor);
    }
  }
  /// The first difference, or an empty string.
  [[nodiscard]] std::string compare(double factor) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] != value_at(numbers[i], factor)) {
        return fmt::format("({}, {}) is {}, not {}", places[2 * i], places[2 * i + 1], values[i],
                           value_at(numbers[i], factor));
      }
    }
    return "";
  }

  std::vector<std::int64_t> numbers;
  std::vector<std::int64_t> places;
  std::vector<double> values;
};

/// The same functions for both libraries.
class OwnMatrix {
 public:
  static constexpr std::string_view name = "tessera";
  explicit OwnMatrix(const rma::Job& job)
      : array_(Array<double>::create(job, {edge, edge}, {.name = "elements"}).value()) {}
  void gather(List& list) { rma::require(arrays::gather(array_, flat(list), list.values)); }
  void scatter(const List& list) {
    rma::require(arrays::scatter(array_, flat(list), list.values));
    sync();
  }
  void accumulate(const List& list) {
    rma::require(arrays::scatter_accumulate(array_, flat(list), list.values, alpha));
    sync();
  }
  void sync() { rma::require(array_.sync()); }

 private:
  static IndexList flat(const List& list) { return IndexList::flat(list.places, 2); }
  Array<double> array_;
};

class GlobalArraysMatrix {
 public:
  static constexpr std::string_view name = GlobalArrays::name;
  explicit GlobalArraysMatrix(GlobalArrays& library)
      : library_(library), array_(library.create(std::array{edge, edge})) {}
  void gather(List& list) { array_->gather(list.places, list.values); }
  void scatter(const List& list) {
    array_->scatter(list.places, list.values);
    sync();
  }
  void accumulate(const List& list) {
    array_->scatter_accumulate(list.places, list.values, alpha);
    sync();
  }
  void sync() { library_.sync(); }

 private:
  GlobalArrays& library_;
  std::unique_ptr<GlobalArray> array_;
};

template <class Matrix>
void move(Matrix& matrix, List& list, Operation operation) {
  switch (operation) {
    case Operation::get:
      matrix.gather(list);
      break;
    case Operation::put:
      matrix.scatter(list);
      break;
    default:
      matrix.accumulate(list);
      break;
  }
}

/// Scatters values, does the measured operation once, and gathers the result.
template <class Matrix>
std::string verify(Matrix& matrix, List& list, Operation operation) {
  list.fill(1);
  matrix.scatter(list);
  list.fill(3);
  move(matrix, list, operation);
  if (operation != Operation::get) {
    matrix.gather(list);
  }
  matrix.sync();
  return list.compare(operation == Operation::get   ? 1
                      : operation == Operation::put ? 3
                                                    : 1 + 3 * alpha);
}

template <class Matrix>
Candidate candidate(const std::shared_ptr<Matrix>& matrix, const std::shared_ptr<List>& list,
                    Operation operation) {
  Candidate made =
      by_all(Matrix::name, [matrix, list, operation] { move(*matrix, *list, operation); });
  made.verify = [matrix, list, operation] { return verify(*matrix, *list, operation); };
  return made;
}

/// One matrix of each library; Global Arrays' only if available.
struct Matrices {
  std::shared_ptr<OwnMatrix> own;
  std::shared_ptr<GlobalArraysMatrix> theirs;

  /// Tessera's last.
  [[nodiscard]] std::vector<Candidate> candidates(const std::shared_ptr<List>& list,
                                                  Operation operation) const {
    std::vector<Candidate> all;
    if (theirs != nullptr) {
      all.push_back(candidate(theirs, list, operation));
    }
    all.push_back(candidate(own, list, operation));
    return all;
  }
};

void measure(Session& session, const Matrices& matrices, Operation operation,
             const std::string& name) {
  const int ranks = session.group().size();
  const std::int64_t most =
      std::min({rated_count, elements / ranks, session.options().max_size / bytes_per_element});
  Topic topic{"arrays", name, "Elements by Lists, " + name, Quantity::latency, "Elements"};
  for (std::int64_t count = 1000; count <= most; count *= 10) {
    const auto list = std::make_shared<List>(session.group().rank(), ranks, count);
    const auto measured = session.measure(
        topic, {count, fmt::format("{} elements", count), count * std::int64_t{sizeof(double)}},
        matrices.candidates(list, operation));
    if (session.is_leader() && measured.size() > 1 && operation == Operation::get &&
        count == rated_count) {
      session.observe_ratio_to(measured[0].name, rated_gather, fmt::format("{} ranks", ranks),
                               ratio_of_medians(measured[0].samples_ns, measured[1].samples_ns));
    }
  }
}

}  // namespace

void measure_elements(Session& session) {
  Matrices matrices{std::make_shared<OwnMatrix>(session.job()), nullptr};
  if (GlobalArrays* const library = session.global_arrays()) {
    matrices.theirs = std::make_shared<GlobalArraysMatrix>(*library);
  }
  measure(session, matrices, Operation::get, "gather");
  measure(session, matrices, Operation::put, "scatter");
  measure(session, matrices, Operation::accumulate, "scatter_accumulate");
}

std::vector<Target> element_targets() {
  return {{.name = std::string(rated_gather),
           .reference = std::string(GlobalArrays::name),
           .limit = 5}};
}

}  // namespace tessera::bench
