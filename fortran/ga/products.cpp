// SPDX-License-Identifier: BSD-3-Clause
//
// Products of matrices, as Fortran sees them. The generated code swaps the operands of C's names
// where GA does.
#include <fmt/format.h>

#include <array>
#include <complex>
#include <utility>
#include <vector>

#include "fortran/ga/matrices.hpp"
#include "fortran/ga/operands.hpp"
#include "fortran/ga/operations.hpp"
#include "linalg/gemm.hpp"

namespace tessera::ga {

namespace {

using linalg::MatrixOp;

// ---- Vectors as matrices of one column or one row

// Copies of one-dimensional operands, which live as long as this object.
class Vectors {
 public:
  // Collective. The operand, or a copy of the first elements of a vector with the extents of
  // `box`. Errors: invalid_argument for a vector as a matrix of several rows and columns.
  Result<Record*> take(Record& record, const Box& box) {
    if (record.ndims() != 1) {
      return &record;
    }
    if (box.is_empty() || (box.extent(0) != 1 && box.extent(1) != 1) ||
        box.volume() > record.extents()[0]) {
      return Status::error(
          Code::invalid_argument,
          fmt::format("{} has one dimension of {} elements, and can't be a matrix of {} x {}",
                      record.describe(), record.extents()[0], box.extent(1), box.extent(0)));
    }
    return add(record, Box({0}, {box.volume()}), box.extents());
  }

  // The same for a patch of a vector, as a matrix of one column.
  Result<Record*> take_column(Record& record, const Box& given) {
    return add(record, given, Extents{1, given.extent(0)});
  }

  // Collective. Copies the result into the vector that `result` is a copy of.
  [[nodiscard]] Status give_back(const Record& result) const {
    for (const Copy& each : copies_) {
      if (each.made.part().record == &result) {
        return copy_part(each.made.part(), each.vector);
      }
    }
    return {};
  }

 private:
  struct Copy {
    Part vector;
    Temporary made;
  };

  Result<Record*> add(Record& record, const Box& box, const Extents& extents) {
    TESSERA_RETURN_IF_ERROR(arrays::check_inside(box, record.extents()).context(record.describe()));
    const Part vector = part_of(record, box);
    TESSERA_ASSIGN_OR_RETURN(Temporary made, Temporary::create(vector, record.type(), extents));
    TESSERA_RETURN_IF_ERROR(copy_part(vector, made.part()));
    copies_.push_back({vector, std::move(made)});
    return copies_.back().made.part().record;
  }

