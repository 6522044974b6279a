// SPDX-License-Identifier: BSD-3-Clause
#include "apps/spmv/text_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "apps/common/agreement.hpp"
#include "apps/common/same_file.hpp"
#include "arrays/array.hpp"

namespace tessera::apps::spmv {
namespace {

using rma::Code;
using rma::Result;
using rma::Status;

// The block size of file reads, and of the pieces sent to a rank in a round.
constexpr std::size_t block_bytes = 1 << 20;
constexpr std::size_t piece_bytes = 1 << 18;

std::string reason_of(int error) {
  return std::generic_category().message(error);
}

// zlib begins its message with the file's name, which is "<fd:6>" here.
std::string reason_of(const std::string& text) {
  const std::size_t name_end = text.find(">: ");
  return text.starts_with('<') && name_end != std::string::npos ? text.substr(name_end + 3) : text;
}

Status unreadable(const std::string& file, std::string_view what) {
  return Status::error(Code::invalid_argument, fmt::format("{}: {}", file, what));
}

constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

// Counts the lines of a text, which it gets in blocks.
class LineCounter {
 public:
  void add(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      add_to_line(text.substr(0, end));
      if (end == std::string_view::npos) {
        return;
      }
      ++count_.lines;
      line_ = Line();
      text.remove_prefix(end + 1);
    }
  }
  // The last line may have no line end.
  [[nodiscard]] LineCount all() const {
    return {count_.lines + (line_.is_begun ? 1 : 0), count_.words};
  }

 private:
  // The state of the unfinished line.
  struct Line {
    bool is_begun = false;
    bool has_word = false;
    bool is_comment = false;
    bool is_after_blank = true;
  };

  // Requires: no line ends in it.
  void add_to_line(std::string_view part) {
    line_.is_begun = line_.is_begun || !part.empty();
    if (!line_.has_word && !line_.is_comment) {
      part.remove_prefix(std::min(part.find_first_not_of(" \t\r"), part.size()));
      line_.is_comment = part.starts_with('%');
    }
    if (line_.is_comment) {
      return;
    }
    bool is_after_blank = line_.is_after_blank;
    for (const char c : part) {
      const bool is_in_word = !is_blank(c);
      count_.words += is_in_word && is_after_blank ? 1 : 0;
      is_after_blank = !is_in_word;
    }
    line_.is_after_blank = is_after_blank;
    line_.has_word = line_.has_word || !part.empty();
  }

  LineCount count_;
  Line line_;
};

LineCount count_lines(std::string_view text) {
  LineCounter counter;
  counter.add(text);
  return counter.all();
}

bool is_text(unsigned char c) {
  return c >= ' ' || c == '\t';
}

}  // namespace

Status to_status(const std::string& file, const TextFault& fault) {
  if (fault.line < 0) {
    return Status::error(Code::invalid_argument, fault.reason);
  }
  std::string location = file;
  if (fault.line > 0) {
    location += fmt::format(":{}", fault.line);
  }
  if (fault.line > 0 && fault.column > 0) {
    location += fmt::format(":{}", fault.column);
  }
  return Status::error(Code::invalid_argument, fmt::format("{}: {}", location, fault.reason));
}

Status agree_on_fault(rma::Team& team, const std::string& file,
                      const std::optional<TextFault>& own) {
  return agree_on_input(team, own ? to_status(file, *own) : Status(), own ? own->line : 0);
}

std::optional<TextFault> for_each_line(
    const TextPiece& piece,
    const std::function<std::optional<TextFault>(std::string_view, std::int64_t)>& body) {
  std::string_view rest = piece.text;
  for (std::int64_t number = piece.first_line; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line.empty() && line.back() == '\r') {
      line.remove_suffix(1);
    }
    if (line.size() > longest_line) {
      return TextFault{number, 0,
                       fmt::format("the line has more than {} characters", longest_line)};
    }
    const auto strange = std::find_if_not(line.begin(), line.end(), is_text);
    if (strange != line.end()) {
      return TextFault{
          number, strange - line.begin() + 1,
          fmt::format("byte {:#04x} is not text", static_cast<unsigned char>(*strange))};
    }
    if (auto fault = body(line, number)) {
      return fault;
    }
  }
  return std::nullopt;
}

