// SPDX-License-Identifier: BSD-3-Clause
//
// Writing and reading a checkpoint of one array, compared with bare system calls that do the same
// with each rank's own memory: each writes its part of one file and flushes it to the device, and
// rank 0 renames the file. Compressed output, compared with zlib and the same calls.
#include "bench/parts.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "arrays/array.hpp"
#include "arrays/checkpoint.hpp"
#include "arrays/elementwise.hpp"
#include "arrays/output.hpp"
#include "arrays/random.hpp"
#include "bench/arrays/compress_doubles.hpp"

namespace tessera::bench {
namespace {

using arrays::Array;
using arrays::Checkpoint;
using arrays::CheckpointWriter;

constexpr std::int64_t mib = std::int64_t{1} << 20;
constexpr std::int64_t piece = mib;

void check(bool is_good, const std::string& what) {
  if (!is_good) {
    rma::require(rma::Status::error(rma::Code::unreachable,
                                    fmt::format("{}: {}", what, std::strerror(errno))));
  }
}

// The baseline's file: each rank has an equal part of it, in pieces of 1 MiB.
class BareFile {
 public:
  BareFile(rma::Job& job, std::string path, std::int64_t bytes)
      : BareFile(job, std::move(path), bytes, job.size()) {}
  /// The first `holders` ranks have the bytes.
  BareFile(rma::Job& job, std::string path, std::int64_t bytes, std::int64_t holders)
      : job_(job),
        path_(std::move(path)),
        first_(bytes / holders * std::min<std::int64_t>(job.rank().value, holders)),
        last_(bytes / holders * std::min<std::int64_t>(job.rank().value + 1, holders)),
        memory_(static_cast<std::size_t>(last_ - first_)) {
    // As incompressible as the array.
    std::mt19937_64 random(static_cast<std::uint64_t>(first_));
    std::generate(memory_.begin(), memory_.end(), [&] { return static_cast<char>(random()); });
  }
  BareFile(const BareFile&) = delete;
  BareFile& operator=(const BareFile&) = delete;
  ~BareFile() { std::remove(path_.c_str()); }

