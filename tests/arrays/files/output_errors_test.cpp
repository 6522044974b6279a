// SPDX-License-Identifier: BSD-3-Clause
//
// Output and files of others if something is wrong: names, options and files that don't fit,
// crashes between and in flushes, damage, and filters that Tessera lacks. Each error names its
// cause.
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "arrays/elementwise.hpp"
#include "arrays/output.hpp"
#include "tests/arrays/distribution_kinds.hpp"
#include "tests/arrays/files/h5py.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/file_size_limit.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/shared_seed.hpp"

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Job;
using rma::Status;
using rma::test::fails;
using rma::test::is_last;
using rma::test::ok;
using rma::test::on_ranks;
using rma::test::SharedSeed;
using test::contents_of;
using test::expect_filled;
using test::expect_python;
using test::fill_with_fingerprints;
using test::on_first;
using test::SharedFolder;
using test::write_contents;

class OutputErrors : public test::WithH5py {};
class FilesOfOthers : public test::WithH5py {};

// A file of one time step of value 1, and a second one of value 2.
std::string write_two_steps(Job& job, const std::string& path, std::string& one_step) {
  auto t = Array<double>::create(job, {6, 5}, {.name = "T"}).value();
  auto out = Output::open(job, path, OutputMode::replace).value();
  for (int step = 1; step <= 2; ++step) {
    EXPECT_TRUE(ok(fill(t, static_cast<double>(step))));
    EXPECT_TRUE(ok(out.append(t, "T", {.compression = 1})));
    EXPECT_TRUE(ok(out.flush()));
    EXPECT_TRUE(ok(job.barrier()));
    if (step == 1) {
      one_step = contents_of(path);
    }
    EXPECT_TRUE(ok(job.barrier()));
  }
  EXPECT_TRUE(ok(out.close()));
  return contents_of(path);
}

// Checks all steps with h5py and with Checkpoint. Collective.
void expect_steps(Job& job, const SharedFolder& folder, int steps) {
  expect_python(job, folder, "steps = " + std::to_string(steps) + R"(
T = h5py.File(path, 'r')['T']
assert T.shape == (steps, 6, 5), T.shape
assert (T[...] == 1 + np.arange(steps)[:, None, None]).all()
)");
  auto file = Checkpoint::open(job, folder.file("run.h5"));
  ASSERT_TRUE(ok(file));
  auto t = file->read<double>("T");
  ASSERT_TRUE(ok(t));
  EXPECT_EQ(t->extents(), (Extents{steps, 6, 5}));
  EXPECT_EQ(t->get_element({steps - 1, 5, 4}).value(), static_cast<double>(steps));
  EXPECT_TRUE(ok(t->sync()));
}

TEST_F(OutputErrors, FilesThatAreThereAreNotOverwritten) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const std::string path = folder.file("run.h5");
    auto array = Array<double>::create(job, {6}, {.name = "A"}).value();
    on_first(job, [&] { write_contents(path, "precious"); });
    EXPECT_TRUE(fails(Output::open(job, path), Code::invalid_argument,
                      {"opening output", "run.h5 already exists", "hint:", "append"}));
    EXPECT_TRUE(fails(Output::open(job, path, OutputMode::append), Code::protocol,
                      {"can't be read as HDF5", "hint:"}));
    EXPECT_EQ(contents_of(path), "precious");
    {
      auto out = Output::open(job, path, OutputMode::replace).value();
      EXPECT_TRUE(ok(out.write(array, "A")));
      EXPECT_EQ(contents_of(path), "precious");  // as long as nothing is flushed
    }
    EXPECT_TRUE(ok(job.barrier()));
    EXPECT_EQ(contents_of(path), "precious");
    on_first(job, [&] { EXPECT_EQ(folder.own().names(), std::vector<std::string>{"run.h5"}); });
    {
      auto out = Output::open(job, folder.file("new.h5")).value();
      on_first(job, [&] { write_contents(folder.file("new.h5"), "of another program"); });
      EXPECT_TRUE(fails(out.close(), Code::invalid_argument,
                        {"new.h5 exists now, but did not when this output was opened"}));
      EXPECT_EQ(contents_of(folder.file("new.h5")), "of another program");
    }
    EXPECT_TRUE(ok(job.barrier()));
    on_first(job, [&] { write_contents(folder.file("third.xdmf"), "mine"); });
    auto out = Output::open(job, folder.file("third.h5")).value();
    EXPECT_TRUE(fails(out.set_grid({.origin = {0}, .spacing = {1}}), Code::invalid_argument,
                      {"third.xdmf exists, and Tessera did not write it", "hint:"}));
    EXPECT_EQ(contents_of(folder.file("third.xdmf")), "mine");
  });
}