Result<LineStream> LineStream::open(const std::string& file) {
  // zlib opens folders, and reports no reason for an error. Without O_NONBLOCK, opening a pipe
  // without a writer would block.
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    return unreadable(file, reason_of(errno));
  }
  struct stat status = {};
  if (::fstat(descriptor, &status) == 0 && !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return unreadable(file, "is not a regular file");
  }
  gzFile_s* const stream = gzdopen(descriptor, "rb");
  if (stream == nullptr) {
    ::close(descriptor);
    return unreadable(file, "no memory to read it");
  }
  LineStream opened(file, stream, status.st_size);
  gzbuffer(stream, 1 << 13);
  opened.buffer_.resize(block_bytes + longest_line + 2);
  opened.fill();
  return opened;
}

bool LineStream::is_compressed() const noexcept {
  return gzdirect(file_.get()) == 0;
}

double LineStream::max_bytes() const noexcept {
  constexpr double deflated_most = 1032;  // maximum compression ratio, of a single repeated byte
  return static_cast<double>(size_) * (is_compressed() ? deflated_most : 1);
}

// Reads into the free part of the buffer. Errors of the compressed data are reported after the data
// before them has been used. zlib withholds what it inflated in the failed call, so that part is
// short.
void LineStream::fill() {
  constexpr std::size_t max_at_once = 1 << 13;
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
            buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
  end_ -= begin_;
  begin_ = 0;
  while (!is_at_end_ && failure_.empty() && end_ < buffer_.size()) {
    const std::size_t room = std::min(buffer_.size() - end_, max_at_once);
    const int got = gzread(file_.get(), buffer_.data() + end_, static_cast<unsigned>(room));
    int error = Z_OK;
    const char* const text = gzerror(file_.get(), &error);
    if (error == Z_BUF_ERROR) {
      failure_ = "the compressed data end too early after this line";
    } else if (got < 0) {
      const std::string reason = error == Z_ERRNO ? reason_of(errno) : reason_of(std::string(text));
      failure_ = fmt::format("after this line: {}", reason);
    }
    is_at_end_ = got == 0;
    end_ += static_cast<std::size_t>(std::max(got, 0));
  }
}

Status LineStream::broken() const {
  return to_status(name_, {lines() + 1, 0, failure_});
}

TextPiece LineStream::take(std::size_t bytes) noexcept {
  const TextPiece taken{waiting().substr(0, bytes), count_.lines + 1, count_.words};
  begin_ += taken.text.size();
  bytes_ += std::ssize(taken.text);
  count_ += count_lines(taken.text);
  return taken;
}

Result<std::optional<std::string_view>> LineStream::next_line() {
  if (waiting().find('\n') == std::string_view::npos) {
    fill();
    if (!failure_.empty() && waiting().find('\n') == std::string_view::npos) {
      return broken();
    }
  }
  if (waiting().empty()) {
    return std::optional<std::string_view>();
  }
  const std::size_t end = waiting().find('\n');
  const TextPiece piece = take(end == std::string_view::npos ? end : end + 1);
  std::string_view found;
  const auto fault = for_each_line(piece, [&](std::string_view line, std::int64_t) {
    found = line;
    return std::optional<TextFault>();
  });
  if (fault) {
    return to_status(name_, *fault);
  }
  return std::optional<std::string_view>(found);
}

