// SPDX-License-Identifier: BSD-3-Clause
//
// Output: parts of arrays, groups, steps, chunks, compression and attributes are for h5py and for
// Checkpoint what they were in the arrays, for any distribution.
#include "arrays/output.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "arrays/elementwise.hpp"
#include "tests/arrays/distribution_kinds.hpp"
#include "tests/arrays/files/h5py.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/shared_seed.hpp"

namespace tessera::arrays {
namespace {

using rma::Job;
using rma::test::ok;
using rma::test::on_ranks;
using rma::test::SharedSeed;
using test::expect_python;
using test::fill_with_fingerprints;
using test::fingerprint;
using test::SharedFolder;

class OutputTest : public test::WithH5py {};

// What each Python program needs: the fingerprints of a shape, for indices lo + step · i.
constexpr const char* prelude = R"(
def fingerprints(shape, lo=None, step=None):
    value = 1.0
    for dim, i in enumerate(np.indices(shape)):
        value = value * 131 + (i * (step[dim] if step is not None else 1) + (lo[dim] if lo is not None else 0))
    return value
)";

Section pick_section(kinds::Random& random, const Extents& extents) {
  Extents steps = extents;
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    steps[dim] = kinds::pick(random, 1, 3) == 1 ? kinds::pick(random, 1, 4) : 1;
  }
  return {kinds::pick_box(random, extents), steps};
}

std::vector<std::int64_t> numbers(const Index& index) {
  return {index.begin(), index.end()};
}

TEST_F(OutputTest, H5pyReadsPartsGroupsAndAttributes) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    auto a = Array<double>::create(job, {12, 17}, {.name = "A"}).value();
    auto flags = Array<std::uint8_t>::create(job, {5}, {.name = "flags"}).value();
    auto none = Array<float>::create(job, {4, 0}, {.name = "none"}).value();
    fill_with_fingerprints(a);
    EXPECT_TRUE(ok(fill(flags, std::uint8_t{7})));
    auto out = Output::open(job, folder.file("run.h5")).value();
    EXPECT_TRUE(ok(out.write(a, "whole")));
    EXPECT_TRUE(ok(out.write(a, Box({2, 3}, {9, 16}), "/fields/deep/part")));
    EXPECT_TRUE(ok(out.write(a, Section(Box({1, 0}, {12, 17}), {3, 4}), "fields/coarse",
                             {.chunk = {2, 3}, .compression = 6})));
    EXPECT_TRUE(ok(out.write(flags, "flags", {.compression = 9})));
    EXPECT_TRUE(ok(out.write(none, "none", {.compression = 1})));
    EXPECT_TRUE(ok(out.create_group("empty/one")));
    for (const std::string object : {"/", "fields", "fields/coarse"}) {
      EXPECT_TRUE(ok(out.set_attribute(object, "flag", true)));
      EXPECT_TRUE(ok(out.set_attribute(object, "i8", std::int8_t{-8})));
      EXPECT_TRUE(ok(out.set_attribute(object, "u16", std::uint16_t{65535})));
      EXPECT_TRUE(ok(out.set_attribute(object, "i32", -32)));
      EXPECT_TRUE(ok(out.set_attribute(object, "u64", ~std::uint64_t{0})));
      EXPECT_TRUE(ok(out.set_attribute(object, "f32", 0.5F)));
      EXPECT_TRUE(ok(out.set_attribute(object, "f64", 0.1)));
      EXPECT_TRUE(ok(out.set_attribute(object, "c128", std::complex<double>(1, -2))));
      EXPECT_TRUE(ok(out.set_attribute(object, "text", "π")));
      EXPECT_TRUE(ok(out.set_attribute(object, "list", std::vector<double>{1.5, 2.5})));
      EXPECT_TRUE(ok(out.set_attribute(object, "twice", 1)));
      EXPECT_TRUE(ok(out.set_attribute(object, "twice", "two")));
    }
    EXPECT_TRUE(ok(out.close()));
    expect_python(job, folder, std::string(prelude) + R"(
f = h5py.File(path, 'r')
assert np.array_equal(f['whole'][...], fingerprints((12, 17)))
assert np.array_equal(f['fields/deep/part'][...], fingerprints((7, 13), (2, 3)))
coarse = f['fields/coarse']
assert np.array_equal(coarse[...], fingerprints((4, 5), (1, 0), (3, 4))), coarse[...]
assert coarse.chunks == (2, 3) and coarse.compression == 'gzip' and coarse.shuffle
assert coarse.compression_opts == 6
assert f['whole'].chunks is None and f['none'].shape == (4, 0)
assert f['flags'].dtype == np.uint8 and (f['flags'][...] == 7).all()
assert list(f['empty/one']) == []
for o in (f, f['fields'], coarse):
    a = o.attrs
    assert a['flag'] is np.True_ or a['flag'] == True and type(a['flag']) == np.bool_
    for name, dtype, value in (('i8', np.int8, -8), ('u16', np.uint16, 65535), ('i32', np.int32, -32),
                               ('u64', np.uint64, 2**64 - 1), ('f32', np.float32, 0.5),
                               ('f64', np.float64, 0.1), ('c128', np.complex128, 1 - 2j)):
        assert a[name] == value and a[name].dtype == dtype, (name, a[name])
    assert a['text'] == 'π' and list(a['list']) == [1.5, 2.5] and a['twice'] == 'two'
)");
    auto file = Checkpoint::open(job, folder.file("run.h5")).value();
    EXPECT_EQ(file.names(), (std::vector<std::string>{"fields/coarse", "fields/deep/part", "flags",
                                                      "none", "whole"}));
    EXPECT_EQ(file.attribute<bool>("fields", "flag").value(), true);
    EXPECT_EQ(file.attribute<std::int64_t>("/fields/coarse", "i8").value(), -8);
    EXPECT_EQ(file.attribute<std::uint64_t>("u64").value(), ~std::uint64_t{0});
    EXPECT_EQ(file.attribute<double>("f32").value(), 0.5);
    EXPECT_EQ(file.attribute<std::complex<double>>("c128").value(), (std::complex<double>(1, -2)));
    EXPECT_EQ(file.attribute<std::vector<double>>("list").value(), (std::vector<double>{1.5, 2.5}));
    EXPECT_TRUE(rma::test::fails(file.attribute<std::int64_t>("u64"), rma::Code::invalid_argument,
                                 {"attribute 'u64'", "a whole number that the requested type"}));
    EXPECT_TRUE(rma::test::fails(file.attribute<double>("fields", "x"), rma::Code::invalid_argument,
                                 {"no attribute 'x' in 'fields' of checkpoint", "it has 'c128'"}));
    EXPECT_TRUE(rma::test::fails(file.attribute<double>("none at all", "x"),
                                 rma::Code::invalid_argument, {"no array or group 'none at all'"}));
    auto whole = file.read<double>("whole");
    ASSERT_TRUE(ok(whole));
    EXPECT_TRUE(whole->distribution() == a.distribution());
    for (const std::string& name : file.names()) {
      EXPECT_TRUE(ok(file.verify(name))) << name;
    }
  });
}

