// SPDX-License-Identifier: BSD-3-Clause
//
// Checkpoints and HDF5's tools: h5dump and h5py read what Tessera writes, and Tessera reads what
// h5py writes or changes. Skipped if the tools are not installed.
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "arrays/elementwise.hpp"
#include "tests/arrays/files/checkpoint_support.hpp"
#include "tests/arrays/files/h5py.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Job;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_ranks;
using test::expect_filled;
using test::fill_with_fingerprints;
using test::has_hdf5;
using test::on_first;
using test::Outcome;
using test::run_command;
using test::run_python;
using test::SharedFolder;
using test::small_pieces;
using test::WithH5py;
using test::write_checkpoint;

class CheckpointTools : public WithH5py {};

TEST(CheckpointDump, ShowsArraysAndAttributes) {
  if (!has_hdf5()) {
    GTEST_SKIP() << "built without HDF5";
  }
  if (run_command("h5dump --version").exit_code != 0) {
    GTEST_SKIP() << "this machine has no h5dump (Debian's hdf5-tools)";
  }
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const std::string path = folder.file("run.h5");
    auto array = Array<std::int64_t>::create(job, {2, 3}, {.name = "numbers"}).value();
    const std::vector<std::int64_t> values = {10, 11, 12, 20, 21, 22};
    if (job.rank().value == 0) {
      EXPECT_TRUE(ok(array.put(array.box(), values)));
    }
    auto writer = CheckpointWriter::create(job, path, {.piece_bytes = 16}).value();
    EXPECT_TRUE(ok(writer.add(array)));
    EXPECT_TRUE(ok(writer.add_attribute("title", std::string("a run"))));
    EXPECT_TRUE(ok(writer.commit()));
    on_first(job, [&] {
      const Outcome dumped = run_command("h5dump '" + path + "'");
      EXPECT_EQ(dumped.exit_code, 0) << dumped.output;
      for (const std::string words :
           {"DATASET \"numbers\"", "H5T_STD_I64LE", "SIMPLE { ( 2, 3 ) / ( 2, 3 ) }",
            "(0,0): 10, 11, 12,", "(1,0): 20, 21, 22", "\"a run\"",
            "ATTRIBUTE \"tessera_distribution\"", "2 x 3: "}) {
        EXPECT_NE(dumped.output.find(words), std::string::npos) << words << dumped.output;
      }
    });
  });
}

TEST_F(CheckpointTools, H5pyReadsWhatIsWrittenHere) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    auto reals = Array<double>::create(job, {5, 7}, {.name = "A"}).value();
    auto pairs = Array<std::complex<double>>::create(job, {3}, {.name = "z"}).value();
    auto none = Array<float>::create(job, {4, 0}, {.name = "none"}).value();
    fill_with_fingerprints(reals);
    EXPECT_TRUE(ok(fill(pairs, std::complex<double>(1.5, -2))));
    auto writer = CheckpointWriter::create(job, folder.file("run.h5"), small_pieces).value();
    EXPECT_TRUE(ok(writer.add(reals)));
    EXPECT_TRUE(ok(writer.add(pairs)));
    EXPECT_TRUE(ok(writer.add(none)));
    EXPECT_TRUE(ok(writer.add_attribute("step", std::int64_t{12})));
    EXPECT_TRUE(ok(writer.add_attribute("title", std::string("π"))));
    EXPECT_TRUE(ok(writer.commit()));
    on_first(job, [&] {
      const Outcome said = run_python(folder, R"(
f = h5py.File(path, 'r')
A = f['A'][...]
i, j = np.indices((5, 7))
assert A.dtype == np.float64 and np.array_equal(A, (131.0 + i) * 131 + j), A
assert f['z'].dtype == np.complex128 and (f['z'][...] == 1.5 - 2j).all(), f['z'][...]
assert f['none'].shape == (4, 0)
assert f.attrs['step'] == 12 and f.attrs['title'] == 'π', dict(f.attrs)
assert f['A'].attrs['tessera_distribution'].startswith('5 x 7: ')
assert sorted(f) == ['A', 'none', 'z']
)");
      EXPECT_EQ(said.exit_code, 0) << said.output;
    });
  });
}