TEST_F(OutputErrors, NamesPartsAndOptionsThatDoNotFitAreRefused) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    auto array = Array<double>::create(job, {6, 4}, {.name = "A"}).value();
    auto other = Array<float>::create(job, {6, 4}, {.name = "other"}).value();
    auto out = Output::open(job, folder.file("run.h5")).value();
    EXPECT_TRUE(ok(out.write(array, "group/A")));
    for (const std::string name : {"", "/", "a//b", "a/", ".", "a/./b"}) {
      EXPECT_TRUE(fails(out.write(array, name), Code::invalid_argument,
                        {"writing '" + name + "' to output", "is not a valid name", "hint:"}));
    }
    EXPECT_TRUE(fails(out.write(array, "group/A"), Code::invalid_argument,
                      {"the name 'group/A' is already in use", "hint:"}));
    EXPECT_TRUE(fails(out.write(array, "group"), Code::invalid_argument, {"already in use"}));
    EXPECT_TRUE(fails(out.write(array, "group/A/b"), Code::invalid_argument,
                      {"'group/A' is a data set, so 'group/A/b' can't be in it"}));
    EXPECT_TRUE(fails(out.write(array, Box({0, 0}, {7, 4}), "B"), Code::out_of_range, {"7"}));
    EXPECT_TRUE(fails(out.write(array, "B", {.compression = 10}), Code::invalid_argument,
                      {"compression is 10; 0 to 9 are possible"}));
    EXPECT_TRUE(fails(out.write(array, "B", {.chunk = {2}}), Code::invalid_argument,
                      {"chunks have 1 dimensions, but the part has 2"}));
    EXPECT_TRUE(fails(out.write(array, "B", {.chunk = {2, 5}}), Code::invalid_argument,
                      {"chunks of 2 x 5 don't fit a part of 6 x 4"}));
    EXPECT_TRUE(fails(out.append(array, "group/A"), Code::invalid_argument,
                      {"appending a step", "'group/A' has no dimension for steps", "hint:"}));
    EXPECT_TRUE(ok(out.append(array, "steps")));
    EXPECT_TRUE(fails(out.append(array, Box({0, 0}, {6, 3}), "steps"), Code::invalid_argument,
                      {"a step of 'steps' has extents 1 x 6 x 4, but this part has 1 x 6 x 3"}));
    EXPECT_TRUE(fails(out.append(other, "steps"), Code::invalid_argument,
                      {"'steps' holds float64, but the array holds float32"}));
    EXPECT_TRUE(fails(out.set_attribute("none", "x", 1), Code::invalid_argument,
                      {"there is no data set or group 'none'", "hint:"}));
    EXPECT_TRUE(fails(out.set_attribute("/", "tessera_x", 1), Code::invalid_argument,
                      {"'tessera_x' is reserved"}));
    EXPECT_TRUE(fails(out.set_grid({.origin = {0, 0}, .spacing = {1, 0}}), Code::invalid_argument,
                      {"dimension 1 of the grid has origin 0 and distance 0", "hint:"}));
    if (job.size() > 1) {
      EXPECT_TRUE(fails(out.write(array, is_last(job) ? "C" : "D"), Code::invalid_argument,
                        {"gave another array, part, name or options"}));
    }
    EXPECT_TRUE(ok(out.close()));  // the refused calls have changed nothing
    EXPECT_TRUE(fails(out.write(array, "late"), Code::closed, {"already closed"}));
    EXPECT_EQ(Checkpoint::open(job, folder.file("run.h5"))->names(),
              (std::vector<std::string>{"group/A", "steps"}));
  });
}

TEST_F(OutputErrors, TwoOutputsOfOneFileAreRefused) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    std::string one_step;
    write_two_steps(job, folder.file("run.h5"), one_step);
    auto first = Output::open(job, folder.file("run.h5"), OutputMode::append).value();
    EXPECT_TRUE(fails(Output::open(job, folder.file("run.h5"), OutputMode::append),
                      Code::invalid_argument, {"another program writes it now", "hint:"}));
    EXPECT_TRUE(ok(first.close()));
    EXPECT_TRUE(ok(Output::open(job, folder.file("run.h5"), OutputMode::append)));
  });
}

