// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <exception>
#include <span>
#include <string_view>

#include "arrays/call_signature.hpp"
#include "arrays/chunk_engine.hpp"
#include "arrays/elementwise.hpp"
#include "arrays/matrix.hpp"
#include "arrays/random.hpp"
#include "arrays/reductions.hpp"
#include "arrays/reshape.hpp"
#include "arrays/scan.hpp"
#include "fortran/python/element_types.hpp"
#include "fortran/python/operands.hpp"
#include "linalg/permute.hpp"
#include "rma/team.hpp"

namespace tessera::python {

void check_same_type(std::string_view operation, std::initializer_list<const Array*> operands) {
  const arrays::ArrayBase& first = (*operands.begin())->base();
  for (const Array* const other : operands) {
    if (other->base().element().name != first.element().name) {
      refuse_type(fmt::format("{}: {} and {} have elements of different types", operation,
                              first.describe(), other->base().describe()),
                  "convert one of them: A.astype(dtype)");
    }
  }
}

void refuse_matrix(const Array& array, std::string_view operation) {
  refuse_type(fmt::format("{}: {} is not a matrix of floating-point or complex numbers", operation,
                          array.base().describe()),
              "convert it: A.astype('f8')");
}

namespace {

using arrays::Chunk;
using arrays::ChunkOperand;
using rma::Status;

/// A chunk's elements as a numpy array in place, of the given type.
py::array elements(const Chunk& chunk, std::size_t operand, const py::dtype& type) {
  const Chunk::Memory& memory = chunk.operands[operand];
  const arrays::Extents extents = chunk.box.extents();
  std::vector<py::ssize_t> strides;
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    strides.push_back(static_cast<py::ssize_t>(memory.strides[dim]) * type.itemsize());
  }
  std::vector<py::ssize_t> shape(extents.begin(), extents.end());
  return {type, std::move(shape), std::move(strides), memory.data, py::none()};
}

py::tuple corner(const arrays::Index& index) {
  py::tuple numbers(static_cast<std::size_t>(index.ndims()));
  for (int dim = 0; dim < index.ndims(); ++dim) {
    numbers[static_cast<std::size_t>(dim)] = index[dim];
  }
  return numbers;
}

/// A pass over elements that a Python function computes. The first operand decides which rank
/// computes an element.
class Pass {
 public:
  Pass(std::string verb, const std::vector<std::shared_ptr<Array>>& arrays, py::function body,
       bool writes_first)
      : verb_(std::move(verb)), body_(std::move(body)) {
    if (arrays.empty() || arrays.size() > arrays::max_operands) {
      refuse(fmt::format("{} has {} distributed operands, not 1 to {}", verb_, arrays.size(),
                         arrays::max_operands));
    }
    const int ndims = arrays[0]->base().ndims();
    for (const std::shared_ptr<Array>& array : arrays) {
      const arrays::ArrayBase& base = array->base();
      const bool is_vector = base.ndims() == 1 && ndims > 1;
      operands_.push_back(
          {&base, base.box(), writes_first && operands_.empty(), is_vector ? ndims - 1 : -1});
      types_.push_back(array->dtype());
    }
  }

  /// Runs the pass: act(verb, operands, compute).
  template <class Act>
  void run(const Act& act) {
    Status status = without_gil([&] {
      return act(verb_, std::span<const ChunkOperand>(operands_),
                 [this](const Chunk& chunk) { return compute(chunk); });
    });
    if (failure_) {  // this rank's own exception says more than the agreed error
      std::rethrow_exception(failure_);
    }
    check(std::move(status));
  }

 private:
  Status compute(const Chunk& chunk) {
    return with_gil([&]() -> Status {
      try {
        py::list views;
        for (std::size_t i = 0; i < operands_.size(); ++i) {
          views.append(elements(chunk, i, types_[i]));
        }
        const py::tuple arguments =
            py::make_tuple(corner(chunk.box.lo()), corner(chunk.box.hi()), views);
        owned(call_python(body_.ptr(), arguments.ptr()));
        return {};
      } catch (const std::exception& error) {
        failure_ = std::current_exception();
        return Status::error(rma::Code::invalid_argument, verb_ + ": " + error.what());
      }
    });
  }

