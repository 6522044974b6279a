// SPDX-License-Identifier: BSD-3-Clause
#include "bench/baselines/verbs_baseline.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "bench/baselines/mapping.hpp"
#include "bench/baselines/verbs_loop.hpp"
#include "bench/support/transfer.hpp"

namespace tessera::bench {
namespace {

constexpr int target = 1;
/// For the data checks, which can't use a case's own buffers.
constexpr std::size_t staging_bytes = std::size_t{256} * 1024;

/// Buffers and connection of ranks 0 and 1.
class Ends {
 public:
  Ends(std::size_t local_bytes, std::size_t remote_bytes)
      : local_(local_bytes + staging_bytes, Sharing::own),
        remote_(remote_bytes, Sharing::shared),
        loop_(local_.bytes(), remote_.bytes()) {}

  [[nodiscard]] VerbsLoop& loop() { return loop_; }
  [[nodiscard]] std::span<std::byte> local() const {
    return local_.bytes().first(local_.bytes().size() - staging_bytes);
  }

  /// Copies to the start of the remote buffer.
  void write_remote(std::span<const std::byte> bytes) {
    for (std::size_t done = 0; done < bytes.size(); done += staging_bytes) {
      const auto part = bytes.subspan(done, std::min(staging_bytes, bytes.size() - done));
      std::memcpy(staging(), part.data(), part.size());
      loop_.write(staging(), done, part.size());
      loop_.wait_for_completions(1);
    }
  }
  /// Copies from the start of the remote buffer.
  void read_remote(std::span<std::byte> bytes) {
    for (std::size_t done = 0; done < bytes.size(); done += staging_bytes) {
      const auto part = bytes.subspan(done, std::min(staging_bytes, bytes.size() - done));
      loop_.read(staging(), done, part.size());
      loop_.wait_for_completions(1);
      std::memcpy(part.data(), staging(), part.size());
    }
  }

 private:
  [[nodiscard]] std::byte* staging() const { return local().data() + local().size(); }

  Mapping local_;
  Mapping remote_;
  VerbsLoop loop_;  // destroyed before its memory
};

class BareVerbs final : public VerbsBaseline {
 public:
  /// `ends` on ranks 0 and 1.
  BareVerbs(RankGroup& group, const BaselineOptions& options, std::unique_ptr<Ends> ends)
      : group_(group), options_(options), is_origin_(group.rank() == 0), ends_(std::move(ends)) {}
  ~BareVerbs() override {
    group_.barrier();  // rank 1's memory must exist until rank 0 has finished
  }
  BareVerbs(const BareVerbs&) = delete;
  BareVerbs& operator=(const BareVerbs&) = delete;

  [[nodiscard]] std::string_view name() const override { return "bare loop"; }
  [[nodiscard]] std::optional<Candidate> candidate(const Case& c) override {
    const bool is_copy = c.operation == Operation::put || c.operation == Operation::get;
    return is_copy && c.layout == Layout::contiguous ? stream(c.operation, c.run_bytes, 1)
                                                     : std::nullopt;
  }
  [[nodiscard]] std::optional<Candidate> stream(Operation operation, std::size_t bytes,
                                                std::int64_t messages) override;
  [[nodiscard]] std::optional<Candidate> put_and_read(std::size_t bytes) override;
  [[nodiscard]] std::optional<Started> started(Operation operation, std::size_t bytes) override;

 private:
  [[nodiscard]] Workspace workspace() const;
  template <class Once>
  [[nodiscard]] std::optional<Candidate> transfer(const Case& c, Once once);
  void start(Operation operation, std::size_t local, std::size_t remote, std::size_t bytes) {
    std::byte* const here = ends_->local().data() + local;
    if (operation == Operation::put) {
      ends_->loop().write(here, remote, bytes);
    } else {
      ends_->loop().read(here, remote, bytes);
    }
  }