// A crash leaves any part of what the new flush writes, as long as the superblock is the old one.
TEST_F(OutputErrors, ACrashInAnAppendLeavesTheEarlierSteps) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const SharedSeed seed(job);
    auto random = seed.generator(-1);
    const std::string path = folder.file("run.h5");
    std::string before;
    const std::string after = write_two_steps(job, path, before);
    // Nothing of the old file but the superblock changes.
    constexpr std::size_t superblock_bytes = 48;
    ASSERT_GT(after.size(), before.size());
    EXPECT_EQ(after.substr(superblock_bytes, before.size() - superblock_bytes),
              before.substr(superblock_bytes));
    expect_steps(job, folder, 2);
    for (int round = 0; round < 6; ++round) {
      const auto size =
          static_cast<std::size_t>(kinds::pick(random, static_cast<std::int64_t>(before.size()),
                                               static_cast<std::int64_t>(after.size())));
      on_first(job, [&] {
        write_contents(path, before.substr(0, superblock_bytes) +
                                 after.substr(superblock_bytes, size - superblock_bytes));
      });
      expect_steps(job, folder, 1);
    }
    // The next append continues from there.
    {
      auto t = Array<double>::create(job, {6, 5}, {.name = "T"}).value();
      EXPECT_TRUE(ok(fill(t, 2.0)));
      auto out = Output::open(job, path, OutputMode::append).value();
      EXPECT_EQ(out.steps("T"), 1);
      EXPECT_TRUE(ok(out.append(t, "T")));
      EXPECT_TRUE(ok(job.barrier()));
      expect_steps(job, folder, 1);  // not flushed
      EXPECT_TRUE(ok(out.close()));
    }
    expect_steps(job, folder, 2);
  });
}

TEST_F(OutputErrors, SpaceThatRunsOutLeavesTheFileAndTheOutput) {
  on_ranks([](Job& job) {
    if (rma::test::ranks_are_threads() && job.size() > 1) {
      return;  // the limit would apply to all ranks and to the test; one rank suffices
    }
    const SharedFolder folder(job);
    std::string one_step;
    write_two_steps(job, folder.file("run.h5"), one_step);
    auto large = Array<double>::create(job, {100, 1000}, {.name = "large"}).value();
    auto t = Array<double>::create(job, {6, 5}, {.name = "T"}).value();
    auto out = Output::open(job, folder.file("run.h5"), OutputMode::append).value();
    Status status;
    {
      const tessera::test::FileSizeLimit limit(100'000);
      status = out.write(large, "large", {.chunk = {10, 1000}});
    }
    EXPECT_TRUE(fails(status, Code::limit_exceeded,
                      {"writing 'large' to output", "writing chunk", "File too large", "hint:"}));
    EXPECT_TRUE(ok(fill(t, 3.0)));
    EXPECT_TRUE(ok(out.append(t, "T")));
    {
      const tessera::test::FileSizeLimit limit(100);
      status = out.flush();
    }
    EXPECT_TRUE(fails(status, Code::limit_exceeded, {"flushing output", "File too large"}));
    expect_steps(job, folder, 2);
    EXPECT_TRUE(ok(out.close()));
    expect_steps(job, folder, 3);
  });
}

TEST_F(OutputErrors, ACutOrChangedFileIsRefused) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const SharedSeed seed(job);
    auto random = seed.generator(-1);
    const std::string path = folder.file("run.h5");
    auto array = Array<double>::create(job, {40, 30}, {.name = "A"}).value();
    fill_with_fingerprints(array);
    {
      auto out = Output::open(job, path).value();
      EXPECT_TRUE(ok(out.write(array, "A", {.chunk = {7, 11}, .compression = 5})));
      EXPECT_TRUE(ok(out.close()));
    }
    const std::string good = contents_of(path);
    std::uint64_t hdf5_end = 0;  // without the trailer, all of it is there
    std::memcpy(&hdf5_end, good.data() + 28, sizeof hdf5_end);
    const auto read_all = [&]() -> Status {
      TESSERA_ASSIGN_OR_RETURN(auto file, Checkpoint::open(job, path));
      TESSERA_ASSIGN_OR_RETURN(auto read, file.read<double>("A"));
      expect_filled(read);
      return {};
    };
    for (int round = 0; round < 25; ++round) {
      const auto place = static_cast<std::size_t>(kinds::pick(random, 0, std::ssize(good) - 1));
      on_first(job, [&] { write_contents(path, good.substr(0, place)); });
      const Status cut = read_all();
      EXPECT_TRUE(place == hdf5_end ? ok(cut) : fails(cut, Code::protocol, {"run.h5", "hint:"}))
          << "length " << place;
      EXPECT_TRUE(ok(job.barrier()));
      on_first(job, [&] {
        std::string damaged = good;
        damaged[place] = static_cast<char>(damaged[place] ^ (1 << place % 8));
        write_contents(path, damaged);
      });
      const Status status = read_all();  // if it succeeds, the elements are right
      EXPECT_TRUE(status.ok() || fails(status, Code::protocol, {"run.h5"})) << "byte " << place;
      EXPECT_TRUE(ok(job.barrier()));
    }
  });
}

