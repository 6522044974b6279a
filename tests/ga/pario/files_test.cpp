// SPDX-License-Identifier: BSD-3-Clause
//
// Files, EAF's files on disk and in memory against a model, and the layout of disk resident arrays.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "fortran/ga/pario/disk_layout.hpp"
#include "fortran/ga/pario/eaf_files.hpp"
#include "fortran/ga/pario/files.hpp"

namespace tessera::ga::pario {
namespace {

using arrays::Box;
using arrays::Extents;
using arrays::Index;

// A name that is free, and a file that is deleted at the end.
class Scratch {
 public:
  explicit Scratch(const std::string& what)
      : name_("pario_test_" + what + "_" + std::to_string(getpid())) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::remove(name_.c_str()); }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
};

TEST(ParioFiles, OffsetsAreWholeNumbers) {
  EXPECT_EQ(bytes_of(0.0), 0);
  EXPECT_EQ(bytes_of(9007199254740992.0), std::int64_t{1} << 53);
  for (const double wrong : {-1.0, 0.5, 1e300, 9007199254740994.0, std::nan(""),
                             std::numeric_limits<double>::infinity()}) {
    EXPECT_FALSE(bytes_of(wrong).has_value()) << wrong;
  }
}

TEST(ParioFiles, ReadsEndWithTheFile) {
  const Scratch scratch("read");
  auto file = File::open(scratch.name(), Access::read_write);
  ASSERT_TRUE(file.ok());
  std::vector<std::byte> bytes(10, std::byte{7});
  ASSERT_TRUE(file->write(5, bytes).ok());
  EXPECT_EQ(*file->length(), 15);
  EXPECT_EQ(*file->read(12, bytes), 3);
  EXPECT_EQ(*file->read(100, bytes), 0);
  const auto short_read = file->read_all(12, bytes);
  EXPECT_EQ(short_read.code(), rma::Code::out_of_range);
  EXPECT_NE(short_read.message().find("ends at byte 15"), std::string::npos);
  ASSERT_TRUE(file->read_all(0, bytes).ok());
  EXPECT_EQ(bytes[4], std::byte{0});  // a hole reads as zeros
  EXPECT_EQ(bytes[5], std::byte{7});
  ASSERT_TRUE(file->truncate(2).ok());
  EXPECT_EQ(*file->length(), 2);
  ASSERT_TRUE(file->sync().ok());
  ASSERT_TRUE(file->close().ok());
  const auto only_read = File::open(scratch.name(), Access::read);
  ASSERT_TRUE(only_read.ok());
  EXPECT_FALSE(only_read->write(0, bytes).ok());
}

TEST(ParioFiles, ErrorsNameTheFile) {
  const auto absent = File::open("no/such/folder/file", Access::read_write);
  EXPECT_NE(absent.status().message().find("can't open file 'no/such/folder/file': No such file"),
            std::string::npos);
  EXPECT_FALSE(File::open("/tmp", Access::read).ok());
  EXPECT_TRUE(File::remove("pario_test_no_such_file").ok());
  EXPECT_GT(*File::free_space("pario_test_no_such_file"), 0);
  EXPECT_EQ(folder_of("a/b/c"), "a/b/");
  EXPECT_EQ(folder_of("c"), ".");
}

TEST(ParioFiles, FortranTextsAreBlankPadded) {
  EXPECT_EQ(text_of("abc   ", 6), "abc");
  std::array<char, 6> text{};
  copy_to_fortran("abc", text.data(), text.size());
  EXPECT_EQ(std::string(text.data(), 6), "abc   ");
  copy_to_fortran("abcdefgh", text.data(), text.size());
  EXPECT_EQ(std::string(text.data(), 6), "abcdef");
}

// ---- EAF ----------------------------------------------------------------------------------------

// Random writes, reads and changes of length against a list of bytes.
void compare_with_model(EafFiles& files, const std::string& name, std::int64_t type,
                        std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto number_in = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  constexpr std::int64_t most = 60'000;
  std::vector<std::byte> model;
  auto opened = files.open(name, type);
  ASSERT_EQ(opened.error, EafError::none);
  for (int step = 0; step < 400; ++step) {
    const std::int64_t at = number_in(0, most);
    std::vector<std::byte> bytes(static_cast<std::size_t>(number_in(0, 3000)));
    switch (number_in(0, 9)) {
      case 0: {
        const auto length = static_cast<std::size_t>(number_in(0, most));
        ASSERT_EQ(files.truncate(opened.number, static_cast<double>(length)), EafError::none);
        model.resize(length);
        break;
      }
      case 1:
        ASSERT_EQ(files.close(opened.number), EafError::none);
        opened = files.open(name, type);
        ASSERT_EQ(opened.error, EafError::none);
        break;
      case 2:
      case 3:
      case 4:
      case 5: {
        for (std::byte& each : bytes) {
          each = static_cast<std::byte>(number_in(0, 255));
        }
        ASSERT_EQ(files.write(opened.number, static_cast<double>(at), bytes), EafError::none);
        const std::size_t end = static_cast<std::size_t>(at) + bytes.size();
        if (!bytes.empty()) {
          model.resize(std::max(model.size(), end));
          std::copy(bytes.begin(), bytes.end(), model.begin() + at);
        }
        break;
      }
      default: {
        const auto error = files.read(opened.number, static_cast<double>(at), bytes);
        if (static_cast<std::size_t>(at) + bytes.size() > model.size()) {
          ASSERT_TRUE(error == EafError::end_of_file || bytes.empty());
        } else {
          ASSERT_EQ(error, EafError::none);
          ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), model.begin() + at));
        }
      }
    }
    double length = -1;
    ASSERT_EQ(files.length(opened.number, length), EafError::none);
    ASSERT_EQ(length, static_cast<double>(model.size()));
  }
  ASSERT_EQ(files.close(opened.number), EafError::none);
  ASSERT_EQ(files.remove(name), EafError::none);
}

