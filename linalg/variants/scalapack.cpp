// SPDX-License-Identifier: BSD-3-Clause
// The only file that calls ScaLAPACK and BLACS. They have Fortran's calling convention: all
// arguments by address, and the lengths of strings after all arguments.
#include "linalg/variants/scalapack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "linalg/detail/by_type.hpp"
#include "linalg/detail/value_checks.hpp"
#include "linalg/variants/scalapack_routines.hpp"
#include "rma/base/floating_point_guard.hpp"

namespace tessera::linalg {

using arrays::BlockMap;
using arrays::BlockMapKind;
using arrays::Distribution;
using arrays::MemoryOrder;
using detail::MatrixMap;
using detail::routine;
using detail::WorkMatrix;
using rma::Code;
using rma::Result;
using rma::Status;
using rma::Team;

Status check_scalapack(const rma::Job& job, const Team& team) {
  if (!job.bootstrap().is_mpi_world()) {
    return Status::error(Code::unsupported,
                         fmt::format("ScaLAPACK needs a job of all processes of MPI_COMM_WORLD; "
                                     "this one was started by '{}'",
                                     job.bootstrap().name()))
        .hint("start the program with mpirun or srun, or use the method own");
  }
  if (team.size() != job.size()) {
    return Status::error(Code::unsupported,
                         fmt::format("ScaLAPACK needs all {} ranks of the job, but the team has {}",
                                     job.size(), team.size()))
        .hint("use the method own");
  }
  return {};
}

namespace variants::scalapack {
namespace {

constexpr int one = 1;
constexpr std::size_t letters = 1;  // the length of a one-letter string

int count(std::int64_t number) {
  return static_cast<int>(number);
}

// The size of square blocks. A block that the end of a matrix cuts off does not determine it; then
// any size that isn't smaller is suitable.
std::int64_t block_of(const Distribution& layout) {
  return std::max<std::int64_t>({layout.partition(0).largest(), layout.partition(1).largest(), 1});
}

// The BLACS grid of a call's first matrix, which ends with this object, and the size of all blocks.
// Collective over all processes.
class Grid {
 public:
  explicit Grid(const WorkMatrix& matrix) : block_(block_of(matrix.layout())) {
    const BlockMap& block_map = matrix.layout().block_map();
    const Team& team = matrix.team();
    rows_ = block_map.rank_grid()[0];
    columns_ = block_map.rank_grid()[1];
    row_ = block_map.coordinates(team.rank())[0];
    column_ = block_map.coordinates(team.rank())[1];
    std::vector<int> ranks(static_cast<std::size_t>(rows_ * columns_));
    for (std::int32_t member = 0; member < team.size(); ++member) {
      const arrays::Index at = block_map.coordinates({member});
      ranks[static_cast<std::size_t>(at[0] + at[1] * rows_)] = team.world_rank({member}).value;
    }
    Cblacs_get(-1, 0, &context_);
    Cblacs_gridmap(&context_, ranks.data(), count(rows_), count(rows_), count(columns_));
  }
  ~Grid() { Cblacs_gridexit(context_); }
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

  // Collective. Ends a routine. BLACS may still be sending messages that other ranks wait for; a
  // rank that waits in a collective of Tessera would not make its MPI messages progress.
  void finish() const { Cblacs_barrier(context_, "All"); }

  [[nodiscard]] int context() const { return context_; }
  [[nodiscard]] std::int64_t row() const { return row_; }
  [[nodiscard]] std::int64_t column() const { return column_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t columns() const { return columns_; }
  [[nodiscard]] std::int64_t block() const { return block_; }

 private:
  rma::FloatingPointGuard guard_;  // for BLACS, whose calls don't use routine()
  int context_ = -1;
  std::int64_t block_ = 1;
  std::int64_t rows_ = 1;
  std::int64_t columns_ = 1;
  std::int64_t row_ = 0;
  std::int64_t column_ = 0;
};

// One dimension of a matrix in blocks on a grid, and the calling rank's part of it.
struct ScalapackAxis {
  std::int64_t extent = 0;
  std::int64_t block = 1;
  std::int64_t coordinate = 0;  ///< of the rank in the grid
  std::int64_t ranks = 1;