  /// Compresses each piece by zlib first, unless `level` is 0.
  void write(int level = 0) {
    const std::string temporary = path_ + ".new";
    if (job_.rank().value == 0) {
      open(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    }
    rma::require(job_.world().barrier());
    if (job_.rank().value != 0) {
      open(temporary, O_WRONLY);
    }
    std::vector<char> compressed;
    for_each_piece([&](char* part, std::size_t count, std::int64_t offset) {
      std::span<const char> wanted(part, count);
      if (level != 0) {
        compress_doubles(wanted, level, compressed);
        wanted = compressed;
      }
      check(::pwrite(descriptor_, wanted.data(), wanted.size(), offset) ==
                static_cast<ssize_t>(wanted.size()),
            temporary);
    });
    check(::fsync(descriptor_) == 0, temporary);
    ::close(descriptor_);
    rma::require(job_.world().barrier());
    if (job_.rank().value == 0) {
      check(std::rename(temporary.c_str(), path_.c_str()) == 0, path_);
      complete_folder();
    }
    rma::require(job_.world().barrier());
  }

  /// Collective. Whether the file has this rank's bytes after `once`.
  template <class Once>
  std::string verify(Once&& once) {
    once();
    const std::vector<char> written = memory_;
    std::fill(memory_.begin(), memory_.end(), '\0');
    read();
    return memory_ == written ? "" : "the bytes in the file differ from those written";
  }

  /// From now on, the file's whole doubles are value(0), value(1), …
  template <class Value>
  void fill(Value&& value) {
    constexpr std::int64_t bytes = sizeof(double);
    for (std::int64_t i = (first_ + bytes - 1) / bytes; i < last_ / bytes; ++i) {
      const double one = value(i);
      std::memcpy(memory_.data() + (i * bytes - first_), &one, sizeof one);
    }
  }

  void read() {
    open(path_, O_RDONLY);
    for_each_piece([&](char* part, std::size_t count, std::int64_t offset) {
      check(::pread(descriptor_, part, count, offset) == static_cast<ssize_t>(count), path_);
    });
    ::close(descriptor_);
    rma::require(job_.world().barrier());
  }

 private:
  // Without it, the new name could be lost after a crash.
  void complete_folder() {
    const std::string folder = path_.substr(0, path_.rfind('/'));
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    check(descriptor >= 0 && ::fsync(descriptor) == 0, folder);
    ::close(descriptor);
  }
  void open(const std::string& path, int flags) {
    descriptor_ = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
    check(descriptor_ >= 0, path);
  }
  template <class Action>
  void for_each_piece(Action&& action) {
    for (std::int64_t at = first_; at < last_; at += piece) {
      const std::int64_t count = std::min(piece, last_ - at);
      action(memory_.data() + (at - first_), static_cast<std::size_t>(count), at);
    }
  }

  rma::Job& job_;
  std::string path_;
  std::int64_t first_;
  std::int64_t last_;
  std::vector<char> memory_;
  int descriptor_ = -1;
};

constexpr std::uint64_t seed = 1;

// A square array of doubles, divided in both dimensions if there are four ranks.
Array<double> array_of(Session& session, std::int64_t bytes) {
  const std::int64_t columns = 1024;
  const std::int64_t rows = bytes / columns / std::int64_t{sizeof(double)};
  auto array = Array<double>::create(session.job(), {rows, columns}, {.name = "A"}).value();
  rma::require(arrays::fill_random(array, seed));
  return array;
}

Candidate together(std::string_view name, std::int64_t bytes, std::function<void()> once) {
  return by_all(name, std::move(once), static_cast<std::size_t>(bytes));
}

// Files take long enough, and what a device does between samples is part of the time.
MeasureOptions options_of(const Session& session) {
  MeasureOptions options = session.options().measure_options();
  options.prime = false;
  options.repetitions = 1;
  options.warm_up_samples = 1;
  return options;
}

std::vector<double> own_elements(const Array<double>& array) {
  std::vector<double> values(static_cast<std::size_t>(array.own_box().volume()));
  rma::require(array.get(array.own_box(), values));
  return values;
}

// Collective. An error message if this rank's elements in the file differ from those of array_of().
std::string check_checkpoint(Array<double>& array, const std::string& path) {
  rma::require(arrays::fill_random(array, seed));
  const std::vector<double> written = own_elements(array);
  rma::require(arrays::fill(array, -1.0));
  auto file = Checkpoint::open(array.job(), path).value();
  rma::require(file.read_into("A", array));
  return own_elements(array) == written ? "" : "the elements in the file differ from those written";
}

void write_checkpoint(Array<double>& array, const std::string& path) {
  auto writer = CheckpointWriter::create(array.job(), path).value();
  rma::require(writer.add(array));
  rma::require(writer.commit());
}

struct Files {
  explicit Files(Session& session)
      : bare(session.options().folder + "/tessera-bench-bare"),
        checkpoint(session.options().folder + "/tessera-bench.h5") {}
  std::string bare;
  std::string checkpoint;
};

// Up to 64 times the largest size of -m, which is meant for transfers.
std::vector<std::int64_t> sizes(Session& session) {
  std::vector<std::int64_t> sizes = {mib, 16 * mib, 64 * mib, 256 * mib};
  while (sizes.size() > 1 && sizes.back() > 64 * session.options().max_size) {
    sizes.pop_back();
  }
  return sizes;
}

bool can_write(Session& session, const Files& files) {
  const auto writer = CheckpointWriter::create(session.job(), files.checkpoint);
  if (!writer.ok()) {
    session.remark("checkpoints are not measured: " + writer.status().message());
  }
  return writer.ok();
}

}  // namespace

void measure_checkpoint_write(Session& session) {
  const Files files(session);
  if (!can_write(session, files)) {
    return;
  }
  Topic topic{"checkpoint", "write", "Checkpoint Write Bandwidth", Quantity::bandwidth, "Bytes"};
  for (const std::int64_t bytes : sizes(session)) {
    auto array = array_of(session, bytes);
    BareFile bare(session.job(), files.bare, bytes);
    Candidate baseline = together("pwrite + fsync", bytes, [&] { bare.write(); });
    baseline.verify = [&] { return bare.verify([&] { bare.write(); }); };
    Candidate own = together("tessera", bytes, [&] { write_checkpoint(array, files.checkpoint); });
    own.verify = [&] {
      write_checkpoint(array, files.checkpoint);
      return check_checkpoint(array, files.checkpoint);
    };
    session.measure(topic, {bytes, to_string(array.extents()), bytes},
                    {std::move(baseline), std::move(own)}, options_of(session));
  }
  std::remove(files.checkpoint.c_str());
}

void measure_checkpoint_read(Session& session) {
  const Files files(session);
  if (!can_write(session, files)) {
    return;
  }
  Topic topic{"checkpoint", "read", "Checkpoint Read Bandwidth", Quantity::bandwidth, "Bytes"};
  session.remark("files may be read from the page cache, if they fit into it");
  for (const std::int64_t bytes : sizes(session)) {
    auto array = array_of(session, bytes);
    write_checkpoint(array, files.checkpoint);
    BareFile bare(session.job(), files.bare, bytes);
    bare.write();
    Candidate own = together("tessera", bytes, [&] {
      auto file = Checkpoint::open(session.job(), files.checkpoint).value();
      rma::require(file.read_into("A", array));
    });
    own.verify = [&] { return check_checkpoint(array, files.checkpoint); };
    Candidate baseline = together("pread", bytes, [&] { bare.read(); });
    baseline.verify = [&] { return bare.verify([] {}); };
    session.measure(topic, {bytes, to_string(array.extents()), bytes},
                    {std::move(baseline), std::move(own)}, options_of(session));
  }
  std::remove(files.checkpoint.c_str());
}

namespace {

// A smooth function with three digits, as of a simulation that stores what it knows.
double smooth(std::int64_t row, std::int64_t column) {
  const double x = std::sin(static_cast<double>(row) / 100);
  return std::round(1000 * x * std::cos(static_cast<double>(column) / 70)) / 1000;
}

void fill_smoothly(Array<double>& array) {
  const arrays::Box own = array.own_box();
  std::vector<double> values;
  for (std::int64_t row = own.lo(0); row < own.hi(0); ++row) {
    for (std::int64_t column = own.lo(1); column < own.hi(1); ++column) {
      values.push_back(smooth(row, column));
    }
  }
  rma::require(array.put(own, values));
  rma::require(array.sync());
}

void write_output(Array<double>& array, const std::string& path, int level) {
  auto out = arrays::Output::open(array.job(), path, arrays::OutputMode::replace).value();
  rma::require(out.write(array, "A", {.compression = level}));
  rma::require(out.close());
}

}  // namespace

void measure_checkpoint_compressed(Session& session) {
  const Files files(session);
  if (!can_write(session, files)) {
    return;
  }
  constexpr int level = 4;
  Topic topic{"checkpoint", "compressed", "Compressed Output Bandwidth", Quantity::bandwidth,
              "Bytes"};
  for (const std::int64_t bytes : sizes(session)) {
    auto array = array_of(session, bytes);
    fill_smoothly(array);
    BareFile bare(session.job(), files.bare, bytes);
    const std::int64_t columns = array.extents()[1];
    bare.fill([columns](std::int64_t i) { return smooth(i / columns, i % columns); });
    Candidate own =
        together("tessera", bytes, [&] { write_output(array, files.checkpoint, level); });
    own.verify = [&] {
      const std::vector<double> written = own_elements(array);
      write_output(array, files.checkpoint, level);
      rma::require(arrays::fill(array, -1.0));
      auto file = Checkpoint::open(session.job(), files.checkpoint).value();
      rma::require(file.read_into("A", array));
      return own_elements(array) == written ? ""
                                            : "the elements in the file differ from those written";
    };
    session.measure(
        topic, {bytes, to_string(array.extents()), bytes},
        {together("zlib + pwrite + fsync", bytes, [&] { bare.write(level); }), std::move(own)},
        options_of(session));
  }
  std::remove(files.checkpoint.c_str());
}

namespace {

/// Some ranks read what all have written.
class Restart {
 public:
  Restart(Session& session, std::string path, std::int32_t readers, const arrays::Extents& extents)
      : path_(std::move(path)),
        job_(session.job()),
        reads_(job_.rank().value < readers),
        team_(job_.world().split(reads_ ? 0 : -1, job_.rank().value).value()) {
    if (reads_) {
      array_.emplace(Array<double>::create(job_, extents, {.name = "A", .team = team_}).value());
    }
  }