TEST(ParioEaf, FilesAreAsInTheModel) {
  EafFiles files;
  const Scratch scratch("eaf");
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    compare_with_model(files, scratch.name(), static_cast<std::int64_t>(Access::read_write), seed);
    compare_with_model(files, scratch.name(), 1, seed);
  }
}

TEST(ParioEaf, AFileInMemoryHasTheSizeItWasGiven) {
  EafFiles files;
  const auto opened = files.open("memory", 2);
  std::vector<std::byte> bytes(100);
  EXPECT_EQ(files.write(opened.number, 2.0 * 1048576 - 100, bytes), EafError::none);
  EXPECT_EQ(files.write(opened.number, 2.0 * 1048576 - 99, bytes), EafError::write);
  EXPECT_EQ(files.truncate(opened.number, 2.0 * 1048576 + 1), EafError::truncate);
  const auto again = files.open("memory", 2);
  EXPECT_NE(again.number, opened.number);
  EXPECT_EQ(files.read(again.number, 2.0 * 1048576 - 100, bytes), EafError::none);
  EXPECT_FALSE(std::ifstream("memory").good());
  EXPECT_EQ(files.remove("memory"), EafError::none);
}

TEST(ParioEaf, ErrorsHaveTheInterfacesNumbers) {
  EafFiles files;
  const Scratch scratch("errors");
  std::vector<std::byte> bytes(8);
  EXPECT_EQ(files.open("no/such/folder/file", -1).error, EafError::open);
  EXPECT_EQ(files.open(scratch.name(), -4).error, EafError::open);
  EXPECT_EQ(files.open(std::string(2000, 'x'), -1).error, EafError::too_long);
  EXPECT_EQ(files.open("too large", std::int64_t{1} << 36).error, EafError::memory);
  EXPECT_EQ(files.read(0, 0, bytes), EafError::descriptor);
  EXPECT_EQ(files.close(-1), EafError::descriptor);
  const auto opened = files.open(scratch.name(), -1);
  EXPECT_EQ(files.write(opened.number, 0.5, bytes), EafError::offset);
  EXPECT_EQ(files.read(opened.number, -8, bytes), EafError::offset);
  EXPECT_EQ(files.read(opened.number, 0, bytes), EafError::end_of_file);
  const auto reader = files.open(scratch.name(), -3);
  EXPECT_EQ(files.write(reader.number, 0, bytes), EafError::write);
  EXPECT_EQ(eaf_text_of(0), "OK");
  EXPECT_EQ(eaf_text_of(-10001), "end of file");
  EXPECT_EQ(eaf_text_of(-10018), "offset is not an integer");
  EXPECT_EQ(eaf_text_of(-1990), "can't open the file");
  EXPECT_EQ(eaf_text_of(-5), "");
  EXPECT_EQ(eaf_text_of(-10021), "");
}