  [[nodiscard]] std::int64_t own() const {
    const std::int64_t whole = extent / block;
    const std::int64_t blocks = whole / ranks + (coordinate < whole % ranks ? 1 : 0);
    return blocks * block + (coordinate == whole % ranks ? extent % block : 0);
  }
  // The number of elements on the rank that has the most.
  [[nodiscard]] std::int64_t most() const {
    return (extent + block * ranks - 1) / (block * ranks) * block;
  }
  [[nodiscard]] std::int64_t global(std::int64_t local) const {
    return (local / block * ranks + coordinate) * block + local % block;
  }
  // The local index of a global index; −1 if another rank has it.
  [[nodiscard]] std::int64_t local(std::int64_t global) const {
    const std::int64_t which = global / block;
    return which % ranks == coordinate ? which / ranks * block + global % block : -1;
  }
};

// A matrix in the form of ScaLAPACK's arguments.
template <class T>
struct Matrix {
  ScalapackAxis rows;
  ScalapackAxis columns;
  T* data = nullptr;
  std::array<int, 9> descriptor = {};
  T no_element = T{};  // passed if this rank has no element

  Matrix(const Grid& grid, const WorkMatrix& work) {
    const Distribution& layout = work.layout();
    rows = {layout.extents()[0], grid.block(), grid.row(), grid.rows()};
    columns = {layout.extents()[1], grid.block(), grid.column(), grid.columns()};
    data = reinterpret_cast<T*>(work.array().region().local());
    descriptor = {1,
                  grid.context(),
                  m(),
                  n(),
                  count(grid.block()),
                  count(grid.block()),
                  0,
                  0,
                  count(std::max<std::int64_t>(rows.own(), 1))};
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  [[nodiscard]] bool is_empty() const { return rows.extent == 0 || columns.extent == 0; }
  [[nodiscard]] int m() const { return count(rows.extent); }
  [[nodiscard]] int n() const { return count(columns.extent); }
  [[nodiscard]] T* elements() { return data == nullptr ? &no_element : data; }
  [[nodiscard]] const int* desc() const { return descriptor.data(); }
};

// Collective. The errors that every routine can return: the largest `info` of all ranks.
Result<std::int64_t> agreed(const Grid& grid, const WorkMatrix& a, std::string_view name,
                            int info) {
  grid.finish();
  std::array<std::int64_t, 2> worst{info, -info};
  TESSERA_RETURN_IF_ERROR(a.team().allreduce(std::span<std::int64_t>(worst), rma::Reduction::max));
  if (worst[1] > 0) {
    return a.team().name_rank(Status::error(
        Code::internal, fmt::format("ScaLAPACK's {} refuses argument {}", name, worst[1])));
  }
  return worst[0];
}

Result<std::int64_t> converged(const Grid& grid, const WorkMatrix& a, std::string_view name,
                               int info) {
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t worst, agreed(grid, a, name, info));
  if (worst != 0) {
    return a.team().name_rank(
        Status::error(Code::invalid_argument,
                      fmt::format("ScaLAPACK's {} did not converge ({})", name, worst))
            .hint("check the matrix for elements that are not finite"));
  }
  return 0;
}

using detail::Read;

// Collective. Checks that all elements are finite.
template <Scalar T>
Status check_finite(Matrix<T>& matrix, rma::Team& team, std::string_view name,
                    Read read = Read::all) {
  Status mine;
  for (std::int64_t j = 0; j < matrix.columns.own() && mine.ok(); ++j) {
    for (std::int64_t i = 0; i < matrix.rows.own() && mine.ok(); ++i) {
      const bool is_read = read == Read::all || matrix.rows.global(i) >= matrix.columns.global(j);
      const T element = matrix.elements()[j * matrix.rows.own() + i];
      if (is_read && !detail::is_finite(element)) {
        mine = detail::not_finite(name, element);
      }
    }
  }
  return team.agree(mine);
}

// Collective. 1 + the first index of a factor's diagonal whose element is not a positive number, 0
// if there is none: libraries continue with NaN.
template <Scalar T>
Result<std::int64_t> first_not_positive(Matrix<T>& factor, rma::Team& team) {
  const ScalapackAxis& rows = factor.rows;
  std::int64_t first = rows.extent + 1;
  for (std::int64_t local = 0; local < rows.own(); ++local) {
    const std::int64_t global = rows.global(local);
    const std::int64_t column = factor.columns.local(global);
    if (column >= 0 && !detail::is_positive(factor.elements()[column * rows.own() + local])) {
      first = global + 1;
      break;
    }
  }
  TESSERA_RETURN_IF_ERROR(team.allreduce(std::span<std::int64_t>(&first, 1), rma::Reduction::min));
  return first > rows.extent ? 0 : first;
}

// Collective. Gives all ranks the numbers that belong to the first `steps` rows (or columns) of a
// matrix; they are on the ranks at the beginning of the other axis.
template <class N>
Result<std::vector<N>> gather(const WorkMatrix& a, const ScalapackAxis& axis, bool is_first,
                              std::int64_t steps, const std::vector<N>& mine) {
  std::vector<N> all(static_cast<std::size_t>(steps));
  for (std::int64_t local = 0; is_first && local < axis.own(); ++local) {
    if (axis.global(local) < steps) {
      all[static_cast<std::size_t>(axis.global(local))] = mine[static_cast<std::size_t>(local)];
    }
  }
  if (steps > 0) {
    TESSERA_RETURN_IF_ERROR(a.team().allreduce(std::span<N>(all), rma::Reduction::sum));
  }
  return all;
}

// Collective. Gives all ranks the values of the grid's first rank. For matrices of one element
// ScaLAPACK takes shortcuts, and only owners get the values.
template <class N>
Status broadcast_values(const WorkMatrix& a, std::vector<N>& values) {
  const rma::TeamRank first = a.layout().block_map().owner({0, 0});
  return a.team().broadcast(std::as_writable_bytes(std::span(values)), first);
}

// Calls a routine twice: first to query the size of its work space, then with that space. A size of
// -1 requests a query; the routine writes the sizes to the beginnings of the spaces.
template <class N>
struct WorkSpace {
  std::vector<N> numbers = std::vector<N>(8);
  int size = -1;

