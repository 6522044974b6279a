// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "fortran/python/job.hpp"
#include "rma/phase.hpp"

namespace tessera::python {
namespace {

/// The C++ part of tessera.Phase: a phase that `with` begins and ends.
class PhaseBlock {
 public:
  PhaseBlock(std::shared_ptr<SharedJob> job, std::string name)
      : job_(std::move(job)), name_(std::move(name)) {}

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  void begin() {
    job_->check_running();
    if (phase_ != nullptr) {
      refuse(fmt::format("phase '{}' has begun already", name_),
             "call job.phase() for each `with` block");
    }
    phase_.reset(new rma::Phase(job_->rma().phase(name_)));  // a Phase can't be moved
  }
  void end() noexcept { phase_.reset(); }

 private:
  std::shared_ptr<SharedJob> job_;
  std::string name_;
  std::unique_ptr<rma::Phase> phase_;
};

std::string name_of(const py::object& given) {
  if (!py::isinstance<py::str>(given)) {
    refuse_type(fmt::format("{} is not the name of a phase", repr_of(given)), "names are texts");
  }
  return given.cast<std::string>();
}

std::unique_ptr<PhaseBlock> make_phase(const std::shared_ptr<SharedJob>& job,
                                       const py::object& given) {
  job->check_running();
  std::string name = name_of(given);
  if (name.empty()) {
    refuse("a phase needs a name");
  }
  return std::make_unique<PhaseBlock>(job, std::move(name));
}

}  // namespace

void define_phases(py::module_& module, JobClass& job) {
  py::class_<PhaseBlock>(module, "Phase", R"(A named part of the program: job.phase("deposit").

    with job.phase("deposit"):
        ...

TESSERA_PROFILE reports its time, waits and transfers. Phases nest, and belong to their thread.)")
      .def("__enter__",
           [](const py::object& self) {
             self.cast<PhaseBlock&>().begin();
             return self;
           })
      .def("__exit__", [](PhaseBlock& self, const py::args&) { self.end(); })
      .def_property_readonly("name", &PhaseBlock::name, "The name.")
      .def("__repr__",
           [](const PhaseBlock& self) { return fmt::format("<tessera.Phase '{}'>", self.name()); });
  job.def("phase", &make_phase, py::arg("name"),
          "A Phase, which a `with` block begins and ends. Local.")
      .def(
          "begin_phase",
          [](SharedJob& self, const py::object& name) {
            self.check_running();
            check(rma::begin_phase(self.rma(), name_of(name)));
          },
          py::arg("name"), "Begin a phase where `with` doesn't fit, as in a notebook. Local.")
      .def(
          "end_phase",
          [](SharedJob& self, const py::object& name) {
            self.check_running();
            check(rma::end_phase(self.rma(), name.is_none() ? std::string() : name_of(name)));
          },
          py::arg("name") = py::none(),
          R"(End this thread's innermost phase, which must have that name if one is given. Local.

Names are compared only if TESSERA_PROFILE or TESSERA_CHECK=races is set.)");
}

}  // namespace tessera::python
