// SPDX-License-Identifier: BSD-3-Clause
#include "rma/profile/rank_profile.hpp"

#include <cstring>
#include <numeric>
#include <type_traits>

namespace tessera::rma::detail {
namespace {

// Both ends run the same program on processors of the same kind, so values are sent as they are in
// memory.
class ProfileWriter {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    append(&value, sizeof value);
  }
  template <class T>
  void put(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(static_cast<std::uint64_t>(values.size()));
    append(values.data(), values.size() * sizeof(T));
  }
  void put(const std::string& text) {
    put(static_cast<std::uint64_t>(text.size()));
    append(text.data(), text.size());
  }
  [[nodiscard]] std::vector<std::byte> take() && { return std::move(bytes_); }

 private:
  void append(const void* from, std::size_t count) {
    const auto* const first = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), first, first + count);
  }
  std::vector<std::byte> bytes_;
};

class ProfileReader {
 public:
  explicit ProfileReader(std::span<const std::byte> bytes) : left_(bytes) {}

  template <class T>
  void get(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    take(&value, sizeof value);
  }
  template <class T>
  void get(std::vector<T>& values) {
    values.resize(count_of(sizeof(T)));
    take(values.data(), values.size() * sizeof(T));
  }
  void get(std::string& text) {
    text.resize(count_of(1));
    take(text.data(), text.size());
  }
  /// The number of items that follow, each of at least `each` bytes.
  [[nodiscard]] std::size_t count_of(std::size_t each) {
    std::uint64_t count = 0;
    get(count);
    is_good_ = is_good_ && count <= left_.size() / each;
    return is_good_ ? static_cast<std::size_t>(count) : 0;
  }
  [[nodiscard]] bool is_good_to_the_end() const noexcept { return is_good_ && left_.empty(); }

 private:
  void take(void* to, std::size_t count) {
    is_good_ = is_good_ && count <= left_.size();
    if (is_good_ && count > 0) {
      std::memcpy(to, left_.data(), count);
      left_ = left_.subspan(count);
    }
  }
  std::span<const std::byte> left_;
  bool is_good_ = true;
};

// All fields of fixed size, in the same order for both directions.
template <class Profile, class Action>
void for_each_plain_field(Profile& profile, const Action& action) {
  action(profile.rank);
  action(profile.node);
  action(profile.start_ns);
  action(profile.stop_ns);
  action(profile.dropped_events);
  action(profile.clock_at_start);
  action(profile.clock_at_stop);
  action(profile.waits);
  action(profile.peers);
  action(profile.events);
}

// The texts and lists of a phase have their own functions below.
template <class Phase, class Action>
void for_each_field_of_phase(Phase& phase, const Action& action) {
  action(phase.path);
  action(phase.time);
  action(phase.left_open);
  action(phase.waits);
}

void put_labelled(ProfileWriter& writer, const std::vector<LabelledWait>& waits) {
  writer.put(static_cast<std::uint64_t>(waits.size()));
  for (const LabelledWait& each : waits) {
    writer.put(each.label);
    writer.put(each.tally);
  }
}

void get_labelled(ProfileReader& reader, std::vector<LabelledWait>& waits) {
  waits.resize(reader.count_of(sizeof(WaitTally)));
  for (LabelledWait& each : waits) {
    reader.get(each.label);
    reader.get(each.tally);
  }
}

void put_phases(ProfileWriter& writer, const std::vector<PhaseTotals>& phases) {
  writer.put(static_cast<std::uint64_t>(phases.size()));
  for (const PhaseTotals& phase : phases) {
    for_each_field_of_phase(phase, [&](const auto& field) { writer.put(field); });
    put_labelled(writer, phase.calls);
    writer.put(static_cast<std::uint64_t>(phase.operations.size()));
    for (const PhaseTotals::Operations& each : phase.operations) {
      writer.put(each.name);
      writer.put(each.by_op);
    }
  }
}

void get_phases(ProfileReader& reader, std::vector<PhaseTotals>& phases) {
  phases.resize(reader.count_of(sizeof(WaitTallies)));
  for (PhaseTotals& phase : phases) {
    for_each_field_of_phase(phase, [&](auto& field) { reader.get(field); });
    get_labelled(reader, phase.calls);
    phase.operations.resize(reader.count_of(sizeof(OpTallies)));
    for (PhaseTotals::Operations& each : phase.operations) {
      reader.get(each.name);
      reader.get(each.by_op);
    }
  }
}

// Without the current bytes of a region: at a job's end they are 0.
template <class Entry, class Action>
void for_each_field(Entry& entry, const Action& action) {
  action(entry.name);
  action(entry.regions);
  action(entry.max_bytes);
  action(entry.tallies);
}

}  // namespace

std::vector<std::byte> RankProfile::pack() const {
  ProfileWriter writer;
  const auto put = [&](const auto& field) { writer.put(field); };
  for_each_plain_field(*this, put);
  writer.put(static_cast<std::uint64_t>(regions.size()));
  for (const RegionCounts::Entry& entry : regions) {
    for_each_field(entry, put);
  }
  put_labelled(writer, labels);
  put_phases(writer, phases);
  return std::move(writer).take();
}

Result<RankProfile> RankProfile::unpack(std::span<const std::byte> bytes) {
  ProfileReader reader(bytes);
  RankProfile profile;
  const auto get = [&](auto& field) { reader.get(field); };
  for_each_plain_field(profile, get);
  profile.regions.resize(reader.count_of(sizeof(KindTallies)));
  for (RegionCounts::Entry& entry : profile.regions) {
    for_each_field(entry, get);
  }
  get_labelled(reader, profile.labels);
  get_phases(reader, profile.phases);
  if (!reader.is_good_to_the_end()) {
    return Status::error(Code::protocol, "a rank's profile is truncated or has extra bytes");
  }
  return profile;
}

std::uint64_t RankProfile::waiting_ns() const noexcept {
  return std::accumulate(
      waits.begin(), waits.end(), std::uint64_t{0},
      [](std::uint64_t sum, const WaitTally& each) { return sum + each.total_ns; });
}

}  // namespace tessera::rma::detail