  // Some routines request less than they use, and a float represents large sizes with few digits.
  void grow(std::int64_t least = 1) {
    const auto asked = static_cast<std::int64_t>(std::real(numbers[0]));
    numbers.resize(static_cast<std::size_t>(std::max(asked + asked / 0x40'0000, least) + 64));
    size = count(std::ssize(numbers));
  }
};

Result<Distribution> layout_of(std::int64_t rows, std::int64_t columns, std::int64_t block,
                               const arrays::Extents& grid, std::int64_t ranks, MemoryOrder order) {
  TESSERA_ASSIGN_OR_RETURN(const arrays::BlockPartition1D row_partition,
                           arrays::BlockPartition1D::by_size(rows, block));
  TESSERA_ASSIGN_OR_RETURN(const arrays::BlockPartition1D column_partition,
                           arrays::BlockPartition1D::by_size(columns, block));
  TESSERA_ASSIGN_OR_RETURN(
      const BlockMap block_map,
      BlockMap::cyclic_grid({row_partition.blocks(), column_partition.blocks()}, grid, ranks,
                            order));
  return Distribution::create(
      std::array{row_partition, column_partition}, block_map,
      {.storage = arrays::Storage::local_matrix, .order = MemoryOrder::column_major});
}

// Whether blocks are as ScaLAPACK needs them: all of one size, except the last.
bool is_by_size(const arrays::BlockPartition1D& partition, std::int64_t block) {
  return !partition.is_irregular() &&
         (partition.blocks() <= 1 ||
          (partition.largest() == block &&
           partition.lo(partition.blocks() - 1) == (partition.blocks() - 1) * block));
}

// Whether ScaLAPACK can work in place on an array with this layout.
bool fits_library(const Distribution& layout, std::int64_t block) {
  const BlockMap& block_map = layout.block_map();
  const bool is_grid =
      (block_map.kind() == BlockMapKind::grid && block_map.node_grid().is_empty()) ||
      block_map.kind() == BlockMapKind::cyclic_grid;
  const std::int64_t own = block_of(layout);
  return layout.ndims() == 2 && is_grid && volume(block_map.rank_grid()) == layout.nranks() &&
         layout.order() == MemoryOrder::column_major && !layout.has_ghosts() &&
         (layout.storage() == arrays::Storage::local_matrix || layout.is_one_block_per_rank()) &&
         is_by_size(layout.partition(0), own) && is_by_size(layout.partition(1), own) &&
         (block == 0 || block == own);
}

}  // namespace

Result<WorkMatrix> at(const MatrixMap& map, const Team& team, std::int64_t block,
                      WorkMatrix::Use use) {
  if (use == WorkMatrix::Use::in_place) {
    const std::optional<Distribution> own = detail::layout_of(map);
    const bool is_of_team = map.array->team().shared_state() == team.shared_state();
    if (own && is_of_team && fits_library(*own, block)) {
      return WorkMatrix::of(map, team, *own, use);
    }
  }
  constexpr std::int64_t least = 8;
  const detail::RankGrid grid = detail::square_grid(team.size());
  const std::int64_t by_size = std::clamp(std::max(map.rows(), map.columns()) / (4 * grid.columns),
                                          least, detail::max_square_block);
  TESSERA_ASSIGN_OR_RETURN(
      const Distribution layout,
      layout_of(map.rows(), map.columns(), block > 0 ? block : by_size, {grid.rows, grid.columns},
                team.size(), MemoryOrder::column_major));
  return WorkMatrix::of(map, team, layout, use);
}

Result<WorkMatrix> zeros_like(const WorkMatrix& like, std::int64_t rows, std::int64_t columns) {
  const BlockMap& block_map = like.layout().block_map();
  TESSERA_ASSIGN_OR_RETURN(const Distribution layout,
                           layout_of(rows, columns, block_of(like.layout()), block_map.rank_grid(),
                                     block_map.nranks(), block_map.order()));
  return WorkMatrix::zeros(like.array(), like.team(), layout);
}

Result<WorkMatrix> beside(const WorkMatrix& like, const MatrixMap& map, WorkMatrix::Use use) {
  const BlockMap& block_map = like.layout().block_map();
  TESSERA_ASSIGN_OR_RETURN(const Distribution layout,
                           layout_of(map.rows(), map.columns(), block_of(like.layout()),
                                     block_map.rank_grid(), block_map.nranks(), block_map.order()));
  return WorkMatrix::of(map, like.team(), layout, use);
}

template <Scalar T>
Result<std::int64_t> Routines<T>::cholesky(WorkMatrix& a, Triangle triangle) {
  const Grid grid(a);
  Matrix<T> matrix(grid, a);
  if (matrix.is_empty()) {
    return 0;
  }
  int info = 0;
  const int n = matrix.n();
  routine<T>(pspotrf_, pdpotrf_, pcpotrf_, pzpotrf_)(triangle == Triangle::upper ? "U" : "L", &n,
                                                     matrix.elements(), &one, &one, matrix.desc(),
                                                     &info, letters);
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t minor, agreed(grid, a, "potrf", info));
  return minor != 0 ? minor : first_not_positive(matrix, a.team());
}

template <Scalar T>
Result<LuSteps> Routines<T>::lu(WorkMatrix& a) {
  const Grid grid(a);
  Matrix<T> matrix(grid, a);
  if (matrix.is_empty()) {
    return LuSteps{};
  }
  std::vector<int> pivots(static_cast<std::size_t>(matrix.rows.own() + matrix.rows.block));
  int info = 0;
  const int m = matrix.m();
  const int n = matrix.n();
  routine<T>(psgetrf_, pdgetrf_, pcgetrf_, pzgetrf_)(&m, &n, matrix.elements(), &one, &one,
                                                     matrix.desc(), pivots.data(), &info);
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t singular, agreed(grid, a, "getrf", info));
  std::vector<std::int64_t> from_zero;
  for (const int pivot : pivots) {
    from_zero.push_back(pivot - 1);
  }
  TESSERA_ASSIGN_OR_RETURN(std::vector<std::int64_t> all,
                           gather(a, matrix.rows, grid.column() == 0, std::min(m, n), from_zero));
  return LuSteps{std::move(all), singular};
}

template <Scalar T>
Result<std::vector<T>> Routines<T>::qr(WorkMatrix& a) {
  const Grid grid(a);
  Matrix<T> matrix(grid, a);
  if (matrix.is_empty()) {
    return std::vector<T>();
  }
  TESSERA_RETURN_IF_ERROR(check_finite(matrix, a.team(), "A"));
  std::vector<T> tau(static_cast<std::size_t>(matrix.columns.own() + matrix.columns.block));
  WorkSpace<T> work;
  int info = 0;
  const int m = matrix.m();
  const int n = matrix.n();
  const auto call = [&] {
    routine<T>(psgeqrf_, pdgeqrf_, pcgeqrf_, pzgeqrf_)(&m, &n, matrix.elements(), &one, &one,
                                                       matrix.desc(), tau.data(),
                                                       work.numbers.data(), &work.size, &info);
  };
  call();
  work.grow();
  call();
  TESSERA_RETURN_IF_ERROR(agreed(grid, a, "geqrf", info).status());
  return gather(a, matrix.columns, grid.row() == 0, std::min(m, n), tau);
}

template <Scalar T>
Status Routines<T>::solve_triangular(const Triangular<T>& how, WorkMatrix& a, WorkMatrix& b) {
  const Grid grid(a);
  Matrix<T> factor(grid, a);
  Matrix<T> right(grid, b);
  // The factor may be the first rows and columns of A, and B may have more rows than the system.
  const bool is_left = how.side == Side::left;
  const int m = is_left ? std::min(factor.n(), right.m()) : right.m();
  const int n = right.n();
  if (m > 0 && n > 0) {
    routine<T>(pstrsm_, pdtrsm_, pctrsm_, pztrsm_)(
        is_left ? "L" : "R", how.triangle == Triangle::upper ? "U" : "L", &how.op,
        how.diagonal == Diagonal::unit ? "U" : "N", &m, &n, &how.alpha, factor.elements(), &one,
        &one, factor.desc(), right.elements(), &one, &one, right.desc());
  }
  grid.finish();
  return {};
}

template <Scalar T>
Status Routines<T>::solve_lu(WorkMatrix& a, std::span<const std::int64_t> pivots, char op,
                             WorkMatrix& b) {
  const Grid grid(a);
  Matrix<T> factors(grid, a);
  Matrix<T> right(grid, b);
  if (factors.is_empty() || right.is_empty()) {
    return {};
  }
  std::vector<int> own(static_cast<std::size_t>(factors.rows.own() + factors.rows.block));
  for (std::int64_t local = 0; local < factors.rows.own(); ++local) {
    own[static_cast<std::size_t>(local)] =
        count(pivots[static_cast<std::size_t>(factors.rows.global(local))] + 1);
  }
  int info = 0;
  const int n = factors.n();
  const int systems = right.n();
  routine<T>(psgetrs_, pdgetrs_, pcgetrs_, pzgetrs_)(
      &op, &n, &systems, factors.elements(), &one, &one, factors.desc(), own.data(),
      right.elements(), &one, &one, right.desc(), &info, letters);
  return agreed(grid, a, "getrs", info).status();
}

template <Scalar T>
Status Routines<T>::invert_cholesky(WorkMatrix& a, Triangle triangle) {
  const Grid grid(a);
  Matrix<T> matrix(grid, a);
  if (matrix.is_empty()) {
    return {};
  }
  int info = 0;
  const int n = matrix.n();
  routine<T>(pspotri_, pdpotri_, pcpotri_, pzpotri_)(triangle == Triangle::upper ? "U" : "L", &n,
                                                     matrix.elements(), &one, &one, matrix.desc(),
                                                     &info, letters);
  return agreed(grid, a, "potri", info).status();
}

template <Scalar T>
Status Routines<T>::multiply_by_q_adjoint(WorkMatrix& a, std::span<const T> tau, WorkMatrix& b) {
  const Grid grid(a);
  Matrix<T> factors(grid, a);
  Matrix<T> right(grid, b);
  if (factors.is_empty() || right.is_empty()) {
    return {};
  }
  std::vector<T> own(static_cast<std::size_t>(factors.columns.own() + factors.columns.block));
  for (std::int64_t local = 0; local < factors.columns.own(); ++local) {
    if (factors.columns.global(local) < std::ssize(tau)) {
      own[static_cast<std::size_t>(local)] =
          tau[static_cast<std::size_t>(factors.columns.global(local))];
    }
  }
  WorkSpace<T> work;
  int info = 0;
  const int m = right.m();
  const int n = right.n();
  const int k = count(std::ssize(tau));
  const auto call = [&] {
    routine<T>(psormqr_, pdormqr_, pcunmqr_, pzunmqr_)(
        "L", rma::ComplexElement<T> ? "C" : "T", &m, &n, &k, factors.elements(), &one, &one,
        factors.desc(), own.data(), right.elements(), &one, &one, right.desc(), work.numbers.data(),
        &work.size, &info, letters, letters);
  };
  call();
  work.grow();
  call();
  return agreed(grid, a, "ormqr", info).status();
}

namespace {

// One call of the routine for eigenvalues alone, or with vectors; real and complex routines differ
// in their work spaces.
template <Scalar T>
struct EigenCall {
  Matrix<T>& a;
  Matrix<T>& z;
  bool wants_vectors;
  std::vector<RealOf<T>> values = std::vector<RealOf<T>>(static_cast<std::size_t>(a.n()));
  WorkSpace<T> work = {};
  WorkSpace<RealOf<T>> real_work = {};
  WorkSpace<int> numbers = {};
  int info = 0;