Result<TextPiece> LineStream::next_piece(std::size_t bytes) {
  if (end_ - begin_ < bytes) {
    fill();
  }
  const std::string_view text = waiting().substr(0, bytes);
  const bool is_rest = is_at_end_ && failure_.empty() && text.size() == waiting().size();
  const std::size_t last = text.rfind('\n');
  if (!failure_.empty() && last == std::string_view::npos) {
    return broken();
  }
  if (!is_rest && last == std::string_view::npos) {
    return to_status(
        name_, {lines() + 1, 0, fmt::format("the line has more than {} characters", longest_line)});
  }
  return take(is_rest ? text.size() : last + 1);
}

namespace {

// A plain file, read by byte positions.
class PlainFile {
 public:
  static Result<PlainFile> open(const std::string& file) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
      return unreadable(file, reason_of(errno));
    }
    struct stat status = {};
    if (::fstat(descriptor, &status) != 0) {
      const int error = errno;
      ::close(descriptor);
      return unreadable(file, reason_of(error));
    }
    return PlainFile(file, descriptor, status.st_size);
  }
  PlainFile(PlainFile&& other) noexcept
      : name_(std::move(other.name_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        size_(other.size_) {}
  PlainFile& operator=(PlainFile&&) = delete;
  ~PlainFile() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }

  [[nodiscard]] std::int64_t size() const noexcept { return size_; }

  // Fills all of `to`: an error if the file has become shorter.
  Status read(std::int64_t at, std::span<char> to) const {
    while (!to.empty()) {
      const ssize_t got = ::pread(descriptor_, to.data(), to.size(), at);
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got <= 0) {
        return unreadable(name_, got == 0 ? "became shorter during reading" : reason_of(errno));
      }
      to = to.subspan(static_cast<std::size_t>(got));
      at += got;
    }
    return {};
  }

  // Calls `body(text)` for the bytes from `begin` to `end`, block by block.
  template <class Body>
  Status for_each_block(std::int64_t begin, std::int64_t end, Body&& body) const {
    std::vector<char> block(block_bytes);
    while (begin < end) {
      const auto bytes = static_cast<std::size_t>(
          std::min<std::int64_t>(end - begin, static_cast<std::int64_t>(block.size())));
      TESSERA_RETURN_IF_ERROR(read(begin, std::span(block).first(bytes)));
      begin += static_cast<std::int64_t>(bytes);
      if (!body(std::string_view(block.data(), bytes))) {
        break;
      }
    }
    return {};
  }

  // The start of the first line that begins at `from` or later; a line begins at `start`, too.
  [[nodiscard]] Result<std::int64_t> line_start(std::int64_t start, std::int64_t from) const {
    if (from <= start) {
      return start;
    }
    std::int64_t at = from - 1;
    bool is_found = false;
    TESSERA_RETURN_IF_ERROR(for_each_block(at, size_, [&](std::string_view text) {
      const std::size_t end = text.find('\n');
      is_found = end != std::string_view::npos;
      at += static_cast<std::int64_t>(is_found ? end + 1 : text.size());
      return !is_found;
    }));
    return at;
  }

 private:
  PlainFile(std::string name, int descriptor, std::int64_t size)
      : name_(std::move(name)), descriptor_(descriptor), size_(size) {}

  std::string name_;
  int descriptor_;
  std::int64_t size_;
};

// This rank's lines of a plain file.
struct LineRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  LineCount count;
};

Result<LineRange> find_share(const PlainFile& file, std::int64_t start, std::int64_t rank,
                             std::int64_t ranks) {
  const std::int64_t length = std::max<std::int64_t>(file.size() - start, 0);
  const auto boundary = [&](std::int64_t part) {
    return start + length / ranks * part + length % ranks * part / ranks;
  };
  LineRange share;
  TESSERA_ASSIGN_OR_RETURN(share.begin, file.line_start(start, boundary(rank)));
  TESSERA_ASSIGN_OR_RETURN(share.end, file.line_start(start, boundary(rank + 1)));
  LineCounter counter;
  TESSERA_RETURN_IF_ERROR(file.for_each_block(share.begin, share.end, [&](std::string_view text) {
    counter.add(text);
    return true;
  }));
  share.count = counter.all();
  return share;
}