  std::string verb_;
  py::function body_;
  std::vector<ChunkOperand> operands_;
  std::vector<py::dtype> types_;
  std::exception_ptr failure_;
};

using Handles = std::vector<std::shared_ptr<Array>>;

void transform(const std::string& verb, const Handles& operands, const std::string& given,
               const py::function& body) {
  Pass(verb, operands, body, true).run([&](std::string_view name, auto all, auto compute) {
    return arrays::on_chunks(name, all, compute, {}, {},
                             arrays::detail::CallSignature().add(std::string_view(given)));
  });
}

void visit(const std::string& verb, const Handles& operands, const std::string& given,
           const py::function& body) {
  Pass(verb, operands, body, false)
      .run([&](std::string_view name, auto all, auto compute) -> Status {
        const arrays::detail::CallScope scope(name, *all[0].array);
        TESSERA_RETURN_IF_ERROR(arrays::begin_on_chunks(
            name, all, {}, {}, arrays::detail::CallSignature().add(std::string_view(given))));
        return all[0].array->team().agree(arrays::for_each_chunk(all, compute));
      });
}

rma::Reduction reduction_of(const std::string& name) {
  for (int kind = 0; kind < rma::reduction_count; ++kind) {
    if (rma::to_string(static_cast<rma::Reduction>(kind)) == name) {
      return static_cast<rma::Reduction>(kind);
    }
  }
  refuse(fmt::format("there is no reduction '{}'", name));
}

/// Combines one number of each member of an array's team.
template <class T>
T combine(const Array& array, T value, const std::string& reduction) {
  const rma::Reduction kind = reduction_of(reduction);
  return checked_without_gil([&] { return array.team().allreduce(value, kind); });
}

arrays::ReduceOptions reduce_options(bool is_reproducible) {
  return {.reproducible = is_reproducible};
}

py::object sum(const Array& a, bool reproducible) {
  return dispatch(a, "sum", [&](auto& typed) -> py::object {
    return py::cast(
        checked_without_gil([&] { return arrays::sum(typed, reduce_options(reproducible)); }));
  });
}

py::object dot(const Array& a, const Array& b, bool conjugate, bool reproducible) {
  check_same_type("dot", {&a, &b});
  return dispatch(a, "dot", [&]<class T>(arrays::Array<T>& first) -> py::object {
    return py::cast(checked_without_gil([&] {
      const arrays::ReduceOptions options = reduce_options(reproducible);
      return conjugate ? arrays::dot_conjugated(first, typed<T>(b), options)
                       : arrays::dot(first, typed<T>(b), options);
    }));
  });
}

double norm(const Array& a, const std::string& kind, bool reproducible) {
  return dispatch(a, "norm", [&](auto& typed) -> double {
    return checked_without_gil([&] {
      const arrays::ReduceOptions options = reduce_options(reproducible);
      return kind == "one"        ? arrays::norm1(typed, options)
             : kind == "infinity" ? arrays::norm_infinity(typed, options)
             : kind == "max"      ? arrays::norm_max(typed)
                                  : arrays::norm2(typed, options);
    });
  });
}

py::tuple select(const Array& a, bool largest) {
  return dispatch(a, largest ? "max" : "min", [&](auto& typed) -> py::tuple {
    const auto found = checked_without_gil(
        [&] { return largest ? arrays::select_max(typed) : arrays::select_min(typed); });
    return py::make_tuple(found.value, corner(found.at));
  });
}

void define_passes(py::module_& m) {
  m.def("_transform", &transform,
        "Collective. Calls body(lo, hi, views) for chunks of the first operand, which it writes.");
  m.def("_visit", &visit, "Collective. As _transform; writes nothing, and ends with an agreement.");
  m.def("_combine_float", &combine<double>);
  m.def("_combine_int", &combine<std::int64_t>);
  m.def("_combine_unsigned", &combine<std::uint64_t>);
  m.def("_combine_complex", &combine<std::complex<double>>);
  m.def("_sum", &sum);
  m.def("_dot", &dot);
  m.def("_norm", &norm);
  m.def("_select", &select);
}

/// A new array with the distribution and the team of another one.
std::shared_ptr<Array> like(const Array& a, const py::object& dtype, const std::string& name) {
  const py::dtype type = dtype_of(dtype);
  const arrays::ElementKind kind = element_kind(type);
  auto made = without_gil([&]() -> rma::Result<arrays::ArrayBase> {
    TESSERA_RETURN_IF_ERROR(prepare_to_make(*a.job(), a.team(), "array", name));
    TESSERA_RETURN_IF_ERROR(a.base().check_open());
    return arrays::ArrayBase::create(a.job()->rma(), a.base().distribution(), kind,
                                     {.name = name, .team = a.team()});
  });
  return adopt(a.job(), std::move(made), type);
}

/// A new array of another shape, regularly distributed over the team of `a`.
std::shared_ptr<Array> beside(const Array& a, const std::vector<std::int64_t>& shape,
                              const py::object& dtype, const std::string& name) {
  const py::dtype type = dtype_of(dtype);
  const arrays::ElementKind kind = element_kind(type);
  auto made = without_gil([&]() -> rma::Result<arrays::ArrayBase> {
    TESSERA_RETURN_IF_ERROR(prepare_to_make(*a.job(), a.team(), "array", name));
    return arrays::ArrayBase::create(a.job()->rma(), arrays::Extents(std::span(shape)), kind,
                                     {.name = name, .team = a.team()});
  });
  return adopt(a.job(), std::move(made), type);
}

/// Local. A number that equal distributions share, on all ranks.
std::uint64_t distribution_key(const Array& a) {
  check(a.base().check_open());
  return arrays::fingerprint(a.base().distribution());
}

void copy(const Array& from, const Array& to, bool row_major) {
  check_same_type("copy", {&from, &to});
  dispatch(from, "copy", [&]<class T>(arrays::Array<T>& given) {
    checked_without_gil([&] {
      return row_major ? arrays::copy_row_major(given, typed<T>(to))
                       : arrays::copy(given, typed<T>(to));
    });
  });
}

void set_all(const Array& a, const py::object& value) {
  dispatch(a, "fill", [&]<class T>(arrays::Array<T>& typed) {
    const T filling = number<T>(value);
    checked_without_gil([&] { return arrays::fill(typed, filling); });
  });
}

void fill_random(const Array& a, std::uint64_t seed, double low, double high) {
  dispatch(a, "fill_random", [&](auto& typed) {
    checked_without_gil([&] { return arrays::fill_random(typed, seed, {low, high}); });
  });
}

void add_scaled(const py::object& alpha, const Array& a, const py::object& beta, const Array& b,
                const Array& result) {
  check_same_type("add", {&a, &b, &result});
  dispatch(a, "add", [&]<class T>(arrays::Array<T>& first) {
    const T alpha_value = number<T>(alpha);
    const T beta_value = number<T>(beta);
    checked_without_gil(
        [&] { return arrays::add(alpha_value, first, beta_value, typed<T>(b), typed<T>(result)); });
  });
}

void permute(const Array& from, const Array& to, const std::vector<int>& dims) {
  check_same_type("permute", {&from, &to});
  checked_without_gil(
      [&] { return linalg::permute(from.base(), to.base(), std::span<const int>(dims)); });
}

void define_copies(py::module_& m) {
  m.def("_like", &like);
  m.def("_beside", &beside);
  m.def("_distribution_key", &distribution_key);
  m.def("_copy", &copy);
  m.def("_fill", &set_all);
  m.def("_fill_random", &fill_random);
  m.def("_add_scaled", &add_scaled);
  m.def("_permute", &permute);
}

/// The operand that marks where segments begin.
ChunkOperand mask_of(const Array& mask) {
  return {&mask.base(), mask.base().box()};
}

void scan_add(const Array& from, const Array& mask, const Array& to, bool exclusive) {
  check_same_type("scan_add", {&from, &to});
  const auto kind = exclusive ? arrays::ScanKind::exclusive : arrays::ScanKind::inclusive;
  dispatch(from, "scan_add", [&]<class T>(arrays::Array<T>& given) {
    checked_without_gil([&] {
      return arrays::detail::Scans<T>::add(arrays::part(given), mask_of(mask),
                                           arrays::part(typed<T>(to)), kind);
    });
  });
}

void scan_copy(const Array& from, const Array& mask, const Array& to) {
  check_same_type("scan_copy", {&from, &to});
  dispatch(from, "scan_copy", [&]<class T>(arrays::Array<T>& given) {
    checked_without_gil([&] {
      return arrays::detail::Scans<T>::copy(arrays::part(given), mask_of(mask),
                                            arrays::part(typed<T>(to)));
    });
  });
}

std::int64_t pack(const Array& from, const Array& mask, const Array& to, bool unpacks) {
  check_same_type("pack", {&from, &to});
  return dispatch(from, "pack", [&]<class T>(arrays::Array<T>& given) -> std::int64_t {
    return checked_without_gil([&] {
      using Scans = arrays::detail::Scans<T>;
      const auto source = arrays::part(given);
      const auto result = arrays::part(typed<T>(to));
      return unpacks ? Scans::unpack(source, mask_of(mask), result)
                     : Scans::pack(source, mask_of(mask), result);
    });
  });
}

void enumerate(const Array& a, const py::object& start, const py::object& step) {
  dispatch(a, "enumerate", [&]<class T>(arrays::Array<T>& typed) {
    const T first = number<T>(start);
    const T distance = number<T>(step);
    checked_without_gil([&] { return arrays::enumerate(typed, first, distance); });
  });
}

void define_scans(py::module_& m) {
  m.def("_scan_add", &scan_add);
  m.def("_scan_copy", &scan_copy);
  m.def("_pack", &pack);
  m.def("_enumerate", &enumerate);
}

/// An operation on a matrix and its diagonal, or a vector along one of its dimensions.
void with_vector(const Array& a, const Array& v, const std::string& verb) {
  check_same_type(verb, {&a, &v});
  dispatch(a, verb, [&]<class T>(arrays::Array<T>& first) {
    arrays::Array<T>& vector = typed<T>(v);
    checked_without_gil([&] {
      return verb == "get_diagonal"   ? arrays::get_diagonal(first, vector)
             : verb == "set_diagonal" ? arrays::set_diagonal(first, vector)
             : verb == "add_diagonal" ? arrays::add_diagonal(first, vector)
             : verb == "scale_rows"   ? arrays::scale_rows(first, vector)
                                      : arrays::scale_columns(first, vector);
    });
  });
}

void shift_diagonal(const Array& a, const py::object& value) {
  dispatch(a, "shift_diagonal", [&]<class T>(arrays::Array<T>& typed) {
    const T shift = number<T>(value);
    checked_without_gil([&] { return arrays::shift_diagonal(typed, shift); });
  });
}

void symmetrize(const Array& a) {
  dispatch(a, "symmetrize",
           [&](auto& typed) { checked_without_gil([&] { return arrays::symmetrize(typed); }); });
}

void define_diagonals(py::module_& m) {
  m.def("_with_vector", &with_vector);
  m.def("_shift_diagonal", &shift_diagonal);
  m.def("_symmetrize", &symmetrize);
}

}  // namespace

void define_operations(py::module_& module) {
  define_passes(module);
  define_copies(module);
  define_scans(module);
  define_diagonals(module);
}

}  // namespace tessera::python
