// SPDX-License-Identifier: BSD-3-Clause
//
// Methods: how lists and strided shapes become MPI calls ([ARMCIMPI12] §VI).
//
//     conservative   a call for each piece, complete at the target before the next one, so that
//                    pieces may overlap
//     batched        a call for each piece; TESSERA_TUNE=mpi_batch of them (0: all) complete
//                    together
//     direct         one call, with datatypes that describe the pieces
//     auto           direct if that is fast and correct with this MPI, else batched; conservative
//                    for lists with overlapping pieces
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <limits>

#include "rma/base/result.hpp"
#include "rma/shape.hpp"
#include "rma/transport/mpi/library.hpp"
#include "rma/tuning.hpp"

namespace tessera::rma::mpi {

enum class Method { automatic, direct, batched, conservative };

struct Methods {
  Method vectors = Method::automatic;
  Method strides = Method::automatic;        ///< never conservative
  std::int64_t batch = 0;                    ///< calls that complete together; 0: any number
  bool uses_requests = true;                 ///< for handles
  bool lists_may_overlap = false;            ///< no earlier check refused overlaps in puts and gets
  bool small_sums_saturate = false;          ///< see Library
  bool unsigned_compares_as_signed = false;  ///< see Library
  /// Shapes with longer rows use a call for each row, unless datatypes are requested.
  std::size_t max_row_bytes = 0;
  /// Lists with longer pieces on average use a call for each piece, unless datatypes are requested.
  std::size_t max_listed_bytes = std::numeric_limits<std::size_t>::max();
  bool types_have_requests = true;  ///< see Library
  /// Accumulates with derived datatypes keep all updates.
  bool types_accumulate = true;

  /// MPI's own windows are shared memory that any thread may use: changes are visible at the target
  /// when the call is complete locally, and a flush costs no more than a local one.
  bool shares_windows = false;

  /// `is_one_machine`: all ranks of the job are on one machine.
  static Methods of(const Settings& settings, const Library& library, bool is_one_machine);

  [[nodiscard]] Method of_shape(const CopyShape& shape, bool accumulates) const noexcept;
  /// `overlap`: whether pieces overlap on the side that is written.
  [[nodiscard]] Method of_list(Fragments fragments, bool accumulates, bool overlap) const noexcept;
  /// Whether the datatypes of such lists are cached, if the library chooses the method: making them
  /// costs more than a call for each piece, and using them less.
  [[nodiscard]] bool caches_lists(Fragments fragments) const noexcept;
};

/// The datatypes of a list, on both sides, as distances from its first piece.
class ListTypes {
 public:
  ListTypes() = default;
  /// Errors: those of MPI; limit_exceeded for lists whose counts exceed int.
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
