// SPDX-License-Identifier: BSD-3-Clause
//
// Methods: how lists and strided shapes become calls of MPI ([ARMCIMPI12] §VI).
//
//   conservative   a call for each piece, complete at the target before the next: pieces may
//   overlap batched        a call for each piece, TESSERA_MPI_BATCH of them (0: all) complete
//   together direct         one call, whose datatypes tell where the pieces are auto direct where
//   it is fast and right with this MPI, else batched; lists whose pieces
//                  overlap conservatively
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <limits>

#include "rma/mpi/library.hpp"
#include "rma/result.hpp"
#include "rma/shape.hpp"
#include "rma/tuning.hpp"

namespace tessera::rma::mpi {

enum class Method { automatic, direct, batched, conservative };

struct Methods {
  Method vectors = Method::automatic;
  Method strides = Method::automatic;  ///< never conservative
  std::int64_t batch = 0;              ///< calls that complete together; 0: any number
  bool uses_requests = true;           ///< for handles
  bool lists_may_overlap = false;      ///< nobody has checked those of puts and gets
  bool small_sums_stick = false;       ///< see Library
  /// Lists whose pieces are longer on average go piece by piece unless datatypes are asked for.
  std::size_t most_listed_bytes = std::numeric_limits<std::size_t>::max();
  bool types_have_requests = true;  ///< see Library
  /// Accumulates with derived datatypes keep all updates.
  bool types_accumulate = true;

  /// MPI's own windows are memory that all processes have, and any thread may use them: what a call
  /// changes is at the target when it is complete here, and a flush costs no more than a local one.
  bool shares_windows = false;

  /// `is_one_machine`: all ranks of the job are on it.
  static Methods of(const Settings& settings, const Library& library, bool is_one_machine);

  [[nodiscard]] Method of_shape(const CopyShape& shape, bool accumulates) const noexcept;
  /// `overlap`: pieces do where they are written.
  [[nodiscard]] Method of_list(Fragments fragments, bool accumulates, bool overlap) const noexcept;
  /// Datatypes of such lists are kept, where the library chooses: making them costs more than a
  /// call for each piece, and using them less.
  [[nodiscard]] bool keeps_lists(Fragments fragments) const noexcept;
};

/// The datatypes of a list, on both sides: of distances from its first piece.
class ListTypes {
 public:
  ListTypes() = default;
  /// Errors: what MPI says; limit_exceeded for lists that ints cannot count.
  static Result<ListTypes> create(Fragments fragments, MPI_Datatype element,
                                  std::size_t element_bytes);
  ListTypes(ListTypes&& other) noexcept;
  ListTypes& operator=(ListTypes&& other) noexcept;
  ~ListTypes();

  [[nodiscard]] MPI_Datatype local() const noexcept { return local_; }
  [[nodiscard]] MPI_Datatype remote() const noexcept { return remote_; }

 private:
  MPI_Datatype local_ = MPI_DATATYPE_NULL;
  MPI_Datatype remote_ = MPI_DATATYPE_NULL;
};

}  // namespace tessera::rma::mpi
