// SPDX-License-Identifier: BSD-3-Clause
//
// A text file that all ranks of a team read together, each rank its own lines.
//
//     plain   each rank reads its share of the bytes, from the first line that begins in it
//     .gz     rank 0 inflates the file and sends pieces of about 100 KiB to all ranks, in rounds
//
// Rank 0 alone reads the head of a file, line by line (LineStream); distribute_lines() continues
// from there. No rank holds more than a block of text at a time.
//
// Faults have a location: "arc.mtx:17:5: row 131 is outside 1 to 130". If several ranks find one,
// all report that of the first line.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/job.hpp"
#include "rma/team.hpp"

namespace tessera::apps::spmv {

/// The maximum length of a line in Matrix Market's definition; Harwell-Boeing has shorter lines.
inline constexpr std::size_t longest_line = 1024;

/// An error in a text, and its location. Lines and columns count from 1; 0 means the file, or the
/// line. With line −1 the reason is the whole message, including the name of the file.
struct TextFault {
  std::int64_t line = 0;
  std::int64_t column = 0;
  std::string reason;
};
/// "FILE:LINE:COLUMN: REASON", with the code invalid_argument.
rma::Status to_status(const std::string& file, const TextFault& fault);

/// Collective. The fault with the lowest line that a member found, as a status, the same on all.
rma::Status agree_on_fault(rma::Team& team, const std::string& file,
                           const std::optional<TextFault>& own);

constexpr bool is_blank(std::string_view line) noexcept {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}
/// Whether the first character of a line that is not blank is a '%': a comment of Matrix Market.
constexpr bool is_comment(std::string_view line) noexcept {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && line[first] == '%';
}

/// Lines of a text, and the words in those that are not comments.
struct LineCount {
  std::int64_t lines = 0;
  std::int64_t words = 0;

  LineCount& operator+=(const LineCount& other) noexcept {
    lines += other.lines;
    words += other.words;
    return *this;
  }
};

/// Whole lines, with their line ends. The last line of a file may have none.
struct TextPiece {
  std::string_view text;
  std::int64_t first_line = 1;
  std::int64_t words_before = 0;  ///< in the file before the piece, without comments
};

/// Calls `body(line, number)` for each line of a piece, without its end (LF or CR LF), until it
/// returns a fault. Lines that are too long, and bytes that are not text, are faults.
std::optional<TextFault> for_each_line(
    const TextPiece& piece,
    const std::function<std::optional<TextFault>(std::string_view, std::int64_t)>& body);

/// A file, plain or compressed, read from its beginning by one process.
class LineStream {
 public:
  /// Errors: invalid_argument, with the system's reason.
  static rma::Result<LineStream> open(const std::string& file);

  /// The next line, without its end; none at the end of the file. It is valid until the next call.
  /// Errors: invalid_argument (a line too long, compressed data that is damaged or truncated).
  rma::Result<std::optional<std::string_view>> next_line();
  /// At most `bytes` bytes of whole lines; no text at the end of the file. Errors: as next_line().
  rma::Result<TextPiece> next_piece(std::size_t bytes);

  [[nodiscard]] bool is_compressed() const noexcept;
  /// An upper limit for the uncompressed file: memory for more is not allocated.
  [[nodiscard]] double max_bytes() const noexcept;
  /// Lines returned so far, and their bytes.
  [[nodiscard]] std::int64_t lines() const noexcept { return count_.lines; }
  /// The words in those that are not comments.
  [[nodiscard]] std::int64_t words() const noexcept { return count_.words; }
  [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] const std::string& file() const noexcept { return name_; }

 private:
  struct Close {
    void operator()(gzFile_s* file) const noexcept { gzclose_r(file); }
  };
  LineStream(std::string name, gzFile_s* file, std::int64_t size)
      : name_(std::move(name)), file_(file), size_(size) {}
  void fill();
  [[nodiscard]] rma::Status broken() const;
  [[nodiscard]] std::string_view waiting() const noexcept {
    return {buffer_.data() + begin_, end_ - begin_};
  }
  // Requires: whole lines.
  TextPiece take(std::size_t bytes) noexcept;

  std::string name_;
  std::unique_ptr<gzFile_s, Close> file_;
  std::int64_t size_;  // of the stored file
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool is_at_end_ = false;
  std::string failure_;  // of the data after the buffer
  LineCount count_;
  std::int64_t bytes_ = 0;
};

/// Where the lines to be distributed begin; the same on all ranks.
struct TextStart {
  std::int64_t byte = 0;
  std::int64_t line = 1;
  std::int64_t words = 0;  ///< before it, without comments
  bool is_compressed = false;
};

/// Gets pieces in the order of the file; not called again after a fault.
using PieceReader = std::function<std::optional<TextFault>(const TextPiece&)>;

/// Collective on all ranks of the job. Gives each rank its pieces of the text after `start`;
/// together they are the rest of the file. `at_first` is the stream at that position on rank 0, and
/// null on others. Returns the number of lines of the file. Errors: faults of any rank's reader,
/// and of the file, the same on all ranks; a plain file that differs among ranks.
rma::Result<std::int64_t> distribute_lines(rma::Job& job, const std::string& file,
                                           LineStream* at_first, const TextStart& start,
                                           const PieceReader& read);

}  // namespace tessera::apps::spmv
