// SPDX-License-Identifier: BSD-3-Clause
// The code of docs/guide/07-checkpoints.md.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include <tessera/arrays/checkpoint.hpp>
#include <tessera/arrays/random.hpp>
#include <tessera/arrays/reductions.hpp>
#include "docs/guide/snippets/expect.hpp"

using namespace tessera::arrays;
using guide::expect;
using tessera::rma::Code;
using tessera::rma::Job;
using tessera::rma::require;

namespace {

// Damages the file: changes one bit of an element.
void damage(double element) {
  std::fstream file("guide.h5", std::ios::in | std::ios::out | std::ios::binary);
  std::string contents{std::istreambuf_iterator<char>(file), {}};
  const std::string bytes(reinterpret_cast<const char*>(&element), sizeof element);
  const std::size_t place = contents.find(bytes);
  expect(place != std::string::npos, "elements are in the file as they are");
  file.seekp(static_cast<std::streamoff>(place));
  file.put(static_cast<char>(contents[place] ^ 1));
}

void check_damage(Job& job, Checkpoint& file, const Array<double>& density) {
  const double element = density.get_element({50, 40}).value();
  require(job.barrier());
  if (job.rank().value == 0) {
    damage(element);
  }
  require(job.barrier());
  const auto status = file.verify("density");
  expect(file.verify("A").ok() && status.code() == Code::protocol, "one of them is damaged");
  if (job.rank().value == 0) {
    std::cout << status.message() << '\n';
  }
}

}  // namespace

int main() {
  auto job = Job::start().value();
  auto a = Array<double>::create(job, {100, 80}, {.name = "A"}).value();
  auto b = Array<double>::create(job, {100, 80}, {.name = "B", .process_grid = {0, 1}}).value();
  require(fill_random(a, 1));
  require(fill_random(b, 2));
  const double total = sum(a, {.reproducible = true}).value();
  const std::int64_t step = 12;
  // [write]
  auto writer = CheckpointWriter::create(job, "guide.h5").value();
  require(writer.add(a));             // under the array's name
  require(writer.add(b, "density"));  // or another one
  require(writer.add_attribute("step", step));
  require(writer.commit());  // replaces an older guide.h5
  // [/write]
  require(fill(b, 0.0));
  // [read]
  auto file = Checkpoint::open(job, "guide.h5").value();
  auto again = file.read<double>("A").value();  // a new array
  require(file.read_into("density", b));        // or into an existing one
  const auto stored_step = file.attribute<std::int64_t>("step").value();
  // [/read]
  expect(sum(again, {.reproducible = true}).value() == total && stored_step == step, "A is back");
  expect(norm_max(b).value() > 0, "B is back");
  // [verify]
  for (const std::string& name : file.names()) {
    require(file.verify(name));  // reads it, compares, and keeps nothing
  }
  // [/verify]
  check_damage(job, file, b);
  // [missing]
  const auto other = Checkpoint::open(job, "no-such-file.h5");
  if (!other.ok() && job.rank().value == 0) {
    std::cout << other.status().message() << '\n';
  }
  // [/missing]
  expect(!other.ok(), "there is no such file");
  require(job.barrier());
  if (job.rank().value == 0) {
    std::filesystem::remove("guide.h5");
  }
}
