// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "fortran/c/job.h"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/cells.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/descriptors.hpp"
#include "fortran/detail/scalars.hpp"

namespace tessera::fapi {
namespace {

using rma::Code;
using rma::Result;
using rma::Status;

/// The texts of a list, without trailing blanks.
std::vector<std::string> texts_of(const Descriptor& list) {
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < list.dim[0].extent; ++i) {
    const auto* const text = static_cast<const char*>(list.base_addr) + i * list.dim[0].sm;
    texts.emplace_back(text, list.elem_len);
    texts.back().erase(texts.back().find_last_not_of(' ') + 1);
  }
  return texts;
}

/// Numbers that team operations support.
Result<std::int64_t> numbers_of(const Descriptor* given, std::string_view what) {
  TESSERA_RETURN_IF_ERROR(check_counted(given, what));
  const std::int64_t type = element_of(*given);
  if (type < 0) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("{} is {}; it must be of a numeric type", what, type_text(*given)));
  }
  return type;
}

/// The team in a variable of kind `team`, or all ranks of the job in one of kind `job`. The module
/// counts kinds from 0.
class AnyTeam {
 public:
  AnyTeam() = default;
  AnyTeam(const AnyTeam&) = delete;
  AnyTeam& operator=(const AnyTeam&) = delete;
  ~AnyTeam() { tessera_team_free(&world_); }

  Status open_in(int kind, const Cell* cell) {
    if (kind_from_number(kind) == HandleKind::team) {
      TESSERA_ASSIGN_OR_RETURN(team_, open<tessera_team>(cell));
      return {};
    }
    TESSERA_ASSIGN_OR_RETURN(tessera_job* const job, open<tessera_job>(cell));
    world_ = capi::make_handle<tessera_team>(job, job->contents->world());
    team_ = world_;
    return {};
  }
  [[nodiscard]] const tessera_team* get() const { return team_; }

 private:
  const tessera_team* team_ = nullptr;
  tessera_team* world_ = nullptr;
};

/// Calls `act` with the elements of `data` as dense memory, and writes them back. Collective if
/// there is an error.
template <class Act>
int on_dense(const char* procedure, int kind, const Cell* cell, Descriptor* data,
             bool is_of_numbers, const Act& act) {
  const ProcedureName name(kind_from_number(kind), procedure);
  AnyTeam any;
  int code = TESSERA_OK;
  const int checked = capi::call(name.text(), [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(any.open_in(kind, cell));
    const tessera_team* const team = any.get();
    Status mine =
        is_of_numbers ? numbers_of(data, "the buffer").status() : check_counted(data, "the buffer");
    TESSERA_RETURN_IF_ERROR(capi::report_to_team(capi::contents_of(team), std::move(mine)));
    Dense dense(*data);
    code = act(team, dense);
    dense.give_back();
    return {};
  });
  return checked != TESSERA_OK ? checked : code;
}

Status check_gathered(const rma::Team& team, const Descriptor& mine, const Descriptor& all) {
  if (mine.type != all.type || mine.elem_len != all.elem_len) {
    return Status::error(Code::invalid_argument,
                         fmt::format("mine is {}, but all is {}", type_text(mine), type_text(all)));
  }
  const std::int64_t wanted = Dense(mine).count() * team.size();
  const std::int64_t given = Dense(all).count();
  if (wanted != given) {
    return Status::error(Code::invalid_argument,
                         fmt::format("all has {} elements, but {} are needed for {} members", given,
                                     wanted, team.size()));
  }
  return {};
}

}  // namespace

