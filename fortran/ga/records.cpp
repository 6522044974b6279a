// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/ga/records.hpp"

#include <fmt/format.h>

#include "fortran/ga/session.hpp"

namespace tessera::ga {

namespace {

// The owner of the records; Records::slots is where lookups find them. Not destroyed if a program
// ends without ga_terminate: freeing arrays would wait for other processes.
std::vector<std::unique_ptr<Record>>& owned_records() {
  static auto* const owned = new std::vector<std::unique_ptr<Record>>;
  return *owned;
}
std::vector<Record*>& slot_list() {
  static auto* const list = new std::vector<Record*>;
  return *list;
}

}  // namespace

constinit Record** Records::slots = nullptr;
constinit std::uint64_t Records::count = 0;

Status Group::check_member() const {
  if (Session::current() == nullptr) {
    return not_running();
  }
  if (!has_me()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("this process is not a member of group {}", number))
        .hint("only members take part in a group's operations; GA_Pgroup_nodeid is -1 on others");
  }
  return {};
}

Extents Starts::blocks(int ndims) const {
  Extents counts = Extents::zeros(ndims);
  for (int dim = 0; dim < ndims; ++dim) {
    counts[dim] = static_cast<std::int64_t>(of[static_cast<std::size_t>(dim)].size());
  }
  return counts;
}

std::string Record::describe() const {
  return fmt::format("array '{}' (handle {})", plan.name, handle_);
}

Record& Records::add() {
  auto& owned = owned_records();
  auto& list = slot_list();
  std::size_t slot = 0;
  while (slot < owned.size() && owned[slot] != nullptr) {
    ++slot;
  }
  if (slot == owned.size()) {
    owned.emplace_back();
    list.push_back(nullptr);
  }
  static std::int64_t made = 0;
  owned[slot] = std::make_unique<Record>(first_handle + static_cast<std::int64_t>(slot), made++);
  list[slot] = owned[slot].get();
  slots = list.data();
  count = list.size();
  return *owned[slot];
}

void Records::remove(const Record& record) noexcept {
  const auto slot = static_cast<std::size_t>(record.handle() - first_handle);
  slot_list()[slot] = nullptr;
  owned_records()[slot].reset();
}

std::vector<Record*> Records::all() {
  std::vector<Record*> found;
  for (Record* const record : slot_list()) {
    if (record != nullptr) {
      found.push_back(record);
    }
  }
  return found;
}

void Records::clear() noexcept {
  slots = nullptr;
  count = 0;
  slot_list().clear();
  owned_records().clear();
}

}  // namespace tessera::ga
