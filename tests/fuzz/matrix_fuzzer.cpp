// SPDX-License-Identifier: BSD-3-Clause
//
// Feeds arbitrary bytes to the readers of matrix files. Entries that they accept lie inside the
// matrix, and their number is the one in the header.
//
// With libFuzzer: TESSERA_FUZZ in .cmake/options.cmake. Without it, tests/fuzz/replay_main.cpp runs
// this target over the seeds.
#include <cmath>
#include <complex>
#include <cstdint>

#include "apps/spmv/matrix_file.hpp"
#include "rma/job.hpp"
#include "tests/fuzz/memory_file.hpp"

namespace {

using namespace tessera::apps::spmv;  // NOLINT(google-build-using-namespace)
using tessera::rma::Job;
using tessera::rma::fuzz::MemoryFile;
using tessera::rma::fuzz::must;

Job& only_rank() {
  static Job job = Job::start().value();
  return job;
}

template <class T>
void read_all(MatrixFile& file) {
  const MatrixHeader header = file.header();
  std::int64_t given = 0;
  const auto status = file.read<T>([&](std::int64_t row, std::int64_t column, T value) {
    must(row >= 0 && row < header.rows && column >= 0 && column < header.columns);
    must(std::isfinite(std::abs(value)) || std::abs(value) > 1e300);
    ++given;
  });
  if (status.ok() && header.layout != Layout::array) {
    must(given >= header.entries && given <= 2 * header.entries);
  }
  must(status.ok() || !status.message().empty());
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile bytes(data, size);
  auto file = MatrixFile::open(only_rank(), bytes.path());
  if (file.ok()) {
    file->header().field == Field::complex ? read_all<std::complex<double>>(*file)
                                           : read_all<double>(*file);
  }
  return 0;
}