extern "C" {

/// Without a communicator, starts the job as the process was started; settings may be null, too.
int tessera_f_job_start(Cell** place, const int* communicator, const Descriptor* settings) {
  std::vector<std::string> texts;
  std::vector<const char*> lines;
  const auto prepare = [&]() -> Status {
    if (settings != nullptr) {
      texts = texts_of(*settings);
    }
    for (const std::string& text : texts) {
      lines.push_back(text.c_str());
    }
    return {};
  };
  return make<tessera_job, tessera_job_free>(
      "tessera_job%start", place, nullptr, prepare, [&](tessera_job** job) {
        if (settings != nullptr) {
          return tessera_job_start_with(std::ssize(lines), lines.data(), communicator, job);
        }
        return communicator == nullptr ? tessera_job_start(job)
                                       : tessera_job_start_mpi(*communicator, job);
      });
}

int tessera_f_job_start_alone(Cell** place) {
  return make<tessera_job, tessera_job_free>(
      "tessera_job%start_alone", place, nullptr, [] { return Status(); },
      [](tessera_job** job) { return tessera_job_start_alone(job); });
}

/// To all ranks unless `is_to_rank`.
int tessera_f_job_traffic(const Cell* cell, int is_to_rank, int64_t rank, int op,
                          Descriptor* operations, Descriptor* bytes) {
  const char* const name = "tessera_job%traffic";
  tessera_job* job = nullptr;
  std::array<std::int64_t, 2> found = {};
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(job, open<tessera_job>(cell));
    return {};
  };
  const int code = run(name, prepare, [&] {
    return is_to_rank != 0 ? tessera_job_traffic_to(job, rank, op, &found[0], &found[1])
                           : tessera_job_traffic(job, op, &found[0], &found[1]);
  });
  if (code != TESSERA_OK) {
    return code;
  }
  return capi::call(name, [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(write_integers(Numbers{found[0]}, operations, "operations"));
    return write_integers(Numbers{found[1]}, bytes, "bytes");
  });
}

int tessera_f_job_allocate_local(const Cell* cell, const Descriptor* bytes, void** memory) {
  tessera_job* job = nullptr;
  std::int64_t wanted = 0;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(job, open<tessera_job>(cell));
    TESSERA_ASSIGN_OR_RETURN(wanted, integer_of(bytes, "bytes"));
    return {};
  };
  return run("tessera_job%allocate_local", prepare,
             [&] { return tessera_job_allocate_local(job, wanted, memory); });
}

/// All ranks if `ranks` is null.
int tessera_f_team_create(Cell** place, const Cell* job_cell, const Descriptor* ranks) {
  tessera_job* job = nullptr;
  Numbers list;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(job, open<tessera_job>(job_cell));
    if (ranks != nullptr) {
      TESSERA_ASSIGN_OR_RETURN(list, integers(ranks, "ranks"));
    }
    return {};
  };
  return make<tessera_team, tessera_team_free>(
      "tessera_team%create", place, job_cell, prepare, [&](tessera_team** team) {
        return ranks == nullptr ? tessera_team_world(job, team)
                                : tessera_team_create(job, std::ssize(list), list.data(), team);
      });
}

int tessera_f_team_split(Cell** place, const Cell* parent_cell, int64_t color, int64_t key) {
  tessera_team* parent = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(parent, open<tessera_team>(parent_cell));
    return {};
  };
  return make<tessera_team, tessera_team_free>(
      "tessera_team%split", place, parent_cell, prepare,
      [&](tessera_team** team) { return tessera_team_split(parent, color, key, team); });
}

int tessera_f_team_broadcast(int kind, const Cell* cell, Descriptor* data, int64_t root) {
  return on_dense("broadcast", kind, cell, data, false,
                  [&](const tessera_team* team, Dense& dense) {
                    return tessera_team_broadcast(team, dense.data(), dense.bytes(), root);
                  });
}

int tessera_f_team_allgather(int kind, const Cell* cell, const Descriptor* mine, Descriptor* all) {
  const ProcedureName name(kind_from_number(kind), "allgather");
  return on_dense("allgather", kind, cell, all, false, [&](const tessera_team* team, Dense& dense) {
    const int code = capi::call(name.text(), [&]() -> Status {
      Status wrong = check_counted(mine, "mine");
      if (wrong.ok()) {
        wrong = check_gathered(capi::contents_of(team), *mine, *all);
      }
      return capi::report_to_team(capi::contents_of(team), std::move(wrong));
    });
    if (code != TESSERA_OK) {
      return code;
    }
    Dense own(*mine);
    return tessera_team_allgather(team, own.data(), own.bytes(), dense.data());
  });
}

