// SPDX-License-Identifier: BSD-3-Clause
//
// Feeds any bytes to the readers of matrix files. What they accept lies inside the matrix, and is
// as many entries as the head says.
//
// With libFuzzer: TESSERA_FUZZ in .cmake/options.cmake. Without, tests/fuzz/replay_main.cpp runs
// it over the seeds.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "apps/spmv/matrix_file.hpp"
#include "rma/job.hpp"

namespace {

using namespace tessera::apps::spmv;  // NOLINT(google-build-using-namespace)
using tessera::rma::Job;

// Not assert(), which a release build would leave out.
void must(bool holds) {
  if (!holds) {
    std::abort();
  }
}

Job& only_rank() {
  static Job job = Job::start().value();
  return job;
}

// A file without a name in any folder.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : file_(::memfd_create("matrix", 0)) {
    must(file_ >= 0 && ::write(file_, data, size) == static_cast<ssize_t>(size));
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() { ::close(file_); }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

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
  const Bytes bytes(data, size);
  auto file = MatrixFile::open(only_rank(), bytes.path());
  if (file.ok()) {
    file->header().field == Field::complex ? read_all<std::complex<double>>(*file)
                                           : read_all<double>(*file);
  }
  return 0;
}