// Reads a box of a data set into a part of an array, and compares it with what was written.
void expect_part(Checkpoint& file, const std::string& name, const Section& written, const Box& from,
                 const Distribution& distribution, Job& job) {
  const Extents extents = distribution.extents();
  auto into = Array<double>::create(job, distribution, {.name = "into"}).value();
  Box to = from;
  for (int dim = 0; dim < to.ndims(); ++dim) {
    to.set(dim, extents[dim] - from.extent(dim), extents[dim]);
  }
  ASSERT_TRUE(ok(file.read_part(name, from, into, to)));
  std::vector<double> all(static_cast<std::size_t>(volume(extents)));
  EXPECT_TRUE(ok(into.get(into.box(), all)));
  std::vector<double> expected;
  test::for_each_index(into.box(), [&](const Index& index) {
    Index source = index;
    for (int dim = 0; dim < index.ndims(); ++dim) {
      source[dim] =
          written.box().lo(dim) + (index[dim] - to.lo(dim) + from.lo(dim)) * written.steps()[dim];
    }
    expected.push_back(to.contains(index) ? fingerprint(source) : 0.0);
  });
  EXPECT_EQ(all, expected) << name << to_string(from);
  EXPECT_TRUE(ok(into.sync()));
}

TEST_F(OutputTest, RandomPartsAreTheSameForH5pyAndForArraysOfAnyDistribution) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const SharedSeed seed(job);
    auto random = seed.generator(-1);
    auto out = Output::open(job, folder.file("run.h5")).value();
    std::vector<Section> written;
    const int rounds = tessera::test::rounds(24);
    for (int round = 0; round < rounds; ++round) {
      const int ndims = round % max_dims + 1;
      const Extents extents = kinds::pick_extents(random, ndims, ndims > 4 ? 4 : 12);
      auto array =
          Array<double>::create(job, kinds::pick_distribution_over(random, extents, job.size()),
                                {.name = "A"})
              .value();
      fill_with_fingerprints(array);
      const Section part = pick_section(random, extents);
      DatasetOptions options;
      options.compression = static_cast<int>(kinds::pick(random, 0, 3)) * 3;
      options.shuffle = kinds::pick(random, 0, 1) == 1;
      if (kinds::pick(random, 0, 2) > 0) {
        options.chunk = part.extents();
        for (int dim = 0; dim < ndims; ++dim) {
          options.chunk[dim] =
              kinds::pick(random, 1, std::max<std::int64_t>(options.chunk[dim], 1));
        }
      }
      const std::string name = "group/" + std::to_string(round);
      ASSERT_TRUE(ok(out.write(array, part, name, options))) << to_string(part);
      EXPECT_TRUE(ok(out.set_attribute(name, "lo", numbers(part.box().lo()))));
      EXPECT_TRUE(ok(out.set_attribute(name, "step", numbers(Index::from(part.steps())))));
      written.push_back(part);
      if (kinds::pick(random, 0, 4) == 0) {
        ASSERT_TRUE(ok(out.flush()));
      }
    }
    ASSERT_TRUE(ok(out.close()));
    expect_python(job, folder, std::string(prelude) + R"(
f = h5py.File(path, 'r')
for name, d in f['group'].items():
    expected = fingerprints(d.shape, np.atleast_1d(d.attrs['lo']), np.atleast_1d(d.attrs['step']))
    assert np.array_equal(d[...], expected), name
)");
    auto file = Checkpoint::open(job, folder.file("run.h5")).value();
    for (std::size_t round = 0; round < written.size(); ++round) {
      const std::string name = "group/" + std::to_string(round);
      const Extents extents = written[round].extents();
      EXPECT_EQ(file.info(name)->extents, extents);
      expect_part(file, name, written[round], Box::whole(extents),
                  kinds::pick_distribution_over(random, extents, job.size()), job);
      expect_part(file, name, written[round], kinds::pick_box(random, extents),
                  kinds::pick_distribution_over(random, extents, job.size()), job);
    }
  });
}