/// On all members if `root` is null.
int tessera_f_team_reduce(int kind, const Cell* cell, Descriptor* elements, int reduction,
                          const int64_t* root) {
  const char* const name = root == nullptr ? "allreduce" : "reduce";
  return on_dense(name, kind, cell, elements, true, [&](const tessera_team* team, Dense& dense) {
    const std::int64_t type = element_of(*elements);
    return root == nullptr
               ? tessera_team_allreduce(team, dense.data(), dense.count(), type, reduction)
               : tessera_team_reduce(team, dense.data(), dense.count(), type, reduction, *root);
  });
}

/// `text`, with `length` characters, is this member's error; null means its last error.
int tessera_f_team_agree(int kind, const Cell* cell, int status, const char* text, int64_t length) {
  const ProcedureName name(kind_from_number(kind), "agree");
  AnyTeam any;
  std::string given;
  const auto prepare = [&]() -> Status {
    if (text != nullptr) {
      given.assign(text, static_cast<std::size_t>(length));
    }
    return any.open_in(kind, cell);
  };
  return run(name.text(), prepare, [&] {
    return tessera_team_agree(any.get(), status, text == nullptr ? nullptr : given.c_str());
  });
}

int tessera_f_locks_create(Cell** place, int kind, const Cell* members, int64_t count) {
  AnyTeam any;
  return make<tessera_locks, tessera_locks_free>(
      "tessera_locks%create", place, members, [&] { return any.open_in(kind, members); },
      [&](tessera_locks** locks) { return tessera_locks_create(any.get(), count, locks); });
}

/// The handle of locks; checks that member `owner` has lock `index`, counted from 1.
int tessera_f_open_lock(const char* name, const Cell* cell, int64_t owner, int64_t index,
                        tessera_locks** locks) {
  return capi::call(name, [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(*locks, open<tessera_locks>(cell));
    const capi::LocksContents& set = capi::contents_of(*locks);
    TESSERA_ASSIGN_OR_RETURN(const auto member, capi::team_rank(owner, set.team.size()));
    const std::int64_t count = set.locks.count(member);
    if (index < 1 || index > count) {
      return Status::error(Code::out_of_range, fmt::format("there is no lock {} at member {}: it "
                                                           "has {}",
                                                           index, owner, count))
          .hint("locks count from 1, members from 0");
    }
    return {};
  });
}

int tessera_f_counter_create(Cell** place, int kind, const Cell* members, int64_t owner) {
  AnyTeam any;
  return make<tessera_counter, tessera_counter_free>(
      "tessera_counter%create", place, members, [&] { return any.open_in(kind, members); },
      [&](tessera_counter** counter) { return tessera_counter_create(any.get(), owner, counter); });
}

/// Adds one if `count` is null.
int tessera_f_counter_next(const Cell* cell, const Descriptor* count, Descriptor* value) {
  tessera_counter* counter = nullptr;
  Numbers by = {1};
  std::int64_t before = 0;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(counter, open<tessera_counter>(cell));
    if (count != nullptr) {
      TESSERA_ASSIGN_OR_RETURN(by, integers_of(count, 1, "count", "a count"));
    }
    // Checked before the counter changes, so that no number is lost.
    return check_room(value, 1, "value");
  };
  const int code = run("tessera_counter%next", prepare,
                       [&] { return tessera_counter_next(counter, by[0], &before); });
  if (code != TESSERA_OK) {
    return code;
  }
  return capi::call("tessera_counter%next",
                    [&] { return write_integers(Numbers{before}, value, "value"); });
}

int tessera_f_counter_reset(const Cell* cell, const Descriptor* value) {
  tessera_counter* counter = nullptr;
  Numbers to;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(counter, open<tessera_counter>(cell));
    TESSERA_ASSIGN_OR_RETURN(to, integers_of(value, 1, "value", "a counter"));
    return {};
  };
  return run("tessera_counter%reset", prepare,
             [&] { return tessera_counter_reset(counter, to[0]); });
}

}  // extern "C"

}  // namespace tessera::fapi
