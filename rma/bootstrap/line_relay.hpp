// SPDX-License-Identifier: BSD-3-Clause
//
// LineRelay: passes what ranks print on to the launcher's own output, line by line, so that lines
// of several ranks do not mix. Programs that write into a pipe or a file do so in blocks of a few
// KiB, which end anywhere.
//
// A stream of the launcher that is a terminal is left to the ranks themselves: they write lines
// there, and may ask it for its width. Not so if lines are tagged with their ranks.
//
// Nothing here waits. Where the launcher's output takes no more, nothing more is read for it, so
// that the ranks wait for their reader, as they would without a launcher.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "rma/node/fd_passing.hpp"
#include "rma/result.hpp"

namespace tessera::rma::detail {

class LineRelay {
 public:
  /// With pipes for the standard output and standard error of each rank. Tagged lines begin with
  /// "[rank] ". Errors: limit_exceeded.
  static Result<LineRelay> create(std::int32_t ranks, bool is_tagged);

  /// In a rank's process before exec: makes its pipes its output.
  void connect(std::int32_t rank) const noexcept;
  /// In the launcher after fork: the writing ends are the rank's alone.
  void started(std::int32_t rank) noexcept;

  /// Adds what is to be waited for: output of the ranks, and room in the launcher's.
  void add_to(std::vector<pollfd>& list) const;
  /// Passes on what has come, whole lines only.
  void relay();
  /// When all ranks have ended: passes on the rest, with or without a line end. False while the
  /// launcher's output has no room for all.
  bool finish();
  /// Nobody waits for room any longer. What is left is lost.
  void give_up();

  /// The system's error of the first write to standard output that failed, EINTR where that was
  /// given up; 0 while none has. A reader that has gone (`| head`) wants no more, which is no loss.
  [[nodiscard]] int lost() const noexcept { return lost_; }

 private:
  struct Output {
    int to = -1;
    std::string waiting = {};  ///< for room
  };
  struct Stream {
    std::int32_t rank = 0;
    int to = -1;             ///< descriptor of the rank's
    std::size_t output = 0;  ///< of the launcher's
    Descriptor reading;
    Descriptor writing;
    std::string pending = {};  ///< the beginning of a line
    bool is_in_line = false;   ///< the beginning of this line was passed on already
  };
  std::size_t output_to(int descriptor);
  [[nodiscard]] bool has_room(const Stream& stream) const;
  bool read_some(Stream& stream);
  void write_some(Output& output);
  void pass_on(Stream& stream, std::size_t bytes);

  std::vector<Output> outputs_;
  std::vector<Stream> streams_;
  bool is_tagged_ = false;
  std::size_t first_ = 0;  ///< of the streams, whose turn it is
  int lost_ = 0;
};

}  // namespace tessera::rma::detail
