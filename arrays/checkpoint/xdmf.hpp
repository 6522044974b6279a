// SPDX-License-Identifier: BSD-3-Clause
//
// XDMF: an XML file that describes data sets of an HDF5 file as fields on a uniform grid, for
// ParaView and VisIt. Grids have three dimensions there: missing ones come first, with one point.
//
//     one data set without steps:    Xdmf / Domain / Grid (Uniform)
//     with steps:                    Xdmf / Domain / Grid (Collection, Temporal) / Grid (Uniform)
#pragma once

#include <string>
#include <vector>

#include "arrays/checkpoint/catalog.hpp"
#include "arrays/output.hpp"
#include "rma/base/status.hpp"

namespace tessera::arrays::detail {

/// The attribute of the HDF5 file that has the grid.
inline constexpr const char* grid_attribute = "tessera_grid";

/// Errors: invalid_argument for lists of other lengths than 1 to 3, or distances that are not
/// positive and finite.
rma::Status check_grid(const UniformGrid& grid);
/// The grid as numbers, and back; no grid for numbers that describe none.
std::vector<double> to_numbers(const UniformGrid& grid);
UniformGrid grid_from(const std::vector<double>& numbers);

/// "run.xdmf" for "run.h5".
std::string xdmf_path(const std::string& hdf5_path);
/// Errors: invalid_argument for a file that Tessera did not write.
rma::Status check_xdmf_path(const std::string& path);

/// The XML of the data sets that fit the grid. `hdf5_name` has no folder.
std::string xdmf_text(const std::string& hdf5_name, const Catalog& catalog,
                      const UniformGrid& grid);
/// Replaces the file at once, so that readers see the old one or the new one.
rma::Status write_xdmf_file(const std::string& path, const std::string& hdf5_path,
                            const Catalog& catalog, const UniformGrid& grid);

}  // namespace tessera::arrays::detail