TEST(ParioEaf, ManyFilesAreOpen) {
  EafFiles files;
  for (std::size_t i = 0; i < EafFiles::max_open; ++i) {
    ASSERT_EQ(files.open("/dev/null", -3).error, EafError::none) << i;
  }
  EXPECT_EQ(files.open("/dev/null", -3).error, EafError::max_open);
  EXPECT_EQ(files.close(17), EafError::none);
  EXPECT_EQ(files.open("/dev/null", -3).number, 17);
}

// ---- Disk resident arrays -----------------------------------------------------------------------

// Each element belongs to one chunk, and no two chunks share bytes.
TEST(ParioLayout, ChunksCoverTheArray) {
  std::mt19937_64 random(3);
  const auto number_in = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int round = 0; round < 200; ++round) {
    const auto ndims = static_cast<int>(number_in(1, 4));
    Extents extents = Extents::zeros(ndims);
    Extents typical = Extents::zeros(ndims);
    for (int dim = 0; dim < ndims; ++dim) {
      extents[dim] = number_in(1, 12);
      typical[dim] = number_in(-1, 15);
    }
    const std::int64_t most = number_in(1, 4000);
    const auto layout = DiskLayout::create(1004, 8, extents, typical, most, "name");
    ASSERT_TRUE(layout.ok());
    EXPECT_LE(layout->chunk_bytes(), std::max<std::int64_t>(most, 8));
    const Box grid = layout->chunks_of(Box::whole(extents));
    std::set<std::int64_t> offsets;
    std::int64_t elements = 0;
    Index chunk = grid.lo();
    bool is_more = true;
    while (is_more) {
      const Box box = layout->box_of(chunk);
      EXPECT_FALSE(box.is_empty());
      EXPECT_TRUE(arrays::is_inside(box, extents));
      elements += box.volume();
      const std::int64_t offset = layout->offset_of(chunk);
      EXPECT_TRUE(offsets.insert(offset).second);
      EXPECT_EQ((offset - DiskLayout::data_offset) % layout->chunk_bytes(), 0);
      EXPECT_LE(offset + layout->chunk_bytes(), layout->file_bytes());
      is_more = false;
      for (int dim = ndims - 1; dim >= 0 && !is_more; --dim) {
        is_more = ++chunk[dim] < grid.hi(dim);
        chunk[dim] = is_more ? chunk[dim] : 0;
      }
    }
    EXPECT_EQ(elements, volume(extents));
  }
}

TEST(ParioLayout, HeadersAreReadAsTheyWereWritten) {
  const auto layout = DiskLayout::create(1007, 16, Extents({30, 20, 7}), Extents({5, -1, 7}),
                                         1 << 12, "amplitudes");
  ASSERT_TRUE(layout.ok());
  const auto again = DiskLayout::decode(layout->encode());
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->type(), 1007);
  EXPECT_EQ(again->element_bytes(), 16);
  EXPECT_EQ(again->extents(), layout->extents());
  EXPECT_EQ(again->chunk(), layout->chunk());
  EXPECT_EQ(again->name(), "amplitudes");
  EXPECT_EQ(again->file_bytes(), layout->file_bytes());
}

TEST(ParioLayout, EachDamageToAHeaderIsFound) {
  const auto layout = DiskLayout::create(1004, 8, Extents({30, 20}), Extents({5, 5}), 1 << 12, "a");
  for (std::size_t at = 0; at < DiskLayout::header_bytes; ++at) {
    DiskLayout::Header header = layout->encode();
    header[at] ^= std::byte{0x10};
    const auto read = DiskLayout::decode(header);
    ASSERT_FALSE(read.ok()) << at;
    EXPECT_EQ(read.status().code(), rma::Code::protocol);
  }
  const DiskLayout::Header zeros{};
  EXPECT_NE(DiskLayout::decode(zeros).status().message().find("is not a disk resident array"),
            std::string::npos);
}

TEST(ParioLayout, RefusesWrongArrays) {
  const Extents none;
  EXPECT_FALSE(DiskLayout::create(1004, 8, none, none, 1000, "").ok());
  EXPECT_FALSE(DiskLayout::create(1004, 8, Extents({3, 0}), none, 1000, "").ok());
  EXPECT_FALSE(DiskLayout::create(1004, 0, Extents({3}), none, 1000, "").ok());
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_EQ(DiskLayout::create(1004, 8, Extents({huge, huge}), none, 1000, "").status().code(),
            rma::Code::limit_exceeded);
}

}  // namespace
}  // namespace tessera::ga::pario
