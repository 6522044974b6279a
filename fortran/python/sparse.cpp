// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fortran/python/element_types.hpp"
#include "fortran/python/operands.hpp"
#include "linalg/csr.hpp"
#include "linalg/sparse_builder.hpp"
#include "linalg/sparse_convert.hpp"
#include "linalg/sparse_dense.hpp"
#include "linalg/sparse_diagonal.hpp"
#include "linalg/sparse_product.hpp"
#include "linalg/spmv.hpp"

namespace tessera::python {
namespace {

using linalg::LocalCsr;
using linalg::SparseElement;
using rma::Result;
using rma::Status;

/// An object of one of the element types of sparse matrices.
template <template <class> class Thing>
using OfAnyType =
    std::variant<Thing<std::int32_t>, Thing<std::int64_t>, Thing<float>, Thing<double>,
                 Thing<std::complex<float>>, Thing<std::complex<double>>>;

/// A matrix of any type, which its members free together.
struct AnySparse {
  OfAnyType<linalg::SparseMatrix> matrix;

  Status free() {
    return std::visit([](auto& each) { return each.free(); }, matrix);
  }
};

/// A plan of any type. It shares the matrix's pattern, so its members end it together, too.
struct AnySparsePlan {
  std::optional<OfAnyType<linalg::SpmvPlan>> plan;

  Status free() {
    plan.reset();
    return {};
  }
};

/// The C++ part of tessera.SparseMatrix, and of a plan for its products with vectors.
struct Sparse {
  std::shared_ptr<Owned<AnySparse>> shared;