TEST_F(OutputErrors, WhatH5pyHasAddedIsKeptOrTheAppendIsRefused) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const std::string path = folder.file("run.h5");
    std::string one_step;
    write_two_steps(job, path, one_step);
    expect_python(job, folder, R"(
with h5py.File(path, 'r+') as f:
    f['T'].attrs['unit'] = 'K'
    f['T'].attrs['names'] = ['one', 'two']
    f['more/plain'] = np.arange(1000.0)
    f['more'].create_dataset('packed', data=np.arange(60.0).reshape(6, 10), chunks=(2, 5), compression='gzip', fletcher32=True)
    f['more'].create_dataset('sparse', shape=(100,), chunks=(10,), dtype='i2', fillvalue=-3)
    f['more/sparse'][25] = 4
    f['more/table'] = np.zeros(3, dtype=[('a', 'i4'), ('b', 'f8')])
)");
    auto t = Array<double>::create(job, {6, 5}, {.name = "T"}).value();
    EXPECT_TRUE(ok(fill(t, 3.0)));
    {
      auto out = Output::open(job, path, OutputMode::append).value();
      EXPECT_TRUE(ok(out.append(t, "T")));
      EXPECT_TRUE(ok(out.close()));
    }
    expect_steps(job, folder, 3);
    expect_python(job, folder, R"(
with h5py.File(path, 'r+') as f:
    assert f['T'].attrs['unit'] == 'K' and list(f['T'].attrs['names']) == ['one', 'two']
    assert np.array_equal(f['more/plain'], np.arange(1000.0))
    assert np.array_equal(f['more/packed'], np.arange(60.0).reshape(6, 10)) and f['more/packed'].fletcher32
    assert np.array_equal(f['more/sparse'], np.where(np.arange(100) == 25, 4, -3))
    assert f['more/table'].dtype.names == ('a', 'b')
    f['more/link'] = h5py.SoftLink('/T')
)");
    EXPECT_TRUE(fails(Output::open(job, path, OutputMode::append), Code::unsupported,
                      {"can't add to", "run.h5", "could not keep the link '/more/link'", "hint:"}));
    expect_steps(job, folder, 3);
  });
}

TEST_F(FilesOfOthers, ChunksFiltersAndTypesAreReadIntoAnyDistribution) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const SharedSeed seed(job);
    auto random = seed.generator(-1);
    expect_python(job, folder, R"(
i, j = np.indices((13, 9))
A = (131.0 + i) * 131 + j
with h5py.File(path, 'w') as f:
    g = f.create_group('fields')
    for name, options in dict(
        plain=dict(chunks=(4, 4)), gzip=dict(chunks=(5, 2), compression='gzip', compression_opts=9),
        shuffled=dict(chunks=(13, 9), compression='gzip', shuffle=True),
        checked=dict(chunks=(3, 9), fletcher32=True),
        all=dict(chunks=(6, 5), compression='gzip', shuffle=True, fletcher32=True),
        extendible=dict(chunks=(4, 3), maxshape=(None, None), compression='gzip'),
        steps=dict(chunks=(1, 9), maxshape=(None, 9), shuffle=True)).items():
        for dtype in ('<f8', '>f8', '<i4', '>u2', '>f4'):
            g.create_dataset(f'{name} {dtype}', data=A.astype(dtype), **options)
    f['contiguous >f8'] = A.astype('>f8')
    f['contiguous u2'] = A.astype('u2')
    f.create_dataset('bools', data=(i + j) % 2 == 0, chunks=(4, 4))
    f.create_dataset('complex', data=A.astype('>c8'), chunks=(4, 4))
    d = f.create_dataset('holes', shape=(13, 9), dtype='>i2', chunks=(4, 4), fillvalue=-7)
    d[0, 0] = 1
with h5py.File(path, 'r+', libver='latest') as f:
    f.create_dataset('newest', data=A, chunks=(4, 4), maxshape=(None, 9), compression='gzip')
)");
    auto file = Checkpoint::open(job, folder.file("run.h5")).value();
    const auto distribution = [&] {
      while (true) {
        Distribution picked = kinds::pick_distribution(random, {13, 9});
        if (picked.nranks() == job.size()) {
          return picked;
        }
      }
    };
    for (const std::string& name : file.names()) {
      if (name == "bools" || name == "complex" || name == "holes") {
        continue;
      }
      auto array = file.read<double>(name, distribution());
      ASSERT_TRUE(ok(array)) << name;
      std::vector<double> expected = test::fingerprints(array->box());
      const bool is_short = name.ends_with("u2");
      for (double& value : expected) {
        value = is_short ? static_cast<double>(static_cast<std::uint16_t>(value)) : value;
      }
      std::vector<double> all(expected.size());
      EXPECT_TRUE(ok(array->get(array->box(), all)));
      EXPECT_EQ(all, expected) << name;
      EXPECT_TRUE(ok(array->sync()));
    }
    auto bools = file.read<std::int8_t>("bools");
    ASSERT_TRUE(ok(bools));
    EXPECT_EQ(bools->get_element({3, 5}).value(), 1);
    EXPECT_EQ(bools->get_element({3, 6}).value(), 0);
    auto complex = file.read<std::complex<double>>("complex");
    ASSERT_TRUE(ok(complex));
    EXPECT_EQ(complex->get_element({2, 1}).value(), std::complex<double>(133.0 * 131 + 1));
    auto holes = file.read<std::int32_t>("holes");
    ASSERT_TRUE(ok(holes));
    EXPECT_EQ(holes->get_element({0, 0}).value(), 1);
    EXPECT_EQ(holes->get_element({12, 8}).value(), -7);
    EXPECT_TRUE(ok(job.barrier()));
    EXPECT_TRUE(fails(file.read<float>("fields/gzip <f8"), Code::invalid_argument,
                      {"it holds float64, not float32", "one that holds all its values"}));
    EXPECT_TRUE(fails(file.read<std::int16_t>("fields/gzip >u2"), Code::invalid_argument,
                      {"it holds big-endian uint16, not int16"}));
  });
}

