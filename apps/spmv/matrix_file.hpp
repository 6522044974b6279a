// SPDX-License-Identifier: BSD-3-Clause
//
// Matrix files, read by all ranks together: Matrix Market (coordinate and array) and
// Harwell-Boeing or Rutherford-Boeing (assembled), plain or .gz.
//
//     auto file = MatrixFile::open(job, "arc130.rua").value();
//     auto read = file.read<double>([&](std::int64_t row, std::int64_t column, double value) {
//       builder.add(row, column, value)…
//     });
//
// Each rank gets entries that it has parsed, in no particular order, counted from 0; all ranks
// together get each entry once. For symmetric, skew-symmetric and Hermitian matrices files store
// one half, and callers get both. Entries that are in a file twice are passed twice.
//
// Errors have the location, the same on all ranks: invalid, infinite or too large numbers, indices
// outside the matrix, entries above the diagonal of a half, counts that do not match the head, a
// truncated file.
//
// Cost: each rank reads its share of a plain file twice, once to count lines. Memory: a few MiB for
// each rank. Harwell-Boeing stores rows and values separately, so all numbers are held once, spread
// over the ranks.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "apps/spmv/matrix_header.hpp"
#include "apps/spmv/text_file.hpp"
#include "rma/base/result.hpp"
#include "rma/job.hpp"

namespace tessera::apps::spmv {

template <class T>
using EntrySink = std::function<void(std::int64_t row, std::int64_t column, T value)>;

class MatrixFile {
 public:
  /// Collective on all ranks. Rank 0 reads the head. Errors: as read_header(), on all.
  static rma::Result<MatrixFile> open(rma::Job& job, const std::string& file);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const MatrixHeader& header() const noexcept { return header_; }

  /// Collective, once. Passes each rank its entries; T is complex<double> for files of complex
  /// numbers and double for others. Errors: invalid_argument, with the location, the same on all.
  template <class T>
  rma::Status read(const EntrySink<T>& sink);

 private:
  explicit MatrixFile(const rma::Job& job, std::string name) : job_(job), name_(std::move(name)) {}
  rma::Result<std::int64_t> distribute(const PieceReader& reader);
  template <class T>
  rma::Status read_coordinates(const EntrySink<T>& sink);
  template <class T>
  rma::Status read_array(const EntrySink<T>& sink);
  rma::Status check_count(std::int64_t found_here, std::int64_t lines);

  rma::Job job_;
  std::string name_;
  MatrixHeader header_;
  std::optional<LineStream> stream_;  // on the first rank
};

}  // namespace tessera::apps::spmv