  [[nodiscard]] const std::shared_ptr<SharedJob>& job() const noexcept { return shared->job(); }
  [[nodiscard]] AnySparse& any() const noexcept { return **shared; }
};
struct SparsePlan {
  std::shared_ptr<Owned<AnySparsePlan>> shared;
};

/// Calls act(SparseMatrix<T>&).
template <class Act>
decltype(auto) on(const Sparse& sparse, Act&& act) {
  return std::visit(std::forward<Act>(act), sparse.any().matrix);
}

[[noreturn]] void refuse_entries(const py::dtype& dtype) {
  refuse_type(fmt::format("sparse matrices have no entries of dtype {}",
                          py::str(static_cast<py::handle>(dtype)).cast<std::string>()),
              "use int32, int64, float32, float64, complex64 or complex128");
}

/// Calls act(Tag<T>) for a type that sparse matrices may have. Throws WrongType for others.
template <class Act>
auto on_sparse_type(const py::dtype& dtype, const Act& act) {
  using Outcome = std::invoke_result_t<Act, rma::Tag<double>>;
  const auto type = element_type(dtype.num());
  if (!type) {
    refuse_entries(dtype);
  }
  return rma::dispatch(*type, [&]<class T>(rma::Tag<T> tag) -> Outcome {
    if constexpr (SparseElement<T>) {
      return act(tag);
    } else {
      refuse_entries(dtype);
    }
  });
}

template <class T>
Sparse adopt_sparse(const std::shared_ptr<SharedJob>& job, Result<linalg::SparseMatrix<T>> made) {
  auto any = std::make_shared<AnySparse>(AnySparse{take(std::move(made))});
  rma::Team team = std::get<linalg::SparseMatrix<T>>(any->matrix).team();
  return {std::make_shared<Owned<AnySparse>>(job, std::move(team), std::move(any))};
}

/// The array as one of T. Throws WrongType if its elements have another type.
template <class T>
arrays::Array<T>& vector_for(const linalg::SparseMatrix<T>& matrix, const Array& array) {
  if (array.base().element().type != rma::element_type<T>()) {
    refuse_type(fmt::format("{} and {} have elements of different types", matrix.describe(),
                            array.base().describe()),
                "convert one of them with astype()");
  }
  return typed<T>(array);
}

template <class T>
std::vector<T> to_vector(const py::array& given) {
  const auto values = py::array_t<T, py::array::c_style | py::array::forcecast>(given);
  return std::vector<T>(values.data(), values.data() + values.size());
}

template <class T>
LocalCsr<T> to_rows(std::int64_t columns, const py::array& starts, const py::array& column,
                    const py::array& values) {
  LocalCsr<T> rows{.columns = columns,
                   .row_starts = to_vector<std::int64_t>(starts),
                   .column = to_vector<std::int64_t>(column),
                   .value = to_vector<T>(values)};
  rows.rows = static_cast<std::int64_t>(rows.row_starts.size()) - 1;
  return rows;
}

/// Collective. Makes a matrix of each member's own rows, in the order of the ranks.
Sparse from_rows(const std::shared_ptr<SharedJob>& job, const py::object& team,
                 std::int64_t columns, const py::array& starts, const py::array& column,
                 const py::array& values, const std::string& name) {
  rma::Team chosen = team_of(*job, team);
  return on_sparse_type(values.dtype(), [&]<class T>(rma::Tag<T>) -> Sparse {
    LocalCsr<T> rows = to_rows<T>(columns, starts, column, values);
    auto made = without_gil([&]() -> Result<linalg::SparseMatrix<T>> {
      TESSERA_RETURN_IF_ERROR(prepare_to_make(*job, chosen, "sparse matrix", name));
      return linalg::SparseMatrix<T>::create(job->rma(), std::move(rows),
                                             {.name = name, .team = chosen});
    });
    return adopt_sparse(job, std::move(made));
  });
}

/// Collective. Makes a matrix of entries that any member gives; equal positions are summed.
Sparse from_entries(const std::shared_ptr<SharedJob>& job, const py::object& team,
                    std::int64_t rows, std::int64_t columns, const py::array& row,
                    const py::array& column, const py::array& values, const std::string& name) {
  rma::Team chosen = team_of(*job, team);
  return on_sparse_type(values.dtype(), [&]<class T>(rma::Tag<T>) -> Sparse {
    const auto row_list = to_vector<std::int64_t>(row);
    const auto column_list = to_vector<std::int64_t>(column);
    const auto value_list = to_vector<T>(values);
    if (row_list.size() != column_list.size() || row_list.size() != value_list.size()) {
      refuse("rows, columns and values of entries have different lengths");
    }
    auto made = without_gil([&]() -> Result<linalg::SparseMatrix<T>> {
      TESSERA_RETURN_IF_ERROR(prepare_to_make(*job, chosen, "sparse matrix", name));
      TESSERA_ASSIGN_OR_RETURN(auto builder,
                               linalg::SparseBuilder<T>::create(job->rma(), rows, columns,
                                                                {.name = name, .team = chosen}));
      std::vector<linalg::Triplet<T>> entries(value_list.size());
      for (std::size_t i = 0; i < entries.size(); ++i) {
        entries[i] = {row_list[i], column_list[i], value_list[i]};
      }
      TESSERA_RETURN_IF_ERROR(chosen.agree(builder.add(entries)));
      return builder.assemble();
    });
    return adopt_sparse(job, std::move(made));
  });
}

/// Collective. Makes a matrix of the elements that are larger than a threshold.
Sparse from_dense(const Array& dense, double threshold, const std::string& name) {
  return on_sparse_type(dense.dtype(), [&]<class T>(rma::Tag<T>) -> Sparse {
    auto made = without_gil([&]() -> Result<linalg::SparseMatrix<T>> {
      TESSERA_RETURN_IF_ERROR(prepare_to_make(*dense.job(), dense.team(), "sparse matrix", name));
      return linalg::from_dense(typed<T>(dense), {.name = name}, threshold);
    });
    return adopt_sparse(dense.job(), std::move(made));
  });
}

/// The arrays of scipy's csr_matrix: values, columns, starts of rows.
template <class T>
py::tuple to_arrays(const LocalCsr<T>& rows) {
  return py::make_tuple(to_numpy(rows.value), to_numpy(rows.column), to_numpy(rows.row_starts));
}

/// One-sided. The entries in some rows and columns.
py::tuple get_rows(const Sparse& sparse, std::int64_t first, std::int64_t last,
                   std::int64_t first_column, std::int64_t last_column) {
  return on(sparse, [&]<class T>(linalg::SparseMatrix<T>& matrix) -> py::tuple {
    const arrays::Box box({first, first_column}, {last, last_column});
    return to_arrays(checked_without_gil([&] { return matrix.get(box); }));
  });
}

/// Local. The first of this rank's rows, and how many there are.
py::tuple own_rows(const Sparse& sparse) {
  return on(sparse, [&](auto& matrix) -> py::tuple {
    check(matrix.check_open());
    return py::make_tuple(matrix.pattern()->first_row(), matrix.pattern()->row_count());
  });
}

/// Collective. A vector with the distribution of the rows, or of the columns.
std::shared_ptr<Array> vector_of(const Sparse& sparse, bool of_columns, const std::string& name) {
  return on(sparse, [&]<class T>(linalg::SparseMatrix<T>& matrix) -> std::shared_ptr<Array> {
    auto made = without_gil([&]() -> Result<arrays::Array<T>> {
      TESSERA_RETURN_IF_ERROR(matrix.check_open());
      TESSERA_RETURN_IF_ERROR(prepare_to_make(*sparse.job(), matrix.team(), "array", name));
      const bool is_square = matrix.rows() == matrix.columns();
      return arrays::Array<T>::create(
          sparse.job()->rma(),
          of_columns && !is_square ? matrix.column_distribution() : matrix.row_distribution(),
          {.name = name, .team = matrix.team()});
    });
    return adopt<T>(sparse.job(), std::move(made));
  });
}

/// Collective. A plan for products with vectors of the distributions of x and y.
SparsePlan make_plan(const Sparse& sparse, const Array& x, const Array& y) {
  return on(sparse, [&]<class T>(linalg::SparseMatrix<T>& matrix) -> SparsePlan {
    arrays::Array<T>& from = vector_for(matrix, x);
    arrays::Array<T>& to = vector_for(matrix, y);
    auto made = checked_without_gil([&]() -> Result<linalg::SpmvPlan<T>> {
      TESSERA_RETURN_IF_ERROR(
          prepare_to_make(*sparse.job(), matrix.team(), "plan for", matrix.name()));
      return linalg::SpmvPlan<T>::create(matrix, from, to);
    });
    auto any = std::make_shared<AnySparsePlan>(
        AnySparsePlan{OfAnyType<linalg::SpmvPlan>(std::move(made))});
    return {std::make_shared<Owned<AnySparsePlan>>(sparse.job(), matrix.team(), std::move(any))};
  });
}

/// Collective. y = A x, or x = Aᵀ y.
void multiply_vector(const SparsePlan& plan, const Sparse& sparse, const Array& x, const Array& y,
                     bool transposed) {
  on(sparse, [&]<class T>(linalg::SparseMatrix<T>& matrix) {
    arrays::Array<T>& of_columns = vector_for(matrix, x);
    arrays::Array<T>& of_rows = vector_for(matrix, y);
    auto* const own = std::get_if<linalg::SpmvPlan<T>>(&*(**plan.shared).plan);
    if (own == nullptr) {
      refuse("the plan is for a matrix with entries of another type");
    }
    checked_without_gil([&] {
      return transposed ? own->multiply_transposed(matrix, of_rows, of_columns)
                        : own->multiply(matrix, of_columns, of_rows);
    });
  });
}

/// Collective. c = A b, or c = b A, with dense b and c.
void multiply_dense(const Sparse& sparse, const Array& b, const Array& c, bool from_left) {
  on(sparse, [&]<class T>(linalg::SparseMatrix<T>& matrix) {
    arrays::Array<T>& factor = vector_for(matrix, b);
    arrays::Array<T>& result = vector_for(matrix, c);
    checked_without_gil([&] {
      return from_left ? linalg::multiply(factor, matrix, result)
                       : linalg::multiply(matrix, factor, result);
    });
  });
}

/// Collective. A B, both sparse.
Sparse multiply_sparse(const Sparse& a, const Sparse& b, const std::string& name) {
  return on(a, [&]<class T>(linalg::SparseMatrix<T>& first) -> Sparse {
    auto* const second = std::get_if<linalg::SparseMatrix<T>>(&b.any().matrix);
    if (second == nullptr) {
      refuse_type("product of sparse matrices: their entries have different types",
                  "convert one of them with astype()");
    }
    auto made = without_gil([&]() -> Result<linalg::SparseMatrix<T>> {
      TESSERA_RETURN_IF_ERROR(prepare_to_make(*a.job(), first.team(), "sparse matrix", name));
      return linalg::multiply(first, *second, name);
    });
    return adopt_sparse(a.job(), std::move(made));
  });
}

/// Collective. The transpose.
Sparse transpose(const Sparse& sparse, const std::string& name) {
  return on(sparse, [&]<class T>(linalg::SparseMatrix<T>& matrix) -> Sparse {
    auto made = without_gil([&]() -> Result<linalg::SparseMatrix<T>> {
      TESSERA_RETURN_IF_ERROR(prepare_to_make(*sparse.job(), matrix.team(), "sparse matrix", name));
      return linalg::transpose(matrix, {.name = name});
    });
    return adopt_sparse(sparse.job(), std::move(made));
  });
}

/// Collective. A copy with the same pattern.
Sparse duplicate(const Sparse& sparse, const std::string& name) {
  return on(sparse, [&]<class T>(linalg::SparseMatrix<T>& matrix) -> Sparse {
    auto made = without_gil([&]() -> Result<linalg::SparseMatrix<T>> {
      TESSERA_RETURN_IF_ERROR(prepare_to_make(*sparse.job(), matrix.team(), "sparse matrix", name));
      return matrix.duplicate(name);
    });
    return adopt_sparse(sparse.job(), std::move(made));
  });
}

/// Collective. Operations on the matrix and an array.
void with_array(const Sparse& sparse, const Array& array, const std::string& verb) {
  on(sparse, [&]<class T>(linalg::SparseMatrix<T>& matrix) {
    arrays::Array<T>& given = vector_for(matrix, array);
    checked_without_gil([&] {
      return verb == "to_dense"     ? linalg::to_dense(matrix, given)
             : verb == "diagonal"   ? linalg::get_diagonal(matrix, given)
             : verb == "scale_rows" ? linalg::scale_rows(matrix, given)
                                    : linalg::scale_columns(matrix, given);
    });
  });
}

/// Collective. A *= factor, or A += shift I.
void with_number(const Sparse& sparse, const py::object& value, const std::string& verb) {
  on(sparse, [&]<class T>(linalg::SparseMatrix<T>& matrix) {
    const T given = number<T>(value);
    checked_without_gil([&] {
      return verb == "scale" ? linalg::scale(matrix, given) : linalg::shift_diagonal(matrix, given);
    });
  });
}

void define_matrix_class(py::module_& m) {
  py::class_<Sparse>(m, "_Sparse")
      .def_property_readonly("shape",
                             [](const Sparse& sparse) {
                               return on(sparse, [](auto& matrix) {
                                 check(matrix.check_open());
                                 return py::make_tuple(matrix.rows(), matrix.columns());
                               });
                             })
      .def_property_readonly("nnz",
                             [](const Sparse& sparse) {
                               return on(sparse, [](auto& matrix) {
                                 check(matrix.check_open());
                                 return matrix.entries();
                               });
                             })
      .def_property_readonly(
          "dtype",
          [](const Sparse& sparse) {
            return on(sparse, []<class T>(linalg::SparseMatrix<T>&) { return py::dtype::of<T>(); });
          })
      .def_property_readonly("name",
                             [](const Sparse& sparse) {
                               return on(sparse, [](auto& matrix) { return matrix.name(); });
                             })
      .def_property_readonly("job", &Sparse::job)
      .def("free",
           [](const Sparse& sparse) { checked_without_gil([&] { return sparse.shared->free(); }); })
      .def("sync", [](const Sparse& sparse) {
        on(sparse, [](auto& matrix) { checked_without_gil([&] { return matrix.sync(); }); });
      });
  py::class_<SparsePlan>(m, "_SpmvPlan");
}

}  // namespace

void define_sparse(py::module_& module) {
  define_matrix_class(module);
  module.def("_sparse_from_rows", &from_rows);
  module.def("_sparse_from_entries", &from_entries);
  module.def("_sparse_from_dense", &from_dense);
  module.def("_sparse_get", &get_rows);
  module.def("_sparse_own_rows", &own_rows);
  module.def("_sparse_vector", &vector_of);
  module.def("_sparse_plan", &make_plan);
  module.def("_sparse_multiply_vector", &multiply_vector);
  module.def("_sparse_multiply_dense", &multiply_dense);
  module.def("_sparse_multiply", &multiply_sparse);
  module.def("_sparse_transpose", &transpose);
  module.def("_sparse_duplicate", &duplicate);
  module.def("_sparse_with_array", &with_array);
  module.def("_sparse_with_number", &with_number);
}

}  // namespace tessera::python
