// SPDX-License-Identifier: BSD-3-Clause
//
// Listed elements of a distributed matrix, gathered, scattered and accumulated by all ranks at
// once, compared with Global Arrays.
#include "bench/parts.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "arrays/array.hpp"
#include "arrays/gather.hpp"
#include "bench/baselines/global_arrays.hpp"

namespace tessera::bench {
namespace {

using arrays::Array;
using arrays::IndexList;

constexpr std::int64_t bits_of_offset = 22;
constexpr std::int64_t edge = 1 << (bits_of_offset / 2);
constexpr std::int64_t elements = edge * edge;
constexpr double alpha = 0.5;
constexpr std::int64_t bytes_per_element =
    4;  ///< of the largest size of -m, so that 4 MiB give all
constexpr std::string_view rated = "gather of 10⁶ elements: speed / Global Arrays";
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
  Candidate made;
  made.name = Matrix::name;
  made.cooperative = true;
  made.run = [matrix, list, operation](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions; ++i) {
      move(*matrix, *list, operation);
    }
  };
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
  std::optional<Table> table;
  for (std::int64_t count = 1000; count <= most; count *= 10) {
    const auto list = std::make_shared<List>(session.group().rank(), ranks, count);
    const auto candidates = matrices.candidates(list, operation);
    if (!table) {
      table.emplace(session.table(fmt::format("Elements by Lists, {}", name), candidates.size() - 1,
                                  Quantity::latency, "Elements"));
    }
    const auto measured = session.measure(
        *table,
        {"arrays", name, fmt::format("{} elements", count), count * std::int64_t{sizeof(double)}},
        count, candidates, together(session.options().measure_options()));
    if (session.is_leader() && candidates.size() > 1 && operation == Operation::get &&
        count == rated_count) {
      session.observe_ratio_to(measured[0].name, rated, fmt::format("{} ranks", ranks),
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
  return {{.name = std::string(rated), .reference = std::string(GlobalArrays::name), .limit = 5}};
}

}  // namespace tessera::bench