  std::vector<Copy> copies_;
};

// ---- Products of leading parts

struct Sizes {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
};

// The part of a matrix that op() turns into its first rows and columns.
Box leading(MatrixOp op, std::int64_t rows, std::int64_t columns) {
  return op == MatrixOp::none ? Box({0, 0}, {columns, rows}) : Box({0, 0}, {rows, columns});
}

template <class T>
Status check_leading(const Record& record, const Box& box) {
  TESSERA_RETURN_IF_ERROR(check_plane(record));
  TESSERA_RETURN_IF_ERROR(check_elements<T>(record));
  if (arrays::is_inside(box, record.extents())) {
    return {};
  }
  return Status::error(
      Code::out_of_range,
      fmt::format("the product takes {} x {} elements of {}, which is {} x {}, in Fortran's order",
                  box.extent(1), box.extent(0), record.describe(), record.extents()[1],
                  record.extents()[0]));
}

template <class T>
Status multiply(char trans_a, char trans_b, const Sizes& sizes, const void* alpha, Record& given_a,
                Record& given_b, const void* beta, Record& given_c) {
  TESSERA_ASSIGN_OR_RETURN(const MatrixOp op_a, op_of(trans_a));
  TESSERA_ASSIGN_OR_RETURN(const MatrixOp op_b, op_of(trans_b));
  if (sizes.m < 0 || sizes.n < 0 || sizes.k < 0) {
    return Status::error(Code::invalid_argument,
                         fmt::format("m is {}, n is {} and k is {}, but none may be negative",
                                     sizes.m, sizes.n, sizes.k));
  }
  const Box box_a = leading(op_a, sizes.m, sizes.k);
  const Box box_b = leading(op_b, sizes.k, sizes.n);
  const Box box_c = leading(MatrixOp::none, sizes.m, sizes.n);
  Vectors vectors;
  TESSERA_ASSIGN_OR_RETURN(Record* const taken_a, vectors.take(given_a, box_a));
  TESSERA_ASSIGN_OR_RETURN(Record* const taken_b, vectors.take(given_b, box_b));
  TESSERA_ASSIGN_OR_RETURN(Record* const taken_c, vectors.take(given_c, box_c));
  const Record& a = *taken_a;
  const Record& b = *taken_b;
  const Record& c = *taken_c;
  TESSERA_RETURN_IF_ERROR(check_leading<T>(a, box_a));
  TESSERA_RETURN_IF_ERROR(check_leading<T>(b, box_b));
  TESSERA_RETURN_IF_ERROR(check_leading<T>(c, box_c));
  TESSERA_RETURN_IF_ERROR(linalg::gemm(
      matrix_of<T>(a, box_a), matrix_of<T>(b, box_b), matrix_of<T>(c, box_c),
      {.alpha = number_at<T>(alpha), .beta = number_at<T>(beta), .op_a = op_a, .op_b = op_b}));
  return vectors.give_back(c);
}

// ---- Products of patches

// How GA programs give a patch of a transposed matrix: in the indices of the transpose, or in those
// of the array.
enum class Indices : std::uint8_t { of_transpose, of_array };

// A patch of an array as a matrix.
struct Plane {
  Box box = {};  // in the indices of the array
  linalg::MatrixDims dims = {};
  std::int64_t rows = 0;  // after op()
  std::int64_t columns = 0;
};

struct GivenPatch {
  Record* record;
  const Box* given;
  MatrixOp op;
  Indices indices;
};

// `row_dim` is in Fortran's order, as elsewhere below; columns are a later dimension.
Plane plane_of(const GivenPatch& operand, int row_dim, int column_dim) {
  const int last = operand.record->ndims() - 1;
  Plane plane{.box = *operand.given,
              .dims = {.rows = last - row_dim, .columns = last - column_dim}};
  const bool is_turned = operand.op != MatrixOp::none;
  if (is_turned && operand.indices == Indices::of_transpose) {
    const Box& given = *operand.given;
    plane.box.set(plane.dims.rows, given.lo(plane.dims.columns), given.hi(plane.dims.columns));
    plane.box.set(plane.dims.columns, given.lo(plane.dims.rows), given.hi(plane.dims.rows));
  }
  plane.rows = plane.box.extent(is_turned ? plane.dims.columns : plane.dims.rows);
  plane.columns = plane.box.extent(is_turned ? plane.dims.rows : plane.dims.columns);
  return plane;
}

// The planes of the array that a patch can be, in the order in which GA tries them. If only one
// dimension of the patch is longer than one element, it can be the rows or the columns.
Result<std::vector<Plane>> planes_of(const GivenPatch& operand) {
  const int ndims = operand.record->ndims();
  const Box& box = *operand.given;
  std::vector<int> long_dims;
  for (int dim = 0; dim < ndims; ++dim) {
    if (box.extent(ndims - 1 - dim) > 1) {
      long_dims.push_back(dim);
    }
  }
  if (long_dims.size() > 2) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("the patch {} of {} is longer than 1 in {} dimensions, but a matrix has 2",
                    to_string(box), operand.record->describe(), long_dims.size()));
  }
  std::vector<Plane> planes;
  if (long_dims.size() == 2) {
    planes.push_back(plane_of(operand, long_dims[0], long_dims[1]));
    return planes;
  }
  const int vector_dim = long_dims.empty() ? 0 : long_dims[0];
  const bool begins_before = operand.op != MatrixOp::none;
  for (const int row_dim :
       {begins_before ? vector_dim - 1 : vector_dim, begins_before ? vector_dim : vector_dim - 1}) {
    if (row_dim >= 0 && row_dim + 1 < ndims) {
      planes.push_back(plane_of(operand, row_dim, row_dim + 1));
    }
  }
  return planes;
}

using Three = std::array<Plane, 3>;

// The first choice of planes that fit each other, or the first one.
Three choose(const std::array<std::vector<Plane>, 3>& all) {
  for (const Plane& c : all[2]) {
    for (const Plane& b : all[1]) {
      for (const Plane& a : all[0]) {
        if (a.rows == c.rows && a.columns == b.rows && b.columns == c.columns) {
          return {a, b, c};
        }
      }
    }
  }
  return {all[0].front(), all[1].front(), all[2].front()};
}

Status check_inside(const GivenPatch& operand, const Plane& plane) {
  const Extents& extents = operand.record->extents();
  return arrays::check_inside(plane.box, extents).context(operand.record->describe());
}