  RankGroup& group_;
  BaselineOptions options_;
  bool is_origin_;
  std::unique_ptr<Ends> ends_;
};

Workspace BareVerbs::workspace() const {
  Workspace workspace;
  workspace.remote_bytes = options_.buffer_bytes();
  workspace.rotate = options_.cold;
  if (is_origin_) {
    workspace.local = ends_->local();
    workspace.write_remote = [ends = ends_.get()](auto bytes) { ends->write_remote(bytes); };
    workspace.read_remote = [ends = ends_.get()](auto bytes) { ends->read_remote(bytes); };
  }
  return workspace;
}

template <class Once>
std::optional<Candidate> BareVerbs::transfer(const Case& c, Once once) {
  if (std::max(c.local_span(), c.remote_span()) > options_.buffer_bytes()) {
    return std::nullopt;
  }
  if (is_origin_) {
    return transfer_candidate(std::string(name()), c, workspace(), true, once);
  }
  Candidate candidate;
  candidate.name = name();
  candidate.bytes = c.bytes();
  candidate.run = [](std::int64_t) {};
  return candidate;
}

std::optional<Candidate> BareVerbs::stream(Operation operation, std::size_t bytes,
                                           std::int64_t messages) {
  if (messages > VerbsLoop::depth) {
    return std::nullopt;
  }
  const Case whole = Case::contiguous(operation, bytes * static_cast<std::size_t>(messages));
  return transfer(whole, [=, this](std::size_t local, std::size_t remote) {
    for (std::int64_t i = 0; i < messages; ++i) {
      const std::size_t at = static_cast<std::size_t>(i) * bytes;
      start(operation, local + at, remote + at, bytes);
    }
    ends_->loop().wait_for_completions(messages);
  });
}

std::optional<Candidate> BareVerbs::put_and_read(std::size_t bytes) {
  const Case c = Case::contiguous(Operation::put, bytes);
  return transfer(c, [=, this](std::size_t local, std::size_t remote) {
    std::byte* const here = ends_->local().data();
    ends_->loop().write_silently(here + local, remote, bytes);
    // The read's data go after the buffer; they are not used.
    ends_->loop().read(here + ends_->local().size(), 0, 1);
    ends_->loop().wait_for_completions(1);
  });
}

std::optional<Started> BareVerbs::started(Operation operation, std::size_t bytes) {
  const Case c = Case::contiguous(operation, bytes);
  if (c.local_span() > options_.buffer_bytes()) {
    return std::nullopt;
  }
  Started started;
  started.name = name();
  started.bytes = bytes;
  if (is_origin_) {
    started.start = [=, this] { start(operation, 0, 0, bytes); };
    started.wait = [this] { ends_->loop().wait_for_completions(1); };
    started.verify = [c, places = workspace(), start = started.start, wait = started.wait] {
      return verify_transfer(c, places, [&] {
        start();
        wait();
      });
    };
  }
  return started;
}

}  // namespace

std::unique_ptr<VerbsBaseline> make_verbs_baseline(RankGroup& group, const BaselineOptions& options,
                                                   std::string& missing) {
  if (group.size() < 2) {
    missing = "verbs: needs two ranks";
    return nullptr;
  }
  const bool is_target = group.rank() == target;
  const bool is_end = group.rank() == 0 || is_target;
  std::unique_ptr<Ends> ends;
  std::string problem;
  const auto attempt = [&problem](auto action) {
    try {
      action();
    } catch (const std::exception& error) {
      problem = error.what();
    }
  };
  constexpr std::size_t a_page = 4096;
  VerbsAddress mine;
  if (is_end) {
    attempt([&] {
      ends = std::make_unique<Ends>(is_target ? a_page : options.buffer_bytes(),
                                    is_target ? options.buffer_bytes() : a_page);
      mine = ends->loop().address();
    });
  }
  const VerbsAddress of_origin = group.share(mine, 0);
  const VerbsAddress of_target = group.share(mine, target);
  const auto has_failed = [&] { return group.maximum(problem.empty() ? 0 : 1) > 0; };
  bool is_missing = has_failed();
  if (!is_missing && is_end) {
    attempt([&] { ends->loop().connect(is_target ? of_origin : of_target); });
  }
  is_missing = has_failed() || is_missing;
  if (is_missing) {
    missing = "verbs: " + (problem.empty() ? "another rank could not connect" : problem);
    return nullptr;
  }
  return std::make_unique<BareVerbs>(group, options, std::move(ends));
}

}  // namespace tessera::bench
