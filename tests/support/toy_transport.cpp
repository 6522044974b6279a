// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/toy_transport.hpp"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "rma/team.hpp"

namespace tessera::rma::test {
namespace {

using Slice = std::shared_ptr<std::byte>;

template <class Word>
bool copy_word(void* to, const void* from, std::size_t bytes) {
  const auto bits = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  if (bytes != sizeof(Word) || bits % sizeof(Word) != 0) {
    return false;
  }
  __atomic_store_n(static_cast<Word*>(to),
                   __atomic_load_n(static_cast<const Word*>(from), __ATOMIC_ACQUIRE),
                   __ATOMIC_RELEASE);
  return true;
}

// Aligned words are loaded and stored whole. Only one side may be aligned, so the copy goes through
// a local word.
void copy_bytes(void* to, const void* from, std::size_t bytes) {
  if (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) {
    alignas(8) std::byte word[8];
    const bool loaded =
        copy_word<std::uint8_t>(word, from, bytes) || copy_word<std::uint16_t>(word, from, bytes) ||
        copy_word<std::uint32_t>(word, from, bytes) || copy_word<std::uint64_t>(word, from, bytes);
    if (!loaded) {
      std::memcpy(word, from, bytes);
    }
    const bool stored =
        copy_word<std::uint8_t>(to, word, bytes) || copy_word<std::uint16_t>(to, word, bytes) ||
        copy_word<std::uint32_t>(to, word, bytes) || copy_word<std::uint64_t>(to, word, bytes);
    if (!stored) {
      std::memcpy(to, word, bytes);
    }
    return;
  }
  std::memmove(to, from, bytes);
}

class ToySegment final : public Segment {
 public:
  ToySegment(std::vector<Slice> slices, std::size_t own, std::shared_ptr<ToyCounts> counts)
      : slices_(std::move(slices)), own_(own), counts_(std::move(counts)) {}

  [[nodiscard]] std::byte* local() const noexcept override { return slices_[own_].get(); }
  [[nodiscard]] std::byte* at(const Target& target) const {
    return slices_[static_cast<std::size_t>(target.rank.value)].get() + target.offset;
  }
  Status begin_access() override {
    ++counts_->begun_accesses;
    return {};
  }
  Status end_access() override {
    ++counts_->ended_accesses;
    return {};
  }
  Status free() override { return {}; }

 private:
  std::vector<Slice> slices_;
  std::size_t own_;
  std::shared_ptr<ToyCounts> counts_;
};

class ToyEndpoint final : public Endpoint {
 public:
  Status put(const Target& to, const void* from, const CopyShape& shape,
             Completion& done) override {
    copy_bytes(static_cast<ToySegment*>(to.segment)->at(to), from, shape.run_bytes);
    done.end(Status());
    return {};
  }
  Status get(void* to, const Target& from, const CopyShape& shape, Completion& done) override {
    copy_bytes(to, static_cast<ToySegment*>(from.segment)->at(from), shape.run_bytes);
    done.end(Status());
    return {};
  }
  Status fence() override { return {}; }
};

class ToyTransport final : public Transport, public MemoryTransport, public DataTransport {
 public:
  explicit ToyTransport(std::shared_ptr<ToyCounts> counts) : counts_(std::move(counts)) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "toy"; }
  [[nodiscard]] const Capabilities& capabilities() const noexcept override { return can_; }
  [[nodiscard]] MemoryTransport* memory() noexcept override { return this; }
  [[nodiscard]] DataTransport& data() noexcept override { return *this; }
  [[nodiscard]] bool reaches(WorldRank) const override { return true; }

  Result<std::unique_ptr<Segment>> allocate(Team& team, std::size_t my_bytes,
                                            const RegionOptions&) override {
    const Slice own(my_bytes > 0 ? static_cast<std::byte*>(std::calloc(1, my_bytes)) : nullptr,
                    std::free);
    TESSERA_RETURN_IF_ERROR(
        team.agree(my_bytes > 0 && !own ? Status::error(Code::no_memory, "no heap memory is left")
                                        : Status()));
    struct Offer {
      const Slice* slice;
      std::int64_t process;
    };
    TESSERA_ASSIGN_OR_RETURN(const std::vector<Offer> offers,
                             team.allgather_value(Offer{&own, getpid()}));
    std::vector<Slice> slices;
    for (const Offer& each : offers) {
      if (each.process != getpid()) {
        return Status::error(Code::unsupported, "the toy connects threads of one process only");
      }
      slices.push_back(*each.slice);
    }
    // `own` must exist until all have copied it.
    TESSERA_RETURN_IF_ERROR(team.barrier());
    return std::unique_ptr<Segment>(std::make_unique<ToySegment>(
        std::move(slices), static_cast<std::size_t>(team.rank().value), counts_));
  }

  Result<std::unique_ptr<Endpoint>> connect(WorldRank) override {
    return std::unique_ptr<Endpoint>(std::make_unique<ToyEndpoint>());
  }

 private:
  Capabilities can_;
  std::shared_ptr<ToyCounts> counts_;
};

}  // namespace

TransportFactory toy_transport(std::shared_ptr<ToyCounts> counts) {
  if (!counts) {
    counts = std::make_shared<ToyCounts>();
  }
  return {"toy", [counts](const TransportContext&) -> Result<std::unique_ptr<Transport>> {
            return std::unique_ptr<Transport>(std::make_unique<ToyTransport>(counts));
          }};
}

}  // namespace tessera::rma::test
