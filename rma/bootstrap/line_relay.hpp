// SPDX-License-Identifier: BSD-3-Clause
//
// LineRelay: forwards the output of ranks to the launcher's own output line by line, so that lines
// of several ranks do not mix. Programs that write to a pipe or a file do so in blocks of a few
// KiB, which may end within a line.
//
// If a stream of the launcher is a terminal, the ranks use it directly: they write lines there, and
// may query its width. This does not hold for lines that are tagged with their ranks.
//
// Nothing here waits. While the launcher's output has no room, nothing is read for it, so that the
// ranks wait for their reader as they would without a launcher.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "rma/base/fd_passing.hpp"
#include "rma/base/result.hpp"

namespace tessera::rma::detail {

class LineRelay {
 public:
  /// Creates pipes for the standard output and standard error of each rank. With `is_tagged` lines
  /// begin with "[rank] ". Errors: limit_exceeded.
  static Result<LineRelay> create(std::int32_t ranks, bool is_tagged);

  /// Called in a rank's process before exec: makes the pipes its output.
  void connect(std::int32_t rank) const noexcept;
  /// Called in the launcher after fork: closes the writing ends, which belong to the rank.
  void started(std::int32_t rank) noexcept;

  /// Adds the descriptors to wait for: output of the ranks, and room in the launcher's output.
  void add_to(std::vector<pollfd>& list) const;
  /// Forwards what has arrived, whole lines only.
  void relay();
  /// Called after all ranks have ended: forwards the rest, with or without a line end. False while
  /// the launcher's output has no room for all of it.
  bool finish();
  /// Stops waiting for room. The remaining output is lost.
  void give_up();

  /// The system's error of the first failed write to standard output; EINTR after give_up(); 0 if
  /// there is none. A reader that is gone (`| head`) is not an error.
  [[nodiscard]] int lost() const noexcept { return lost_; }

 private:
  struct Output {
    int to = -1;
    std::string waiting = {};  ///< output that waits for room
  };
  struct Stream {
    std::int32_t rank = 0;
    int to = -1;             ///< the rank's descriptor
    std::size_t output = 0;  ///< index of the launcher's output
    Descriptor reading;
    Descriptor writing;
    std::string pending = {};  ///< the beginning of a line
    bool is_in_line = false;   ///< the beginning of this line was forwarded already
  };
  std::size_t output_to(int descriptor);
  [[nodiscard]] bool has_room(const Stream& stream) const;
  bool read_some(Stream& stream);
  void write_some(Output& output);
  void pass_on(Stream& stream, std::size_t bytes);

  std::vector<Output> outputs_;
  std::vector<Stream> streams_;
  bool is_tagged_ = false;
  std::size_t first_ = 0;  ///< the stream to read first in the next call
  int lost_ = 0;
};

}  // namespace tessera::rma::detail
