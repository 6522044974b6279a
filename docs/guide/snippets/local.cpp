// SPDX-License-Identifier: BSD-3-Clause
// The code of docs/guide/04-local-access-and-ghosts.md.
#include <cstdint>
#include <span>

#include <tessera/arrays/array.hpp>
#include <tessera/arrays/elementwise.hpp>
#include <tessera/arrays/halo.hpp>
#include <tessera/arrays/reductions.hpp>
#include "docs/guide/snippets/expect.hpp"

using namespace tessera::arrays;
using guide::expect;
using tessera::rma::Job;
using tessera::rma::require;

namespace {

void store_directly(Job& job) {
  auto a = Array<double>::create(job, {40, 30}, {.name = "A"}).value();
  // [local]
  {
    const auto access = a.local().value();
    const auto view = access.view();  // by global indices
    const Box& own = access.own();
    for (auto i = own.lo(0); i < own.hi(0); ++i) {
      for (auto j = own.lo(1); j < own.hi(1); ++j) {
        view(i, j) = static_cast<double>(i * j);
      }
    }
  }
  require(a.sync());  // before others read it
  // [/local]
  expect(a.get_element({39, 29}).value() == 39 * 29, "what its owner stored");
  require(a.sync());  // all have read before it changes
  // [span]
  const auto access = a.local().value();
  const Box& own = access.own();
  for (auto i = own.lo(0); i < own.hi(0); ++i) {
    const std::span row(&access.view()(i, own.lo(1)), static_cast<std::size_t>(own.extent(1)));
    for (double& element : row) {
      element *= 2;
    }
  }
  // [/span]
  require(a.sync());
  expect(a.get_element({39, 29}).value() == 2 * 39 * 29, "twice that");
}

void several_blocks(Job& job) {
  const auto cyclic = Distribution::block_cyclic({20, 20}, {4, 4}, job.size()).value();
  auto a = Array<double>::create(job, cyclic, {.name = "A"}).value();
  // [blocks]
  {
    const auto blocks = a.local_blocks().value();
    for (std::int64_t number = 0; number < blocks.size(); ++number) {
      const auto view = blocks[number];  // by global indices
      const Box box = view.box();
      for (auto i = box.lo(0); i < box.hi(0); ++i) {
        for (auto j = box.lo(1); j < box.hi(1); ++j) {
          view(i, j) = 1.0;
        }
      }
    }
  }
  require(a.sync());
  // [/blocks]
  expect(sum(a).value() == 400, "every element is one");
}

// [relax]
// next = the mean of the four neighbours in u, on the elements of `box`.
void relax(const Box& box, const GlobalView<double>& u, const GlobalView<double>& next) {
  for (auto i = box.lo(0); i < box.hi(0); ++i) {
    for (auto j = box.lo(1); j < box.hi(1); ++j) {
      next(i, j) = (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1)) / 4;
    }
  }
}
// [/relax]

void exchange(Job& job) {
  // [ghosts]
  auto u = Array<double>::create(job, {64, 64}, {.name = "u", .ghosts = {1, 1}}).value();
  auto next = u.duplicate("next").value();
  require(fill(u, 1.0));
  auto halo = Halo::create(u, {.periodic = PeriodicDims().set()}).value();

  require(halo.update());  // copies the neighbours' elements
  const auto from = u.local().value();
  const auto to = next.local().value();
  relax(from.own(), from.view(), to.view());
  // [/ghosts]
  expect(sum(next).value() == 64 * 64, "the mean of ones is one");
  // [overlap]
  auto update = halo.start().value();
  relax(from.own().grown({-1, -1}), from.view(), to.view());  // needs no ghost cell
  require(update.finish());
  // … and now the elements at the edges
  // [/overlap]
  // [post]
  require(halo.post());    // ghost cells are not read from here on
  require(scale(u, 0.5));  // own elements may change
  require(halo.update());  // or start() and finish(): new ghost cells
  // [/post]
}

void exchange_some(Job& job) {
  // [parts]
  auto v = Array<double>::create(job, {48, 48}, {.name = "v", .ghosts = {2, 2}}).value();
  const auto around = PeriodicDims().set();
  // The inner of the two layers, without corners: what relax() needs.
  auto cross = Halo::create(v, {.periodic = around, .corners = false, .widths = {1, 1}}).value();
  // The program sets the ghost cells above and below, for example as a mirror.
  auto beside = Halo::create(v, {.periodic = around, .left_out = PeriodicDims(0b01)}).value();
  // [/parts]
  require(fill(v, 1.0));
  const auto access = v.local().value();
  const auto view = access.view();
  const auto i = access.own().lo(0);
  const auto j = access.own().lo(1);
  const auto mark = [&] {
    view(i - 1, j) = view(i - 2, j) = view(i, j - 1) = view(i - 1, j - 1) = -1;
  };
  mark();
  require(cross.update());
  expect(view(i - 1, j) == 1 && view(i, j - 1) == 1, "the neighbours' elements are here");
  expect(view(i - 2, j) == -1 && view(i - 1, j - 1) == -1, "but no second layer, nor corners");
  mark();
  require(beside.update());
  expect(view(i - 1, j) == -1 && view(i - 2, j) == -1, "what lies above is the program's");
  expect(view(i, j - 1) == 1, "what lies beside is the neighbour's");
}

}  // namespace

int main() {
  auto job = Job::start().value();
  store_directly(job);
  several_blocks(job);
  exchange(job);
  exchange_some(job);
}