TEST_F(OutputTest, StepsAreAppendedToAFileThatIsThere) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const std::string path = folder.file("run.h5");
    auto t = Array<double>::create(job, {7, 9}, {.name = "T"}).value();
    auto charge = Array<std::int32_t>::create(job, {4}, {.name = "charge"}).value();
    constexpr int sessions = 3;
    constexpr int steps_each = 4;
    for (int session = 0; session < sessions; ++session) {
      auto out = Output::open(job, path, OutputMode::append).value();
      EXPECT_EQ(out.steps("fields/T"), session * steps_each);
      for (int i = 0; i < steps_each; ++i) {
        const int step = session * steps_each + i;
        EXPECT_TRUE(ok(fill(t, 0.5 * step)));
        EXPECT_TRUE(ok(fill(charge, step)));
        ASSERT_TRUE(ok(
            out.append(t, "fields/T", {.chunk = {3, 4}, .compression = 4, .time = 0.25 * step})));
        ASSERT_TRUE(ok(out.append(charge, Box({1}, {4}), "charge")));
        if (i % 2 == 1) {
          ASSERT_TRUE(ok(out.flush()));
        }
      }
      EXPECT_TRUE(ok(out.set_attribute("/", "session", session)));
      ASSERT_TRUE(ok(out.write(charge, "at the end of " + std::to_string(session))));
      ASSERT_TRUE(ok(out.close()));
    }
    expect_python(job, folder, R"(
f = h5py.File(path, 'r')
T = f['fields/T']
assert T.shape == (12, 7, 9) and T.maxshape == (None, 7, 9) and T.chunks == (1, 3, 4)
assert (T[...] == 0.5 * np.arange(12)[:, None, None]).all()
assert np.array_equal(T.attrs['time'], 0.25 * np.arange(12))
c = f['charge']
assert c.shape == (12, 3) and c.dtype == np.int32 and (c[...] == np.arange(12)[:, None]).all()
assert f.attrs['session'] == 2
assert (f['at the end of 0'][...] == 3).all() and (f['at the end of 2'][...] == 11).all()
)");
    auto file = Checkpoint::open(job, path).value();
    EXPECT_TRUE(file.info("fields/T")->is_extendible);
    EXPECT_TRUE(ok(file.verify("fields/T")));
    ASSERT_TRUE(ok(file.read_part("fields/T", Box({5, 0, 0}, {6, 7, 9}), t, t.box())));
    EXPECT_EQ(t.get_element({6, 8}).value(), 2.5);
  });
}