// Passes the lines of a share to the reader, in pieces.
Status read_share(const PlainFile& file, const LineRange& share, LineCount before,
                  const PieceReader& read, std::optional<TextFault>& fault) {
  std::vector<char> block(block_bytes);
  std::int64_t at = share.begin;
  while (at < share.end && !fault) {
    const auto bytes = static_cast<std::size_t>(
        std::min<std::int64_t>(share.end - at, static_cast<std::int64_t>(block.size())));
    TESSERA_RETURN_IF_ERROR(file.read(at, std::span(block).first(bytes)));
    std::string_view text(block.data(), bytes);
    // Without a line end the reader sees a line that is too long, and reports it.
    const std::size_t last = text.rfind('\n');
    const bool is_rest = at + static_cast<std::int64_t>(bytes) == share.end;
    text = is_rest || last == std::string_view::npos ? text : text.substr(0, last + 1);
    fault = read({text, before.lines + 1, before.words});
    at += static_cast<std::int64_t>(text.size());
    before += count_lines(text);
  }
  return {};
}

// This rank's own status as a fault, so that it can be compared with others.
std::optional<TextFault> as_fault(const Status& status) {
  return status.ok() ? std::nullopt : std::optional(TextFault{-1, 0, status.message()});
}

Result<std::int64_t> distribute_plain(rma::Job& job, const std::string& name,
                                      const TextStart& start, const PieceReader& read) {
  rma::Team team = job.world();
  TESSERA_RETURN_IF_ERROR(check_same_file(team, name, mark_of_file(name)));
  auto file = PlainFile::open(name);
  TESSERA_RETURN_IF_ERROR(agree_on_fault(team, name, as_fault(file.status())));
  auto share = find_share(*file, start.byte, team.rank().value, team.size());
  TESSERA_RETURN_IF_ERROR(agree_on_fault(team, name, as_fault(share.status())));
  TESSERA_ASSIGN_OR_RETURN(const auto counts, team.allgather_value(share->count));
  LineCount before{start.line - 1, start.words};
  LineCount all = before;
  for (std::int32_t rank = 0; rank < team.size(); ++rank) {
    const LineCount here = counts[static_cast<std::size_t>(rank)];
    before += rank < team.rank().value ? here : LineCount();
    all += here;
  }
  std::optional<TextFault> fault;
  Status status = read_share(*file, *share, before, read, fault);
  fault = status.ok() ? fault : as_fault(status);
  TESSERA_RETURN_IF_ERROR(agree_on_fault(team, name, fault));
  return all.lines;
}

// What rank 0 sends to all in each round of distribute_compressed().
struct RoundState {
  bool is_last = false;
  std::int32_t pieces = 0;  // distributed, to the first ranks
  std::int64_t lines = 0;   // of the file, so far
};
// What it sends to a rank with its piece.
struct PieceHead {
  std::int64_t bytes = 0;
  std::int64_t first_line = 1;
  std::int64_t words_before = 0;
};

// Memory for pieces on all ranks: two each, so that one round is distributed while another is read.
class PieceBuffers {
 public:
  static Result<PieceBuffers> create(rma::Job& job) {
    const std::int64_t ranks = job.world().size();
    TESSERA_ASSIGN_OR_RETURN(const auto distribution, arrays::Distribution::regular(
                                                          {ranks * 2 * piece_buffer_bytes}, ranks));
    TESSERA_ASSIGN_OR_RETURN(auto bytes, arrays::Array<std::uint8_t>::create(
                                             job, distribution, {.name = "pieces of a file"}));
    return PieceBuffers(std::move(bytes));
  }

