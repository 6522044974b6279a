// SPDX-License-Identifier: BSD-3-Clause
//
// Scans, packing, enumeration and bins of vectors.
#include <numeric>

#include "tests/ga/operations/support.hpp"

extern "C" {
long ga_create_bin_range_(const long* contents, const long* counts, const long* offsets,
                          long* range);
void ga_bin_sorter_(const long* contents, const long* counts, const long* offsets);
void ga_bin_index_(const long* contents, const long* counts, const long* offsets,
                   const long* values, const long* bins, const long* count, const long* sorts);
}

namespace tessera::test {
namespace {

constexpr int length = 41;

struct Range {
  int lo;
  int hi;
};
Range random_range() {
  const int lo = random_between(0, length - 1);
  return {lo, random_between(lo, length - 1)};
}

// Flags, of which about a third is set.
template <class M>
void set_flags(Array<M>& mask) {
  for (M& flag : mask.values) {
    flag = static_cast<M>(random_between(0, 2) == 0 ? random_between(1, 5) : 0);
  }
  mask.store();
}

// Calls check(from, to, mask, range) for elements of all types and masks of several.
template <class Check>
void for_vectors(const Check& check) {
  for_all_types([&]<class T>() {
    const auto with_mask = [&]<class M>() {
      for (int trial = 0; trial < 3; ++trial) {
        const Array<T> from({length}, random_layout());
        Array<T> to({length}, random_layout());
        Array<M> mask({length}, random_layout());
        set_flags(mask);
        check(from, to, mask, random_range());
      }
    };
    with_mask.template operator()<int>();
    with_mask.template operator()<long>();
    with_mask.template operator()<double>();
  });
}

template <class T, class M>
void check_scan_add(const Array<T>& from, Array<T>& to, const Array<M>& mask, Range range,
                    bool is_exclusive) {
  GA_Scan_add(from.handle, to.handle, mask.handle, range.lo, range.hi, is_exclusive ? 1 : 0);
  T sum{};
  bool has_begun = false;
  for (int i = range.lo; i <= range.hi; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (mask[at] != M{}) {
      has_begun = true;
      sum = T{};
    }
    const T before = sum;
    sum = static_cast<T>(sum + from[at]);
    if (has_begun) {
      to[at] = is_exclusive ? before : sum;
    }
  }
  CHECK_ARRAY(to);
}

void scan_add() {
  for_vectors([](const auto& from, auto& to, const auto& mask, Range range) {
    check_scan_add(from, to, mask, range, false);
    check_scan_add(from, to, mask, random_range(), true);
  });
}

// Elements before the first flag of the range become zeros.
void scan_copy() {
  for_vectors(
      []<class T, class M>(const Array<T>& from, Array<T>& to, const Array<M>& mask, Range range) {
        GA_Scan_copy(from.handle, to.handle, mask.handle, range.lo, range.hi);
        T value{};
        for (int i = range.lo; i <= range.hi; ++i) {
          const auto at = static_cast<std::size_t>(i);
          value = mask[at] != M{} ? from[at] : value;
          to[at] = value;
        }
        CHECK_ARRAY(to);
      });
}

void pack() {
  for_vectors(
      []<class T, class M>(const Array<T>& from, Array<T>& to, const Array<M>& mask, Range range) {
        int count = -1;
        GA_Pack(from.handle, to.handle, mask.handle, range.lo, range.hi, &count);
        std::size_t moved = 0;
        for (int i = range.lo; i <= range.hi; ++i) {
          const auto at = static_cast<std::size_t>(i);
          if (mask[at] != M{}) {
            to[moved++] = from[at];
          }
        }
        CHECK_EQUAL(count, moved);
        CHECK_ARRAY(to);
      });
}

void unpack() {
  for_vectors(
      []<class T, class M>(const Array<T>& from, Array<T>& to, const Array<M>& mask, Range range) {
        int count = -1;
        GA_Unpack(from.handle, to.handle, mask.handle, range.lo, range.hi, &count);
        std::size_t moved = 0;
        for (int i = range.lo; i <= range.hi; ++i) {
          const auto at = static_cast<std::size_t>(i);
          if (mask[at] != M{}) {
            to[at] = from[moved++];
          }
        }
        CHECK_EQUAL(count, moved);
        CHECK_ARRAY(to);
      });
}

void patch_enum() {
  for_all_types([]<class T>() {
    for (const Layout layout : all_layouts) {
      Array<T> array({length}, layout);
      const Range range = random_range();
      T start = random_number<T>();
      T step = random_number<T>();
      GA_Patch_enum(array.handle, range.lo, range.hi, &start, &step);
      T value = start;
      for (int i = range.lo; i <= range.hi; ++i) {
        array[static_cast<std::size_t>(i)] = value;
        value = static_cast<T>(value + step);
      }
      CHECK_ARRAY(array);
    }
  });
}

void reports_what_is_no_vector() {
  const Array<int> matrix({3, 4});
  Array<int> vector({12});
  int count = 7;
  CHECK_FAILS("has 2 dimensions, not one",
              GA_Pack(matrix.handle, vector.handle, vector.handle, 0, 3, &count));
  CHECK_EQUAL(count, 7);
  CHECK_FAILS("is both read and written",
              GA_Scan_copy(vector.handle, vector.handle, vector.handle, 0, 3));
  CHECK_FAILS("before the first", GA_Patch_enum(vector.handle, -2, 3, &count, &count));
  CHECK_ARRAY(vector);
}

// Bins of the given lengths, and what goes into them: the values of bin b are 100 b + k, and
// process k mod n has those with number k.
struct Bins {
  explicit Bins(std::vector<long> lengths)
      : counts({static_cast<int>(lengths.size())}),
        offsets({static_cast<int>(lengths.size())}),
        contents({static_cast<int>(std::accumulate(lengths.begin(), lengths.end(), 0L))}) {
    counts.values = std::move(lengths);
    std::exclusive_scan(counts.values.begin(), counts.values.end(), offsets.values.begin(), 0L);
    std::fill(contents.values.begin(), contents.values.end(), -1);
    counts.store();
    offsets.store();
    contents.store();
    handles = {contents.handle, counts.handle, offsets.handle};
  }
  // The model's contents, sorted.
  void fill_model() {
    std::size_t at = 0;
    for (std::size_t bin = 0; bin < counts.values.size(); ++bin) {
      for (long k = 0; k < counts[bin]; ++k) {
        contents[at++] = static_cast<long>(bin) * 100 + k;
      }
    }
  }