  void call() {
    const int n = a.n();
    const auto leading = [&](auto function, auto... rest) {
      function(wants_vectors ? "V" : "N", "L", &n, a.elements(), &one, &one, a.desc(),
               values.data(), z.elements(), &one, &one, z.desc(), work.numbers.data(), &work.size,
               rest..., &info, letters, letters);
    };
    RealOf<T>* const reals = real_work.numbers.data();
    int* const integers = numbers.numbers.data();
    if constexpr (rma::ComplexElement<T>) {
      if (wants_vectors) {
        leading(routine<T>(0, 0, pcheevd_, pzheevd_), reals, &real_work.size, integers,
                &numbers.size);
      } else {
        leading(routine<T>(0, 0, pcheev_, pzheev_), reals, &real_work.size);
      }
    } else {
      if (wants_vectors) {
        leading(routine<T>(pssyevd_, pdsyevd_, 0, 0), integers, &numbers.size);
      } else {
        leading(routine<T>(pssyev_, pdsyev_, 0, 0));
      }
    }
  }

  // If blocks are large relative to the matrix, p?syevd requests less work space than p?ormtr and
  // p?lasrt use, which it calls. It ignores their error on one rank, and then returns wrong vectors
  // or waits for that rank without end. The work space of these routines is located after some
  // vectors of p?syevd's own.
  void make_room() {
    const std::int64_t n = a.n();
    const std::int64_t block = a.rows.block;
    const std::int64_t rows = a.rows.most();
    const std::int64_t columns = a.columns.most();
    const std::int64_t of_vectors = 4 * n;
    const std::int64_t of_reflectors =
        std::max(block * (block - 1) / 2, (rows + columns) * block) + block * block;
    const std::int64_t of_sorting = std::max(n, rows * (block + columns));
    const std::int64_t least = of_vectors + std::max(of_reflectors, of_sorting);
    work.grow(least);
    real_work.grow(least);
    numbers.grow(7 * n + 2 * block + 8 * a.columns.ranks + 2);
  }
};

}  // namespace

template <Scalar T>
Result<RealValues<T>> Routines<T>::eigen(WorkMatrix& a, WorkMatrix* vectors) {
  const Grid grid(a);
  Matrix<T> matrix(grid, a);
  Matrix<T> z(grid, vectors == nullptr ? a : *vectors);
  EigenCall<T> task{matrix, z, vectors != nullptr};
  if (!matrix.is_empty()) {
    TESSERA_RETURN_IF_ERROR(check_finite(matrix, a.team(), "A", Read::lower));
    task.call();
    task.make_room();
    task.call();
    TESSERA_RETURN_IF_ERROR(converged(grid, a, "syevd", task.info).status());
    TESSERA_RETURN_IF_ERROR(broadcast_values(a, task.values));
  }
  return std::move(task.values);
}

template <Scalar T>
Status Routines<T>::to_standard(WorkMatrix& a, WorkMatrix& b) {
  const Grid grid(a);
  Matrix<T> matrix(grid, a);
  Matrix<T> factor(grid, b);
  if (matrix.is_empty()) {
    return {};
  }
  RealOf<T> scale = 1;
  int info = 0;
  const int n = matrix.n();
  routine<T>(pssygst_, pdsygst_, pchegst_, pzhegst_)(&one, "L", &n, matrix.elements(), &one, &one,
                                                     matrix.desc(), factor.elements(), &one, &one,
                                                     factor.desc(), &scale, &info, letters);
  return agreed(grid, a, "sygst", info).status();
}

template <Scalar T>
Result<RealValues<T>> Routines<T>::svd(WorkMatrix& a, WorkMatrix* u, WorkMatrix* vh) {
  const Grid grid(a);
  Matrix<T> matrix(grid, a);
  Matrix<T> left(grid, u == nullptr ? a : *u);
  Matrix<T> right(grid, vh == nullptr ? a : *vh);
  const int m = matrix.m();
  const int n = matrix.n();
  std::vector<RealOf<T>> values(static_cast<std::size_t>(std::min(m, n)));
  if (matrix.is_empty()) {
    return values;
  }
  TESSERA_RETURN_IF_ERROR(check_finite(matrix, a.team(), "A"));
  WorkSpace<T> work;
  std::vector<RealOf<T>> real_work(static_cast<std::size_t>(1 + 4 * std::int64_t{std::max(m, n)}));
  const char* const job = u == nullptr ? "N" : "V";
  int info = 0;
  const auto call = [&](auto function, auto... rest) {
    function(job, job, &m, &n, matrix.elements(), &one, &one, matrix.desc(), values.data(),
             left.elements(), &one, &one, left.desc(), right.elements(), &one, &one, right.desc(),
             work.numbers.data(), &work.size, rest..., &info, letters, letters);
  };
  for (int i = 0; i < 2; ++i) {
    if constexpr (rma::ComplexElement<T>) {
      call(routine<T>(0, 0, pcgesvd_, pzgesvd_), real_work.data());
    } else {
      call(routine<T>(psgesvd_, pdgesvd_, 0, 0));
    }
    if (i == 0) {
      work.grow();
    }
  }
  // A value of one more than the number of values means that ranks computed different last digits;
  // the first rank's values are used then.
  if (info == count(std::ssize(values)) + 1) {
    info = 0;
  }
  TESSERA_RETURN_IF_ERROR(converged(grid, a, "gesvd", info).status());
  TESSERA_RETURN_IF_ERROR(broadcast_values(a, values));
  return values;
}

template struct Routines<float>;
template struct Routines<double>;
template struct Routines<std::complex<float>>;
template struct Routines<std::complex<double>>;

}  // namespace variants::scalapack
}  // namespace tessera::linalg