  Status put(std::int32_t rank, std::int64_t round, const TextPiece& piece) {
    std::vector<std::uint8_t> message(sizeof(PieceHead) + piece.text.size());
    const PieceHead head{std::ssize(piece.text), piece.first_line, piece.words_before};
    std::memcpy(message.data(), &head, sizeof head);
    std::memcpy(message.data() + sizeof head, piece.text.data(), piece.text.size());
    const std::int64_t at = (rank * std::int64_t{2} + round % 2) * piece_buffer_bytes;
    return bytes_.put(arrays::Box({at}, {at + std::ssize(message)}), message);
  }
  using Access = arrays::LocalAccess<std::uint8_t>;
  [[nodiscard]] Result<Access> own() { return bytes_.local(); }
  // The piece in this rank's buffer of a round, as long as it has access to them.
  [[nodiscard]] static TextPiece piece_in(const Access& buffers, std::int64_t round) {
    const auto* const buffer =
        reinterpret_cast<const char*>(&buffers.raw()[{round % 2 * piece_buffer_bytes}]);
    PieceHead head;
    std::memcpy(&head, buffer, sizeof head);
    return {{buffer + sizeof head, static_cast<std::size_t>(head.bytes)},
            head.first_line,
            head.words_before};
  }
  // Collective. After it, all ranks see what was put before.
  Status sync() { return bytes_.sync(); }

 private:
  static constexpr std::int64_t piece_buffer_bytes = piece_bytes + sizeof(PieceHead);
  explicit PieceBuffers(arrays::Array<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}
  arrays::Array<std::uint8_t> bytes_;
};

// On rank 0: sends a piece to each rank, in their order.
Status distribute_round(LineStream& stream, PieceBuffers& buffers, std::int64_t round,
                        std::int32_t ranks, RoundState& state) {
  for (state.pieces = 0; state.pieces < ranks; ++state.pieces) {
    TESSERA_ASSIGN_OR_RETURN(const TextPiece piece, stream.next_piece(piece_bytes));
    TESSERA_RETURN_IF_ERROR(buffers.put(state.pieces, round, piece));
    state.is_last = piece.text.empty();
  }
  state.lines = stream.lines();
  return {};
}

Result<std::int64_t> distribute_compressed(rma::Job& job, LineStream* stream,
                                           const std::string& name, const PieceReader& read) {
  rma::Team team = job.world();
  TESSERA_ASSIGN_OR_RETURN(PieceBuffers buffers, PieceBuffers::create(job));
  std::optional<TextFault> fault;
  RoundState state;
  for (std::int64_t round = 0; !state.is_last; ++round) {
    Status distributed;
    if (stream != nullptr) {
      distributed = distribute_round(*stream, buffers, round, team.size(), state);
      state.is_last = state.is_last || !distributed.ok();
    }
    // After this all have read the round before, whose buffers are used next.
    TESSERA_RETURN_IF_ERROR(buffers.sync());
    TESSERA_RETURN_IF_ERROR(agree_on_fault(team, name, fault));
    TESSERA_RETURN_IF_ERROR(team.broadcast_value(state, rma::TeamRank{0}));
    if (team.rank().value < state.pieces) {
      TESSERA_ASSIGN_OR_RETURN(const auto own, buffers.own());
      fault = read(PieceBuffers::piece_in(own, round));
    }
    if (state.is_last) {
      // Faults in pieces that were distributed come before faults after them.
      TESSERA_RETURN_IF_ERROR(agree_on_fault(team, name, fault));
      TESSERA_RETURN_IF_ERROR(agree_on_fault(team, name, as_fault(distributed)));
    }
  }
  return state.lines;
}

}  // namespace

Result<std::int64_t> distribute_lines(rma::Job& job, const std::string& file, LineStream* at_first,
                                      const TextStart& start, const PieceReader& read) {
  return start.is_compressed ? distribute_compressed(job, at_first, file, read)
                             : distribute_plain(job, file, start, read);
}

}  // namespace tessera::apps::spmv
