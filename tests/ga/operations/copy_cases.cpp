// SPDX-License-Identifier: BSD-3-Clause
//
// Copies between arrays of other layouts, shapes and groups.
#include <numeric>

#include "tests/ga/operations/support.hpp"

namespace tessera::test {
namespace {

// A group of the processes from `first` on, made by all processes.
int group_from(int first) {
  std::vector<int> members(static_cast<std::size_t>(GA_Nnodes() - first));
  std::iota(members.begin(), members.end(), first);
  return GA_Pgroup_create(members.data(), static_cast<int>(members.size()));
}

template <class T>
void copy_patch(char trans, const Array<T>& from, Patch source, Array<T>& to, Patch target) {
  NGA_Copy_patch(trans, from.handle, source.lo.data(), source.hi.data(), to.handle,
                 target.lo.data(), target.hi.data());
  const auto reads = positions(from.dims, source, trans == 't' || trans == 'T');
  const auto writes = positions(to.dims, target);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    to[writes[i]] = from[reads[i]];
  }
}

void whole_arrays_copied() {
  for_all_types([]<class T>() {
    for (const Layout layout : all_layouts) {
      const Array<T> from({7, 5}, random_layout());
      Array<T> to({7, 5}, layout);
      GA_Copy(from.handle, to.handle);
      to.values = from.values;
      CHECK_ARRAY(to);
    }
  });
}

void elements_without_arithmetic() {
  const int from = create_array(C_CHAR, {11}, Layout::cyclic);
  const int to = create_array(C_CHAR, {11}, Layout::regular);
  int lo = 0;
  int hi = 10;
  int ld = 1;
  char text[] = "one mosaic!";
  if (GA_Nodeid() == 0) {
    NGA_Put(from, &lo, &hi, text, &ld);
  }
  GA_Sync();
  GA_Copy(from, to);
  char copied[12] = "";
  NGA_Get(to, &lo, &hi, copied, &ld);
  CHECK_BYTES(copied, text, sizeof text);
  GA_Sync();
  GA_Destroy(from);
  GA_Destroy(to);
}

void patches_copied() {
  for (int trial = 0; trial < 30; ++trial) {
    const Array<double> from({6, 8, 3}, random_layout());
    Array<double> to({5, 9, 4}, random_layout());
    const Dims lengths = {random_between(1, 5), random_between(1, 8), random_between(1, 3)};
    copy_patch('n', from, random_patch(from.dims, lengths), to, random_patch(to.dims, lengths));
    CHECK_ARRAY(to);
  }
}

struct Shapes {
  Dims from, to;
};

// All of 24 elements; dimensions of one element among them.
const Shapes shapes[] = {{{24}, {2, 3, 4}},    {{2, 3, 4}, {24}},     {{4, 6}, {3, 8}},
                         {{4, 6}, {6, 4}},     {{4, 6}, {4, 6}},      {{1, 24}, {24}},
                         {{2, 1, 12}, {4, 6}}, {{2, 3, 4}, {4, 3, 2}}};

void reshaped_and_transposed() {
  for (const char trans : {'n', 'N', 't', 'T'}) {
    for (const Shapes& shape : shapes) {
      Dims from_dims = shape.from;
      Dims to_dims = shape.to;
      for (Dims* const dims : {&from_dims, &to_dims}) {
        for (int& length : *dims) {
          length += random_between(0, 3);
        }
      }
      const Array<double> from(from_dims, random_layout());
      Array<double> to(to_dims, random_layout());
      copy_patch(trans, from, random_patch(from_dims, shape.from), to,
                 random_patch(to_dims, shape.to));
      CHECK_ARRAY(to);
    }
  }
}

void within_one_array() {
  Array<double> array({9, 8});
  copy_patch('n', array, {{0, 0}, {3, 3}}, array, {{4, 4}, {7, 7}});
  copy_patch('t', array, {{0, 0}, {3, 1}}, array, {{5, 4}, {6, 7}});
  copy_patch('n', array, {{2, 2}, {4, 4}}, array, {{2, 2}, {4, 4}});
  CHECK_ARRAY(array);
  Patch box{{0, 0}, {3, 3}};
  Patch other{{1, 1}, {4, 4}};
  CHECK_FAILS("is written while", NGA_Copy_patch('n', array.handle, box.lo.data(), box.hi.data(),
                                                 array.handle, other.lo.data(), other.hi.data()));
  CHECK_ARRAY(array);
}

// Only the smaller group's members take part.
void between_groups() {
  const int first = GA_Nnodes() / 2;
  const int group = group_from(first);
  Array<double> world({6, 7}, random_layout());
  const bool is_member = GA_Nodeid() >= first;
  // The generator must stay the same on all processes.
  const std::mt19937 numbers = generator();
  if (is_member) {
    Array<double> own({6, 7}, Layout::regular, group);
    GA_Copy(world.handle, own.handle);
    own.values = world.values;
    CHECK_ARRAY(own);
  }
  GA_Sync();
  generator() = numbers;
  const Array<double> model({7, 6});
  if (is_member) {
    Array<double> own({7, 6}, Layout::regular, group);
    own.values = model.values;
    own.store();
    // Transposed, from the group's array to the larger one and back.
    copy_patch('t', own, whole_of(own.dims), world, whole_of(world.dims));
    copy_patch('n', world, {{1, 0}, {4, 5}}, own, {{1, 0}, {6, 3}});
    CHECK_ARRAY(own);
  }
  const auto reads = positions(model.dims, whole_of(model.dims), true);
  for (std::size_t i = 0; i < reads.size(); ++i) {
    world[i] = model[reads[i]];
  }
  generator() = numbers;
  GA_Sync();
  CHECK_ARRAY(world);
  GA_Pgroup_destroy(group);
}

void reports_bad_copies() {
  const Array<double> from({4, 6});
  Array<double> to({6, 4});
  CHECK_FAILS("copy arrays of different shapes by patches", GA_Copy(from.handle, to.handle));
  Array<float> floats({4, 6});
  CHECK_FAILS("has elements of type", GA_Copy(from.handle, floats.handle));
  CHECK_FAILS("is not a handle of an array", GA_Copy(from.handle, -500));
  Patch all = whole_of(from.dims);
  Patch less{{0, 0}, {4, 3}};
  CHECK_FAILS("has 24 elements, but", NGA_Copy_patch('n', from.handle, all.lo.data(), all.hi.data(),
                                                     to.handle, less.lo.data(), less.hi.data()));
  CHECK_ARRAY(to);
  CHECK_ARRAY(floats);
}

}  // namespace

const Case copy_cases[] = {{"whole", whole_arrays_copied},
                           {"elements_without_arithmetic", elements_without_arithmetic},
                           {"patches", patches_copied},
                           {"reshaped_and_transposed", reshaped_and_transposed},
                           {"within_one_array", within_one_array},
                           {"between_groups", between_groups},
                           {"reports_what_does_not_fit", reports_bad_copies},
                           {nullptr, nullptr}};

}  // namespace tessera::test