  void read() {
    if (reads_) {
      auto file = Checkpoint::open(job_, team_, path_).value();
      rma::require(file.read_into("A", *array_));
    }
    rma::require(job_.world().barrier());
  }

  /// Collective. Each element is the number of its row.
  std::string verify() {
    if (reads_) {
      rma::require(arrays::fill(*array_, -1.0));
    }
    read();
    if (!reads_) {
      return "";
    }
    const arrays::Box own = array_->own_box();
    std::vector<double> values(static_cast<std::size_t>(own.volume()));
    rma::require(array_->get(own, values));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto row = own.lo(0) + static_cast<std::int64_t>(i) / own.extent(1);
      if (values[i] != static_cast<double>(row)) {
        return fmt::format("an element of row {} is {}", row, values[i]);
      }
    }
    return "";
  }

 private:
  std::string path_;
  rma::Job& job_;
  bool reads_;
  rma::Team team_;
  std::optional<Array<double>> array_;
};

void number_rows(Array<double>& array) {
  const arrays::Box own = array.own_box();
  std::vector<double> values;
  for (std::int64_t row = own.lo(0); row < own.hi(0); ++row) {
    values.insert(values.end(), static_cast<std::size_t>(own.extent(1)), static_cast<double>(row));
  }
  rma::require(array.put(own, values));
  rma::require(array.sync());
}

}  // namespace

void measure_checkpoint_restart(Session& session) {
  const Files files(session);
  if (!can_write(session, files)) {
    return;
  }
  const std::int64_t bytes = sizes(session).back();
  auto array = array_of(session, bytes);
  number_rows(array);
  write_checkpoint(array, files.checkpoint);
  Topic topic{"checkpoint", "restart", "Checkpoint Restart by Some Ranks Bandwidth",
              Quantity::bandwidth, "Ranks"};
  session.remark("files may be read from the page cache, if they fit into it");
  const std::int32_t ranks = session.job().size();
  std::set<std::int32_t, std::greater<>> readers = {ranks, std::max(ranks / 2, 1), 1};
  for (const std::int32_t count : readers) {
    BareFile bare(session.job(), files.bare, bytes, count);
    bare.write();
    Restart restart(session, files.checkpoint, count, array.extents());
    Candidate own = together("tessera", bytes, [&] { restart.read(); });
    own.verify = [&] { return restart.verify(); };
    session.measure(topic, {count, fmt::format("{} ranks to {}", ranks, count), bytes},
                    {together("pread", bytes, [&] { bare.read(); }), std::move(own)},
                    options_of(session));
  }
  std::remove(files.checkpoint.c_str());
}

}  // namespace tessera::bench