// Reads run.xdmf, checks it against the model of XDMF, and evaluates its data items.
constexpr const char* xdmf_model = R"(
import xml.etree.ElementTree as ET, os
root = ET.parse(path.replace('.h5', '.xdmf')).getroot()

# The model: which elements are in which, and with which attributes.
model = {'Xdmf': ({'Version'}, {'Domain'}), 'Domain': (set(), {'Grid'}),
         'Grid': ({'Name', 'GridType', 'CollectionType'}, {'Grid', 'Time', 'Topology', 'Geometry', 'Attribute'}),
         'Time': ({'Value'}, set()), 'Topology': ({'TopologyType', 'Dimensions'}, set()),
         'Geometry': ({'GeometryType'}, {'DataItem'}),
         'Attribute': ({'Name', 'AttributeType', 'Center'}, {'DataItem'}),
         'DataItem': ({'Format', 'NumberType', 'Precision', 'Dimensions', 'ItemType', 'Type'}, {'DataItem'})}
def check(e):
    attributes, children = model[e.tag]
    assert set(e.attrib) <= attributes, (e.tag, e.attrib)
    for child in e:
        assert child.tag in children, (e.tag, child.tag)
        check(child)
check(root)

types = {('Float', '4'): 'f4', ('Float', '8'): 'f8', ('Int', '4'): 'i4', ('Int', '8'): 'i8'}
def data(item):
    shape = tuple(map(int, item.get('Dimensions').split()))
    if item.get('ItemType') == 'HyperSlab':
        selection, source = item
        first, stride, count = data(selection).astype(int)
        whole = data(source)
        part = whole[tuple(slice(a, a + s * n, s) for a, s, n in zip(first, stride, count))]
        return part.reshape(shape)
    if item.get('Format') == 'HDF':
        name, inside = item.text.strip().split(':', 1)
        value = h5py.File(os.path.join(os.path.dirname(path), name), 'r')[inside]
        assert value.dtype == types[item.get('NumberType'), item.get('Precision')]
        value = value[...]
    else:
        value = np.array(item.text.split(), float)
    assert value.size == np.prod(shape), (value.shape, shape)
    return value.reshape(shape)

)";

TEST_F(OutputTest, AnXdmfFileDescribesTheFields) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    auto points = Array<double>::create(job, {5, 4}, {.name = "points"}).value();
    auto cells = Array<float>::create(job, {4, 3}, {.name = "cells"}).value();
    auto velocity = Array<double>::create(job, {5, 4, 3}, {.name = "velocity"}).value();
    auto other = Array<double>::create(job, {6}, {.name = "other"}).value();
    fill_with_fingerprints(points);
    fill_with_fingerprints(velocity);
    for (int session = 0; session < 2; ++session) {
      auto out = Output::open(job, folder.file("run.h5"), OutputMode::append).value();
      if (session == 0) {
        EXPECT_TRUE(
            ok(out.set_grid({.origin = {1.5, -2}, .spacing = {0.5, 0.25}, .points = {5, 4}})));
        EXPECT_TRUE(ok(out.write(points, "static & <fixed>")));
        EXPECT_TRUE(ok(out.write(velocity, "velocity", {.compression = 1})));
        EXPECT_TRUE(ok(out.write(other, "other")));
      }
      EXPECT_TRUE(ok(fill(cells, static_cast<float>(session))));
      EXPECT_TRUE(ok(out.append(cells, "fields/cells", {.time = 0.125 * session})));
      EXPECT_TRUE(ok(out.close()));
    }
    expect_python(job, folder, std::string(prelude) + xdmf_model + R"(
collection, = root.find('Domain')
assert collection.get('GridType') == 'Collection' and collection.get('CollectionType') == 'Temporal'
assert [float(g.find('Time').get('Value')) for g in collection] == [0, 0.125]
for step, grid in enumerate(collection):
    assert grid.get('GridType') == 'Uniform'
    assert grid.find('Topology').get('TopologyType') == '3DCoRectMesh'
    points = tuple(map(int, grid.find('Topology').get('Dimensions').split()))
    assert points == (1, 5, 4)
    assert grid.find('Geometry').get('GeometryType') == 'ORIGIN_DXDYDZ'
    origin, spacing = map(data, grid.find('Geometry'))
    assert list(origin) == [0, 1.5, -2] and list(spacing) == [1, 0.5, 0.25]
    fields = {a.get('Name'): a for a in grid.findall('Attribute')}
    assert set(fields) == {'static & <fixed>', 'velocity', 'fields/cells'}, set(fields)
    for a in fields.values():
        item, = a
        size = np.prod([max(n - 1, 1) for n in points]) if a.get('Center') == 'Cell' else np.prod(points)
        assert data(item).size == size * {'Scalar': 1, 'Vector': 3}[a.get('AttributeType')]
    assert fields['fields/cells'].get('Center') == 'Cell'
    assert (data(fields['fields/cells'][0]) == step).all()
    assert np.array_equal(data(fields['static & <fixed>'][0]), fingerprints((5, 4)))
    assert np.array_equal(data(fields['velocity'][0]), fingerprints((5, 4, 3)))
    assert fields['velocity'].get('AttributeType') == 'Vector'
)");
  });
}

