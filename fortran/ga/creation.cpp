// SPDX-License-Identifier: BSD-3-Clause
//
// Arrays in one step; their end; memory of the program's own.
#include "fortran/ga/creation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "arrays/array.hpp"
#include "fortran/ga/cut.hpp"
#include "fortran/ga/operations.hpp"
#include "fortran/ga/session.hpp"
#include "fortran/ga/settings.hpp"

namespace tessera::ga {

namespace {

using arrays::ArrayBase;
using arrays::Distribution;

std::int64_t own_bytes(const Record& record) {
  const ArrayBase& array = record.array();
  return array.distribution().local_elements(array.team().rank()) *
         static_cast<std::int64_t>(array.element_bytes());
}

/// False if some member would exceed its limit.
Result<bool> fits_limit(const Session& session, Group& group, std::int64_t bytes) {
  if (session.limit < 0) {
    return true;
  }
  const std::int32_t own = session.allocated + bytes <= session.limit ? 1 : 0;
  TESSERA_ASSIGN_OR_RETURN(const std::int32_t all, group.team.allreduce(own, rma::Reduction::min));
  return all == 1;
}

Result<Starts> starts_of(const Plan& plan, std::int64_t processes) {
  if (plan.starts.is_given()) {
    return plan.starts;
  }
  if (plan.layout != ArrayLayout::regular) {
    return even_starts(plan.extents, plan.block);
  }
  const auto holders = static_cast<std::int64_t>(plan.holders.size());
  const std::int64_t owners = holders == 0 ? processes : holders;
  return environment_options().cuts_for_surface ? surface_cut(plan.extents, plan.chunk, owners)
                                                : default_cut(plan.extents, plan.chunk, owners);
}

std::string name_of(const Record& record) {
  return record.plan.name.empty() ? fmt::format("{}", record.handle()) : record.plan.name;
}

/// False if there is no memory, after a warning.
Result<bool> keep(Record& record, Result<ArrayBase> made) {
  if (made.status().code() == Code::no_memory) {
    Session::current()->job().log().warning(made.status().describe());
    return false;
  }
  TESSERA_RETURN_IF_ERROR(made.status());
  TESSERA_ASSIGN_OR_RETURN(auto array, typed_array(std::move(made).take()));
  record.set_array(std::move(array));
  Session& session = *Session::current();
  session.allocated += own_bytes(record);
  session.most_allocated = std::max(session.most_allocated, session.allocated);
  return true;
}

/// Adds a record, lets `act` allocate it, and removes it again if that fails. Returns the handle or
/// 0.
template <class Act>
Result<std::int64_t> make(Plan plan, std::string_view name, const Act& act) {
  if (Session::current() == nullptr) {
    return not_running();
  }
  Record& record = Records::add();
  record.plan = std::move(plan);
  name_record(record, name);
  Result<bool> made = act(record);
  if (made.ok() && *made) {
    return record.handle();
  }
  Records::remove(record);
  TESSERA_RETURN_IF_ERROR(made.status());
  return 0;
}

Result<std::int64_t> make(Plan plan, std::string_view name) {
  return make(std::move(plan), name, allocate_record);
}

Plan plan_of(Type type, const Extents& extents, const Extents& ghosts, Group& group) {
  Plan plan;
  plan.type = type;
  plan.extents = extents;
  plan.ghosts = ghosts;
  plan.group = &group;
  return plan;
}

}  // namespace

Result<std::shared_ptr<ArrayBase>> typed_array(ArrayBase made) {
  if (!made.element().type) {
    return std::make_shared<ArrayBase>(std::move(made));
  }
  return rma::dispatch(
      *made.element().type, [&]<class T>(rma::Tag<T>) -> Result<std::shared_ptr<ArrayBase>> {
        TESSERA_ASSIGN_OR_RETURN(auto array, arrays::Array<T>::of(std::move(made)));
        return std::make_shared<arrays::Array<T>>(std::move(array));
      });
}

void name_record(Record& record, std::string_view name) {
  record.plan.name = name.substr(0, max_name);
}

Result<bool> allocate_record(Record& record) {
  Session& session = *Session::current();
  Plan& plan = record.plan;
  if (plan.extents.is_empty()) {
    return Status::error(Code::invalid_argument,
                         record.describe() + " has no dimensions and type yet")
        .hint("call GA_Set_data before GA_Allocate");
  }
  plan.group = plan.group == nullptr ? &session.default_group() : plan.group;
  TESSERA_RETURN_IF_ERROR(plan.group->check_member());
  TESSERA_ASSIGN_OR_RETURN(const auto kind, element_kind(plan.type));
  TESSERA_ASSIGN_OR_RETURN(record.starts, starts_of(plan, plan.group->size()));
  TESSERA_ASSIGN_OR_RETURN(const Distribution distribution,
                           distribution_of(plan, record.starts, plan.group->size()));
  const std::int64_t bytes =
      distribution.local_elements(plan.group->team.rank()) * static_cast<std::int64_t>(kind.bytes);
  TESSERA_ASSIGN_OR_RETURN(const bool fits, fits_limit(session, *plan.group, bytes));
  if (!fits) {
    return false;
  }
  arrays::ArrayOptions options;
  options.name = name_of(record);
  options.team = plan.group->team;
  return keep(record, ArrayBase::create(session.job(), distribution, kind, options));
}

Status deallocate_record(Record& record) {
  Session::current()->allocated -= own_bytes(record);
  Status freed = record.array().free();
  record.set_array(nullptr);
  return freed;
}

Result<std::int64_t> create(Type type, const Extents& extents, const Extents& ghosts,
                            std::string_view name, const Chunk& chunk, Group& group) {
  Plan plan = plan_of(type, extents, ghosts, group);
  plan.chunk = chunk;
  return make(std::move(plan), name);
}

Result<std::int64_t> create_irreg(Type type, const Extents& extents, const Extents& ghosts,
                                  std::string_view name, const Starts& starts, Group& group) {
  TESSERA_RETURN_IF_ERROR(check_starts(starts, extents));
  Plan plan = plan_of(type, extents, ghosts, group);
  plan.starts = starts;
  return make(std::move(plan), name);
}

Result<std::int64_t> duplicate(Record& from, std::string_view name) {
  return make(from.plan, name, allocate_record);
}

Result<bool> overlay(Record& record, Record& base) {
  if (record.is_allocated()) {
    return Status::error(Code::invalid_argument, record.describe() + " is allocated already");
  }
  Plan& plan = record.plan;
  plan.group = plan.group == nullptr ? &base.group() : plan.group;
  TESSERA_ASSIGN_OR_RETURN(const auto kind, element_kind(plan.type));
  TESSERA_ASSIGN_OR_RETURN(record.starts, starts_of(plan, base.group().size()));
  TESSERA_ASSIGN_OR_RETURN(const Distribution distribution,
                           distribution_of(plan, record.starts, base.group().size()));
  return keep(record, ArrayBase::overlay(base.array(), distribution, kind, name_of(record)));
}

Result<bool> destroy(std::int64_t handle) {
  Record* const record = Records::find(handle);
  if (record == nullptr) {
    return false;
  }
  if (record->is_allocated()) {
    TESSERA_RETURN_IF_ERROR(deallocate_record(*record));
  }
  Records::remove(*record);
  Session& session = *Session::current();
  if (const auto memory = session.assembled.extract(handle)) {
    session.given_memory.erase(memory.mapped());
    TESSERA_RETURN_IF_ERROR(session.job().free_local(memory.mapped()));
  }
  return true;
}

Result<void*> getmem(Type type, std::int64_t elements, Group& group) {
  TESSERA_RETURN_IF_ERROR(group.check_member());
  TESSERA_ASSIGN_OR_RETURN(const auto kind, element_kind(type));
  TESSERA_RETURN_IF_ERROR(check_count(elements));
  const auto bytes = static_cast<std::size_t>(elements) * kind.bytes;
  Session& session = *Session::current();
  Result<void*> memory = session.job().allocate_local(std::max<std::size_t>(bytes, 1));
  const Status status = group.team.agree(memory.status());
  if (!status.ok()) {
    if (memory.ok()) {
      TESSERA_RETURN_IF_ERROR(session.job().free_local(*memory));
    }
    return nullptr;
  }
  session.given_memory[*memory] = {type, elements};
  return *memory;
}

Status freemem(void* memory) {
  Session* const session = Session::current();
  if (session == nullptr) {
    return not_running();
  }
  if (session->given_memory.erase(memory) == 0) {
    return Status::error(Code::invalid_argument, "the memory is not from GA_Getmem")
        .hint("an array that was assembled from it frees it when it is destroyed");
  }
  return session->job().free_local(memory);
}

Result<std::int64_t> assemble_duplicate(Record& from, std::string_view name, void* memory) {
  Session& session = *Session::current();
  const auto found = session.given_memory.find(memory);
  if (found == session.given_memory.end()) {
    return Status::error(Code::invalid_argument, "the memory is not from GA_Getmem");
  }
  Plan plan = from.plan;
  plan.type = found->second.type;
  const std::int64_t elements = found->second.elements;
  TESSERA_ASSIGN_OR_RETURN(
      const std::int64_t handle, make(std::move(plan), name, [&](Record& record) -> Result<bool> {
        TESSERA_ASSIGN_OR_RETURN(const auto kind, element_kind(record.type()));
        record.starts = from.starts;
        arrays::ArrayOptions options;
        options.name = name_of(record);
        options.team = from.group().team;
        return keep(record,
                    ArrayBase::attach(session.job(), from.array().distribution(), kind, memory,
                                      static_cast<std::size_t>(elements) * kind.bytes, options));
      }));
  if (handle != 0) {
    session.assembled[handle] = memory;
  }
  return handle;
}

}  // namespace tessera::ga
