// SPDX-License-Identifier: BSD-3-Clause
//
// A text file that all ranks of a team read together, each its own lines.
//
//     plain   each rank reads its share of the bytes, from the first line that begins in it
//     .gz     the first rank inflates and deals pieces of some 100 KiB to all, round by round
//
// The head of a file is read by the first rank alone, line by line (LineStream); deal_lines() takes
// it from there. Nobody holds more than a block of text at a time.
//
// Faults have their place: "arc.mtx:17:5: row 131 is outside 1 to 130". When several ranks find
// one, all report that of the first line.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rma/job.hpp"
#include "rma/result.hpp"
#include "rma/team.hpp"

namespace tessera::apps::spmv {

/// Lines may have so many characters; Matrix Market says so, Harwell-Boeing has shorter ones.
inline constexpr std::size_t longest_line = 1024;

/// What is wrong with a text, and where. Lines and columns count from 1; 0: the file, the line.
/// With the line −1 the reason says all, the name of the file too.
struct TextFault {
  std::int64_t line = 0;
  std::int64_t column = 0;
  std::string reason;
};
/// "FILE:LINE:COLUMN: REASON", with the code invalid_argument.
rma::Status to_status(const std::string& file, const TextFault& fault);

/// Collective. The fault with the lowest line that a member found, as a status, the same on all.
rma::Status agree_on_fault(rma::Team& team, const std::string& file,
                           const std::optional<TextFault>& mine);

/// Whether the first character of a line that is not blank is a '%': a comment of Matrix Market.
constexpr bool is_comment(std::string_view line) noexcept {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && line[first] == '%';
}

/// Lines of a text, and the words in those that are no comments.
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
  std::int64_t words_before = 0;  ///< of the file, in front of the piece, without comments
};

/// Calls `body(line, number)` for each line of a piece, without its end (LF or CR LF), until it
/// returns a fault. Lines that are too long, and bytes that are no text, are faults.
std::optional<TextFault> for_each_line(
    const TextPiece& piece,
    const std::function<std::optional<TextFault>(std::string_view, std::int64_t)>& body);

/// A file from its beginning, plain or deflated, by one process.
class LineStream {
 public:
  /// Errors: invalid_argument, with the system's reason.
  static rma::Result<LineStream> open(const std::string& file);

  /// The next line, without its end; none at the end of the file. It is valid until the next call.
  /// Errors: invalid_argument (a line too long, deflated data that are broken or end early).
  rma::Result<std::optional<std::string_view>> next_line();
  /// At most `bytes` of whole lines; no text at the end of the file. Errors: as next_line().
  rma::Result<TextPiece> next_piece(std::size_t bytes);

  [[nodiscard]] bool is_compressed() const noexcept;
  /// No more than that can be in the file, inflated: what is announced beyond is not allocated.
  [[nodiscard]] double most_bytes() const noexcept;
  /// Lines given so far, and their bytes.
  [[nodiscard]] std::int64_t lines() const noexcept { return count_.lines; }
  /// The words in those of them that are no comments.
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
  std::int64_t size_;  // as it lies there
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool is_at_end_ = false;
  std::string failure_;  // of what lies behind the buffer
  LineCount count_;
  std::int64_t bytes_ = 0;
};

/// Where the lines to be dealt begin; the same on all ranks.
struct TextStart {
  std::int64_t byte = 0;
  std::int64_t line = 1;
  std::int64_t words = 0;  ///< in front of it, without comments
  bool is_compressed = false;
};

/// Is given pieces in the order of the file; after a fault it is given no more.
using PieceReader = std::function<std::optional<TextFault>(const TextPiece&)>;

/// Collective on all ranks of the job. Gives each rank its pieces of what follows `start`; together
/// they are the rest of the file. `at_first` is the stream at that place on the first rank, and
/// null on others. Returns how many lines the file has. Errors: faults of any rank's reader, and of
/// the file, the same on all ranks; a plain file that is not the same on all ranks.
rma::Result<std::int64_t> deal_lines(rma::Job& job, const std::string& file, LineStream* at_first,
                                     const TextStart& start, const PieceReader& read);

}  // namespace tessera::apps::spmv