  Array<long> counts;
  Array<long> offsets;
  Array<long> contents;
  std::vector<long> handles;
};

void bin_index() {
  for (const long sorts : {0L, 1L}) {
    Bins bins({3, 0, 7, 1, 12, 2});
    std::vector<long> values;
    std::vector<long> numbers;
    for (std::size_t bin = 0; bin < 6; ++bin) {
      for (long k = bins.counts[bin] - 1; k >= 0; --k) {
        if (k % GA_Nnodes() == GA_Nodeid()) {
          values.push_back(static_cast<long>(bin) * 100 + k);
          numbers.push_back(static_cast<long>(bin) + 1);
        }
      }
    }
    const long count = static_cast<long>(values.size());
    ga_bin_index_(&bins.handles[0], &bins.handles[1], &bins.handles[2], values.data(),
                  numbers.data(), &count, &sorts);
    if (sorts == 0) {
      const std::vector<long> found = bins.contents.load();
      bins.contents.sync();
      std::size_t at = 0;
      for (std::size_t bin = 0; bin < 6; ++bin) {
        for (long k = 0; k < bins.counts[bin]; ++k, ++at) {
          CHECK_EQUAL(found[at] / 100, bin);
        }
      }
      ga_bin_sorter_(&bins.handles[0], &bins.handles[1], &bins.handles[2]);
    }
    bins.fill_model();
    CHECK_ARRAY(bins.contents);
    const long bad = 7;
    const long one = 1;
    CHECK_FAILS("bin", ga_bin_index_(&bins.handles[0], &bins.handles[1], &bins.handles[2], &bad,
                                     &bad, &one, &sorts));
    CHECK_ARRAY(bins.contents);
  }
}

// The bins that begin and end where a process's part does.
void bin_range() {
  const int processes = GA_Nnodes();
  // A process owns `part` elements; its first bin has 2 and begins there, its last has the others.
  const int part = 5;
  std::vector<long> lengths;
  for (int process = 0; process < processes; ++process) {
    lengths.push_back(2);
    lengths.push_back(0);
    lengths.push_back(part - 2);
  }
  const Bins bins(lengths);
  long range = 0;
  CHECK_EQUAL(ga_create_bin_range_(&bins.handles[0], &bins.handles[1], &bins.handles[2], &range),
              1);
  const int handle = static_cast<int>(range);
  for (int process = 0; process < processes; ++process) {
    int lo[] = {process, 0};
    int hi[] = {process, 1};
    int ld = 2;
    long found[2] = {};
    NGA_Get(handle, lo, hi, found, &ld);
    int own_lo = 0;
    int own_hi = 0;
    NGA_Distribution(bins.contents.handle, process, &own_lo, &own_hi);
    CHECK_EQUAL(own_lo, process * part);
    CHECK_EQUAL(found[0], 3 * process + 1);
    CHECK_EQUAL(found[1], 3 * process + 3);
  }
  GA_Sync();
  GA_Destroy(handle);
}

}  // namespace

const Case vector_cases[] = {{"scan_add", scan_add},
                             {"scan_copy", scan_copy},
                             {"pack", pack},
                             {"unpack", unpack},
                             {"patch_enum", patch_enum},
                             {"reports_what_is_no_vector", reports_what_is_no_vector},
                             {"bin_index", bin_index},
                             {"bin_range", bin_range},
                             {nullptr, nullptr}};

}  // namespace tessera::test