TEST_F(CheckpointTools, FilesOfH5pyAreReadHere) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const std::string path = folder.file("run.h5");
    on_first(job, [&] {
      const Outcome said = run_python(folder, R"(
with h5py.File(path, 'w') as f:
    i, j = np.indices((13, 9))
    f['A'] = (131.0 + i) * 131 + j
    f['z'] = np.full(4, 1 + 2j, dtype=np.complex64)
    f['big'] = np.arange(3, dtype='>f8')
    f['half'] = np.arange(3, dtype=np.float16)
    f['text'] = 'some'
    space = h5py.h5s.create_simple((3,))
    early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    bits = h5py.h5t.STD_I32LE.copy()
    bits.set_precision(24)
    h5py.h5d.create(f.id, b'narrow', bits, space, early)
    fields = h5py.h5t.IEEE_F32LE.copy()
    fields.set_fields(31, 20, 11, 0, 20)
    fields.set_ebias(1023)
    h5py.h5d.create(f.id, b'odd', fields, space, early)
    f.create_dataset('chunked', data=np.zeros((8, 8)), chunks=(4, 4))
    f.create_dataset('unwritten', (5,), dtype=np.float64)
    f['group/inner'] = np.zeros(3)
    f['link'] = h5py.SoftLink('/A')
    f['elsewhere'] = h5py.ExternalLink('none.h5', '/A')
    f.attrs['step'] = 3
    f.attrs['list'] = [1, 2]
)");
      EXPECT_EQ(said.exit_code, 0) << said.output;
    });
    auto file = Checkpoint::open(job, path);
    ASSERT_TRUE(ok(file));
    EXPECT_EQ(file->names(), (std::vector<std::string>{"A", "big", "chunked", "group/inner", "half",
                                                       "narrow", "odd", "text", "unwritten", "z"}));
    auto array = file->read<double>("A");
    ASSERT_TRUE(ok(array));
    expect_filled(*array);
    EXPECT_FALSE(file->info("A")->has_checksums);
    EXPECT_FALSE(file->info("A")->distribution.has_value());
    auto pairs = file->read<std::complex<float>>("z");
    ASSERT_TRUE(ok(pairs));
    EXPECT_EQ(pairs->get_element({3}).value(), (std::complex<float>(1, 2)));
    EXPECT_EQ(file->attribute_names().value(), (std::vector<std::string>{"list", "step"}));
    EXPECT_EQ(file->attribute<std::int64_t>("step").value(), 3);
    EXPECT_EQ(file->attribute<std::vector<std::int64_t>>("list").value(),
              (std::vector<std::int64_t>{1, 2}));

    EXPECT_TRUE(fails(file->verify("A"), Code::unsupported, {"it has no checksums"}));
    // Types of which an array's type holds every value are converted.
    for (const std::string name : {"big", "half"}) {
      auto converted = file->read<double>(name);
      ASSERT_TRUE(ok(converted));
      EXPECT_EQ(converted->get_element({2}).value(), 2.0) << name;
    }
    EXPECT_EQ(file->info("big")->type, rma::ElementType::f64);
    EXPECT_EQ(file->info("half")->type, rma::ElementType::f32);
    EXPECT_TRUE(ok(file->read<double>("chunked")));
    EXPECT_TRUE(ok(file->read<double>("group/inner")));
    EXPECT_TRUE(fails(file->read<std::int32_t>("big"), Code::invalid_argument,
                      {"reading array 'big'", "it holds big-endian float64, not int32", "hint:"}));
    EXPECT_TRUE(fails(file->read<std::int16_t>("narrow"), Code::invalid_argument,
                      {"it holds int32 with 24 significant bits, from bit 0 on, not int16"}));
    EXPECT_TRUE(fails(file->read<float>("odd"), Code::invalid_argument,
                      {"it holds float32 with 11 bits of exponent (bias 1023) and 20 of fraction, "
                       "not float32"}));
    EXPECT_TRUE(fails(file->read<double>("unwritten"), Code::unsupported, {"never written"}));
    EXPECT_TRUE(fails(file->read<double>("text"), Code::unsupported, {"it has 0 dimensions"}));
  });
}

TEST_F(CheckpointTools, WhatH5pyHasChangedIsStillReadAndVerified) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const std::string path = folder.file("run.h5");
    auto array = Array<double>::create(job, {13, 9}, {.name = "A"}).value();
    fill_with_fingerprints(array);
    ASSERT_TRUE(ok(write_checkpoint(job.world(), path, small_pieces, array)));
    on_first(job, [&] {
      const Outcome said = run_python(folder, R"(
with h5py.File(path, 'r+') as f:
    f.attrs['remark'] = 'by hand'
    f['more'] = np.arange(1000.0)
)");
      EXPECT_EQ(said.exit_code, 0) << said.output;
    });
    {
      auto file = Checkpoint::open(job, path);
      ASSERT_TRUE(ok(file));
      EXPECT_EQ(file->attribute<std::string>("remark").value(), "by hand");
      EXPECT_TRUE(ok(file->verify("A")));
      auto again = file->read<double>("A");
      ASSERT_TRUE(ok(again));
      EXPECT_TRUE(again->distribution() == array.distribution());
      expect_filled(*again);
      EXPECT_TRUE(ok(file->read<double>("more")));
    }
    on_first(job, [&] {
      const Outcome said = run_python(folder, "h5py.File(path, 'r+')['A'][2, 3] = 0\n");
      EXPECT_EQ(said.exit_code, 0) << said.output;
    });
    auto file = Checkpoint::open(job, path);
    ASSERT_TRUE(ok(file));
    EXPECT_TRUE(fails(file->read<double>("A"), Code::protocol, {"piece 1 of 5", "checksum"}));
  });
}

}  // namespace
}  // namespace tessera::arrays