TEST_F(OutputTest, OnlyStepsWithATimeHaveOne) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    auto a = Array<double>::create(job, {3}, {.name = "a"}).value();
    auto out = Output::open(job, folder.file("run.h5")).value();
    EXPECT_TRUE(ok(out.set_grid({.origin = {0}, .spacing = {1}})));
    EXPECT_TRUE(ok(out.write(a, "fixed", {.time = 7.0})));
    EXPECT_TRUE(ok(out.append(a, "steps")));
    EXPECT_TRUE(ok(out.append(a, "steps", {.time = 0.5})));
    ASSERT_TRUE(ok(out.close()));
    expect_python(job, folder, R"(
import xml.etree.ElementTree as ET
f = h5py.File(path, 'r')
assert 'time' not in f['fixed'].attrs
first, second = f['steps'].attrs['time']
assert np.isnan(first) and second == 0.5
values = [float(time.get('Value')) for time in ET.parse(path.replace('.h5', '.xdmf')).iter('Time')]
assert values == [0, 1], values
)");
  });
}

TEST_F(OutputTest, DefaultChunksHaveAboutOneMebibyteAndFitBlocks) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    auto large = Array<double>::create(job, {1024, 1536}, {.name = "large"}).value();
    auto small = Array<double>::create(job, {20, 30}, {.name = "small"}).value();
    auto tiled = Array<double>::create(
                     job, Distribution::block_cyclic({512, 512}, {16, 16}, job.size()).value(),
                     {.name = "tiled"})
                     .value();
    auto out = Output::open(job, folder.file("run.h5")).value();
    EXPECT_TRUE(ok(out.write(large, "large", {.compression = 1})));
    EXPECT_TRUE(ok(out.write(small, "small", {.compression = 1})));
    EXPECT_TRUE(ok(out.write(tiled, "tiled", {.compression = 1})));
    EXPECT_TRUE(ok(out.close()));
    auto file = Checkpoint::open(job, folder.file("run.h5")).value();
    for (const std::string name : {"large", "tiled"}) {
      const Extents chunk = file.info(name)->chunk;
      const std::int64_t bytes = volume(chunk) * std::int64_t{sizeof(double)};
      EXPECT_LE(bytes, 1 << 20) << to_string(chunk);
      EXPECT_GT(bytes, (1 << 20) / 5) << to_string(chunk);
    }
    EXPECT_EQ(file.info("tiled")->chunk[0] % 16, 0);
    EXPECT_EQ(file.info("tiled")->chunk[1] % 16, 0);
    const Extents block = {large.distribution().partition(0).largest(),
                           large.distribution().partition(1).largest()};
    if (1024 % block[0] == 0 && block[0] % 2 == 0) {
      EXPECT_EQ(block[0] % file.info("large")->chunk[0], 0);
    }
  });
}

}  // namespace
}  // namespace tessera::arrays