TEST_F(FilesOfOthers, FiltersThatAreMissingAreNamedWithTheRemedy) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    expect_python(job, folder, R"(
with h5py.File(path, 'w') as f:
    f.create_dataset('by lzf', data=np.zeros((40, 40)), chunks=(4, 4), compression='lzf')
    f.create_dataset('scaled', data=np.arange(64), chunks=(4,), scaleoffset=0)
    f['text'] = 'some'
    f['good'] = np.ones(3)
    virtual = h5py.VirtualLayout((3,), 'f8')
    virtual[:] = h5py.VirtualSource(f['good'])
    f.create_virtual_dataset('virtual', virtual)
)");
    auto file = Checkpoint::open(job, folder.file("run.h5")).value();
    EXPECT_TRUE(fails(
        file.read<double>("by lzf"), Code::unsupported,
        {"reading array 'by lzf' of checkpoint", "run.h5",
         "compressed by 'lzf' (filter 32000), which Tessera can't undo", "h5repack -f GZIP=4"}));
    EXPECT_TRUE(
        fails(file.read<std::int64_t>("scaled"), Code::unsupported, {"'scaleoffset' (filter 6)"}));
    EXPECT_TRUE(fails(file.read<double>("virtual"), Code::unsupported,
                      {"its elements are those of other data sets"}));
    EXPECT_NE(file.info("by lzf")->unreadable_reason, "");
    EXPECT_TRUE(ok(file.read<double>("good")));
  });
}

TEST_F(FilesOfOthers, DamagedChunksAreNamed) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    expect_python(job, folder, R"(
with h5py.File(path, 'w') as f:
    for name, options in (('gzip', dict(compression='gzip')), ('sum', dict(fletcher32=True))):
        d = f.create_dataset(name, data=np.arange(100.0), chunks=(10,), **options)
        place = d.id.get_chunk_info(3)
        name == 'gzip' and (gzip := place)
        name == 'sum' and (summed := place)
with open(path, 'r+b') as f:
    for place in (gzip, summed):
        f.seek(place.byte_offset + 5)
        f.write(b'\xff\xff')
)");
    auto file = Checkpoint::open(job, folder.file("run.h5")).value();
    EXPECT_TRUE(fails(file.read<double>("gzip"), Code::protocol,
                      {"reading chunk 3 of array 'gzip' ([30,40))", "damaged", "hint:"}));
    EXPECT_TRUE(fails(file.read<double>("sum"), Code::protocol,
                      {"reading chunk 3 of array 'sum'", "the checksum of the chunk differs"}));
    // Cut off in the middle of the chunks.
    const std::string all = contents_of(folder.file("run.h5"));
    on_first(job, [&] { write_contents(folder.file("run.h5"), all.substr(0, all.size() - 300)); });
    EXPECT_TRUE(fails(Checkpoint::open(job, folder.file("run.h5")), Code::protocol,
                      {"run.h5", "hint:", "truncated"}));
  });
}

}  // namespace
}  // namespace tessera::arrays
