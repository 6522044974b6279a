// SPDX-License-Identifier: BSD-3-Clause
//
// LineRelay: passes what ranks print on to the launcher's own output, line by line, so that lines
// of several ranks do not mix. Programs that write into a pipe or a file do so in blocks of a few
// KiB, which end anywhere.
//
// A stream of the launcher that is a terminal is left to the ranks themselves: they write lines
// there, and may ask it for its width.
#pragma once

#include <poll.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rma/node/fd_passing.hpp"
#include "rma/result.hpp"

namespace tessera::rma::detail {

class LineRelay {
 public:
  /// With pipes for the standard output and standard error of each rank. Errors: limit_exceeded.
  static Result<LineRelay> create(std::int32_t ranks);

  /// In a rank's process before exec: makes its pipes its output.
  void connect(std::int32_t rank) const noexcept;
  /// In the launcher after fork: the writing ends are the rank's alone.
  void started(std::int32_t rank) noexcept;

  /// Adds what is to be waited for.
  void add_to(std::vector<pollfd>& list) const;
  /// Passes on what has come, whole lines only. Does not wait for more.
  void relay();
  /// Passes on the rest, with or without a line end.
  void finish();

  /// The system's error of the first write to standard output that failed; 0 while none has. A
  /// reader that has gone (`| head`) wants no more, which is no loss.
  [[nodiscard]] int lost() const noexcept { return lost_; }

 private:
  struct Stream {
    std::int32_t rank = 0;
    int to = -1;  ///< descriptor of the launcher's, and of the rank's
    Descriptor reading;
    Descriptor writing;
    std::string pending = {};  ///< the beginning of a line
  };
  bool read_some(Stream& stream);
  void write_all(int to, std::string_view text);

  std::vector<Stream> streams_;
  int lost_ = 0;
};

}  // namespace tessera::rma::detail
