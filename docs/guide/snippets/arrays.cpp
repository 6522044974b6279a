// SPDX-License-Identifier: BSD-3-Clause
// The code of docs/guide/02-arrays-and-distributions.md.
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include <tessera/arrays/array.hpp>
#include <tessera/arrays/print.hpp>
#include <tessera/arrays/reductions.hpp>
#include "docs/guide/snippets/expect.hpp"

using guide::expect;
// [names]
using namespace tessera::arrays;
using tessera::rma::Job;
using tessera::rma::require;
using tessera::rma::TeamRank;
// [/names]

// [alias]
namespace ts = tessera::arrays;

ts::Array<double> make_field(const Job& job) {
  return ts::Array<double>::create(job, {1000, 800}, {.name = "field"}).value();
}
// [/alias]

namespace {

void make_arrays(Job& job) {
  // [create]
  auto a = Array<double>::create(job, {1000, 800}, {.name = "A"}).value();
  auto b = a.duplicate("B").value();  // shaped as A, filled with zeros
  // [/create]
  // [hints]
  // Blocks of at least 100 x 800: rows are not cut.
  auto rows = Array<float>::create(job, {1000, 800}, {.name = "rows", .min_block = {100, 800}});
  // The same blocks by the grid of ranks: all ranks by 1.
  auto grid = Array<float>::create(job, {1000, 800}, {.name = "grid", .process_grid = {0, 1}});
  // A layer of ghost cells around each rank's block.
  auto u = Array<double>::create(job, {64, 64, 64}, {.name = "u", .ghosts = {1, 1, 1}});
  // [/hints]
  expect(rows.value().own_box().extent(1) == 800, "rows are not cut");
  expect(grid.value().own_box() == rows.value().own_box(), "both give the same blocks");
  expect(u.value().distribution().has_ghosts(), "there are ghost cells");
  // [free]
  require(a.free());  // collective; the destructor does it, too
  // [/free]
  expect(!a.check_open().ok() && b.check_open().ok(), "only A is closed");
  // [empty]
  struct State {
    Array<double> field;  // empty: no elements, no team
  };
  State state;
  state.field = make_field(job);
  // [/empty]
  expect(state.field.check_open().ok(), "what was assigned is open");
}

void ask_where(Job& job) {
  // [where]
  auto a = Array<double>::create(job, {1000, 800}, {.name = "A"}).value();
  const Box mine = a.own_box();                // what this rank owns, in global indices
  const TeamRank there = a.owner({500, 500});  // the owner of one element
  const Box theirs = a.box_of(there);          // all that this owner has
  const Box wanted({0, 390}, {1000, 410});     // a box over several owners:
  for (const Patch& patch : a.distribution().patches(wanted)) {
    std::cout << to_string(patch.box) << " is on rank " << patch.owner.value << '\n';
  }
  // [/where]
  expect(!intersect(theirs, Box({500, 500}, {501, 501})).is_empty(), "the owner has the element");
  expect(!mine.is_empty(), "each rank has a block");
}

// The owner of each element, row by row.
std::string owners(const Distribution& distribution) {
  std::string picture;
  for (std::int64_t i = 0; i < distribution.extents()[0]; ++i) {
    for (std::int64_t j = 0; j < distribution.extents()[1]; ++j) {
      picture += std::to_string(distribution.owner({i, j}).value);
    }
    picture += ' ';
  }
  return picture;
}

void distribute(Job& job) {
  const std::int64_t ranks = job.size();
  // [regular]
  const auto regular = Distribution::regular({6, 8}, ranks).value();
  // [/regular]
  expect(owners(regular) == "00001111 00001111 00001111 22223333 22223333 22223333 ", "regular");
  // [irregular]
  // Rows 0 and 1-5; columns 0-4 and 5-7.
  const std::vector<std::vector<std::int64_t>> starts{{0, 1}, {0, 5}};
  const auto irregular = Distribution::irregular({6, 8}, starts, ranks).value();
  // [/irregular]
  expect(owners(irregular) == "00000111 22222333 22222333 22222333 22222333 22222333 ", "starts");
  // [cyclic]
  const auto block_cyclic = Distribution::block_cyclic({6, 8}, {2, 3}, ranks).value();
  const auto tiled = Distribution::tiled({6, 8}, {2, 3}, {2, 2}, ranks).value();
  const auto scalapack = Distribution::scalapack({6, 8}, {2, 3}, {2, 2}, ranks).value();
  // [/cyclic]
  expect(owners(block_cyclic) == "00011122 00011122 33300011 33300011 22233300 22233300 ", "cards");
  expect(owners(tiled) == "00011100 00011100 22233322 22233322 00011100 00011100 ", "tiled");
  expect(owners(scalapack) == "00022200 00022200 11133311 11133311 00022200 00022200 ",
         "by columns");
  // [restricted]
  const std::vector<TeamRank> holders{{1}, {3}};
  const auto restricted = Distribution::restricted({6, 8}, holders, ranks).value();
  // [/restricted]
  expect(owners(restricted) == "11113333 11113333 11113333 11113333 11113333 11113333 ", "two");
  // [distributed]
  auto a = Array<double>::create(job, tiled, {.name = "A"}).value();
  if (job.rank().value == 0) {
    print_distribution(a.distribution(), std::cout);
  }
  // [/distributed]
  expect(scalapack.storage() == Storage::local_matrix, "a local matrix");
  expect(a.distribution() == tiled, "the array has it");
}

void choose_owners(Job& job) {
  const std::int64_t ranks = job.size();
  // [tiles]
  // Tiles begin at rows 0, 1 and 4, and at columns 0, 5 and 6; 2 x 2 ranks.
  const std::vector<std::vector<std::int64_t>> bounds{{0, 1, 4}, {0, 5, 6}};
  const auto tiles = Distribution::tiled_irregular({6, 8}, bounds, {2, 2}, ranks).value();
  // [/tiles]
  expect(owners(tiles) == "00000100 22222322 22222322 22222322 00000100 00000100 ", "tiles");
  // [table]
  // Rows in 2 even blocks, columns in blocks of 3; an owner for each of the 2 x 3 blocks.
  const std::vector<BlockPartition1D> cuts{BlockPartition1D::even(6, 2).value(),
                                           BlockPartition1D::by_size(8, 3).value()};
  const std::vector<TeamRank> places{{0}, {1}, {1}, {3}, {3}, {0}};
  const auto block_map = BlockMap::table({2, 3}, places, ranks).value();
  const auto by_table = Distribution::create(cuts, block_map).value();
  // [/table]
  expect(owners(by_table) == "00011111 00011111 00011111 33333300 33333300 33333300 ", "the table");
}

void use_memory_that_is_there(Job& job) {
  // [attach]
  const auto even = Distribution::regular({1000}, job.size()).value();
  const auto own = static_cast<std::size_t>(even.local_elements(job.world().rank()));
  std::vector<double> memory(own, 2.0);  // this rank's part; it must outlive the array
  auto a = Array<double>::attach(job, even, memory, {.name = "A"}).value();
  // [/attach]
  expect(sum(a).value() == 2000, "the memory keeps its contents");
  require(fill(a, 3.0));
  expect(memory.front() == 3, "what is written to the array is in the memory");
  // [overlay]
  auto work = Array<double>::create(job, {1000, 100}, {.name = "work"}).value();
  const auto square = Distribution::regular({200, 200}, job.size()).value();
  auto s = Array<float>::overlay(work, square, "S").value();  // in the memory of `work`
  // [/overlay]
  require(fill(s, 1.0F));
  expect(sum(s).value() == 200 * 200, "an array as any other");
  expect(work.get_element({0, 0}).value() != 0, "what one writes is the other's");
}

// [structure]
struct Particle {
  double position[3];
  double mass;
  std::int32_t kind;
};
// [/structure]

void elements_of_any_type(Job& job) {
  // [types]
  auto particles = Array<Particle>::create(job, {1'000'000}, {.name = "particles"}).value();
  // [/types]
  expect(particles.element_bytes() == sizeof(Particle), "the size of an element");
}

}  // namespace

int main() {
  auto job = Job::start().value();
  make_arrays(job);
  ask_where(job);
  distribute(job);
  choose_owners(job);
  use_memory_that_is_there(job);
  elements_of_any_type(job);
}