Status multiply_patches(std::array<GivenPatch, 3> operands, const void* alpha, const void* beta) {
  Vectors vectors;
  std::array<Box, 3> columns;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    GivenPatch& operand = operands[i];
    if (operand.record->ndims() == 1) {
      TESSERA_ASSIGN_OR_RETURN(operand.record,
                               vectors.take_column(*operand.record, *operand.given));
      columns[i] = operand.record->box();
      operand.given = &columns[i];
      operand.indices = Indices::of_array;
    }
  }
  std::array<std::vector<Plane>, 3> all;
  for (std::size_t i = 0; i < all.size(); ++i) {
    TESSERA_ASSIGN_OR_RETURN(all[i], planes_of(operands[i]));
  }
  const Three planes = choose(all);
  for (std::size_t i = 0; i < planes.size(); ++i) {
    TESSERA_RETURN_IF_ERROR(check_inside(operands[i], planes[i]));
  }
  const auto& [a, b, c] = operands;
  TESSERA_RETURN_IF_ERROR(on_matrices(
      std::array{part_of(*a.record), part_of(*b.record), part_of(*c.record)},
      [&]<class T>(Tag<T>, const auto& of) -> Status {
        const auto patch = [&](std::size_t number) {
          return linalg::MatrixPatch<T>(of.template array<T>(number), planes[number].box,
                                        planes[number].dims);
        };
        return linalg::gemm(
            patch(0), patch(1), patch(2),
            {.alpha = number_at<T>(alpha), .beta = number_at<T>(beta), .op_a = a.op, .op_b = b.op});
      }));
  return vectors.give_back(*c.record);
}

}  // namespace

Status sgemm(char trans_a, char trans_b, std::int64_t m, std::int64_t n, std::int64_t k,
             const void* alpha, Record& a, Record& b, const void* beta, Record& c) {
  return multiply<float>(trans_a, trans_b, {m, n, k}, alpha, a, b, beta, c);
}

Status dgemm(char trans_a, char trans_b, std::int64_t m, std::int64_t n, std::int64_t k,
             const void* alpha, Record& a, Record& b, const void* beta, Record& c) {
  return multiply<double>(trans_a, trans_b, {m, n, k}, alpha, a, b, beta, c);
}

Status cgemm(char trans_a, char trans_b, std::int64_t m, std::int64_t n, std::int64_t k,
             const void* alpha, Record& a, Record& b, const void* beta, Record& c) {
  return multiply<std::complex<float>>(trans_a, trans_b, {m, n, k}, alpha, a, b, beta, c);
}

Status zgemm(char trans_a, char trans_b, std::int64_t m, std::int64_t n, std::int64_t k,
             const void* alpha, Record& a, Record& b, const void* beta, Record& c) {
  return multiply<std::complex<double>>(trans_a, trans_b, {m, n, k}, alpha, a, b, beta, c);
}

namespace {

Status multiply_patches(char trans_a, char trans_b, const void* alpha, const void* beta,
                        GivenPatch a, GivenPatch b, const GivenPatch& c) {
  TESSERA_ASSIGN_OR_RETURN(a.op, op_of(trans_a));
  TESSERA_ASSIGN_OR_RETURN(b.op, op_of(trans_b));
  return multiply_patches({a, b, c}, alpha, beta);
}

}  // namespace

Status matmul_patch(char trans_a, char trans_b, const void* alpha, const void* beta, Record& a,
                    const Box& box_a, Record& b, const Box& box_b, Record& c, const Box& box_c) {
  return multiply_patches(trans_a, trans_b, alpha, beta,
                          {&a, &box_a, MatrixOp::none, Indices::of_transpose},
                          {&b, &box_b, MatrixOp::none, Indices::of_transpose},
                          {&c, &box_c, MatrixOp::none, Indices::of_transpose});
}

Status matmul_patch_alt(char trans_a, char trans_b, const void* alpha, const void* beta, Record& a,
                        const Box& box_a, Record& b, const Box& box_b, Record& c,
                        const Box& box_c) {
  return multiply_patches(trans_a, trans_b, alpha, beta,
                          {&a, &box_a, MatrixOp::none, Indices::of_array},
                          {&b, &box_b, MatrixOp::none, Indices::of_array},
                          {&c, &box_c, MatrixOp::none, Indices::of_array});
}

}  // namespace tessera::ga
