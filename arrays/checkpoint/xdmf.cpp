// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/xdmf.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "arrays/checkpoint/file.hpp"

namespace tessera::arrays::detail {
namespace {

using rma::Status;
namespace fs = std::filesystem;

constexpr int max_grid_dims = 3;
constexpr std::string_view first_line = "<?xml version=\"1.0\" ?>\n<!-- Written by Tessera -->\n";

std::string escaped(std::string_view text) {
  std::string result;
  for (const char character : text) {
    switch (character) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += character;
    }
  }
  return result;
}

std::string list_of(const Extents& extents) {
  return fmt::format("{}", fmt::join(extents.begin(), extents.end(), " "));
}

// A data set as a field on the grid.
struct Field {
  const StoredArray* stored = nullptr;
  Extents extents;  // of one step
  bool is_series = false;
  bool is_vector = false;
  bool is_at_cells = false;
};

// "Float" with precision 8.
std::optional<std::string> number_type(const StoredArray& stored) {
  if (!stored.type || rma::is_complex(*stored.type) || !stored.unreadable_reason.empty()) {
    return std::nullopt;
  }
  const bool is_byte = stored.element_bytes == 1;
  const std::string_view text = rma::to_string(*stored.type);
  const char* const name = text.starts_with('f')   ? "Float"
                           : text.starts_with('u') ? (is_byte ? "UChar" : "UInt")
                                                   : (is_byte ? "Char" : "Int");
  return fmt::format("NumberType=\"{}\" Precision=\"{}\"", name, stored.element_bytes);
}

Extents without_first(const Extents& extents) {
  return Extents(std::span(extents.begin() + 1, extents.end()));
}

std::optional<Field> field_of(const StoredArray& stored, const Extents& points) {
  Field field{.stored = &stored, .extents = stored.extents, .is_series = stored.is_extendible};
  if (!number_type(stored) || volume(stored.extents) == 0) {
    return std::nullopt;
  }
  if (field.is_series) {
    field.extents = without_first(field.extents);
  }
  const int ndims = points.ndims();
  field.is_vector = field.extents.ndims() == ndims + 1 && field.extents[ndims] == max_grid_dims;
  if (field.extents.ndims() != ndims && !field.is_vector) {
    return std::nullopt;
  }
  bool is_at_points = true;
  field.is_at_cells = true;
  for (int dim = 0; dim < ndims; ++dim) {
    is_at_points = is_at_points && field.extents[dim] == points[dim];
    field.is_at_cells = field.is_at_cells && field.extents[dim] == points[dim] - 1;
  }
  return is_at_points || field.is_at_cells ? std::optional<Field>(field) : std::nullopt;
}

// The extents of the grid, or else of the first data set that could be a field.
std::optional<Extents> points_of(const Catalog& catalog, const UniformGrid& grid) {
  if (grid.points.ndims() > 0) {
    return grid.points;
  }
  const auto ndims = static_cast<int>(grid.origin.size());
  for (const StoredArray& stored : catalog.arrays) {
    if (number_type(stored) && stored.extents.ndims() == ndims + (stored.is_extendible ? 1 : 0)) {
      return stored.is_extendible ? without_first(stored.extents) : stored.extents;
    }
  }
  return std::nullopt;
}

std::vector<double> times_of(const StoredArray& stored) {
  for (const auto& [name, value] : stored.attributes) {
    if (name == "time") {
      const auto one = value_as<double>(value);
      return one ? std::vector<double>{*one}
                 : value_as<std::vector<double>>(value).value_or(std::vector<double>());
    }
  }
  return {};
}

class XdmfText {
 public:
  XdmfText(std::string hdf5_name, const Catalog& catalog, const UniformGrid& grid)
      : hdf5_name_(std::move(hdf5_name)), grid_(grid) {
    const std::optional<Extents> points = points_of(catalog, grid);
    for (const StoredArray& stored : catalog.arrays) {
      if (auto field = points ? field_of(stored, *points) : std::nullopt) {
        fields_.push_back(*field);
        steps_ = std::max(steps_, field->is_series ? stored.extents[0] : 0);
      }
    }
    points_ = points.value_or(Extents::filled(static_cast<int>(grid.origin.size()), 1));
  }

  std::string run() {
    text_ = first_line;
    text_ += "<Xdmf Version=\"3.0\">\n  <Domain>\n";
    if (steps_ == 0) {
      add_grid(0, std::nullopt);
    } else {
      text_ += "    <Grid Name=\"steps\" GridType=\"Collection\" CollectionType=\"Temporal\">\n";
      const std::vector<double> times = times_of_steps();
      for (std::int64_t step = 0; step < steps_; ++step) {
        add_grid(step, times[static_cast<std::size_t>(step)]);
      }
      text_ += "    </Grid>\n";
    }
    text_ += "  </Domain>\n</Xdmf>\n";
    return std::move(text_);
  }

 private:
  // The times of a field that has a time for each step, or else the numbers of the steps.
  [[nodiscard]] std::vector<double> times_of_steps() const {
    for (const Field& field : fields_) {
      std::vector<double> times = field.is_series ? times_of(*field.stored) : std::vector<double>();
      const bool has_all =
          std::none_of(times.begin(), times.end(), [](double time) { return std::isnan(time); });
      if (std::ssize(times) >= steps_ && has_all) {
        return times;
      }
    }
    std::vector<double> numbers;
    for (std::int64_t step = 0; step < steps_; ++step) {
      numbers.push_back(static_cast<double>(step));
    }
    return numbers;
  }

  // A number for each of three dimensions.
  [[nodiscard]] static std::string padded(const std::vector<double>& numbers, double missing) {
    std::vector<double> three(static_cast<std::size_t>(max_grid_dims) - numbers.size(), missing);
    three.insert(three.end(), numbers.begin(), numbers.end());
    return fmt::format("{}", fmt::join(three, " "));
  }

  void add_grid(std::int64_t step, std::optional<double> time) {
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(max_grid_dims - points_.ndims()), 1);
    lengths.insert(lengths.end(), points_.begin(), points_.end());
    text_ += fmt::format("    <Grid Name=\"step {}\" GridType=\"Uniform\">\n", step);
    if (time) {
      text_ += fmt::format("      <Time Value=\"{}\"/>\n", *time);
    }
    text_ += fmt::format(
        "      <Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"{}\"/>\n"
        "      <Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n"
        "        <DataItem Format=\"XML\" NumberType=\"Float\" Precision=\"8\" "
        "Dimensions=\"3\">{}</DataItem>\n"
        "        <DataItem Format=\"XML\" NumberType=\"Float\" Precision=\"8\" "
        "Dimensions=\"3\">{}</DataItem>\n"
        "      </Geometry>\n",
        fmt::join(lengths, " "), padded(grid_.origin, 0), padded(grid_.spacing, 1));
    for (const Field& field : fields_) {
      if (!field.is_series || step < field.stored->extents[0]) {
        add_field(field, step);
      }
    }
    text_ += "    </Grid>\n";
  }

  void add_field(const Field& field, std::int64_t step) {
    text_ += fmt::format("      <Attribute Name=\"{}\" AttributeType=\"{}\" Center=\"{}\">\n",
                         escaped(field.stored->name), field.is_vector ? "Vector" : "Scalar",
                         field.is_at_cells ? "Cell" : "Node");
    const std::string whole =
        fmt::format("<DataItem Format=\"HDF\" {} Dimensions=\"{}\">{}:/{}</DataItem>\n",
                    *number_type(*field.stored), list_of(field.stored->extents),
                    escaped(hdf5_name_), escaped(field.stored->name));
    if (field.is_series) {
      const int ndims = field.stored->extents.ndims();
      Extents first = Extents::zeros(ndims);
      Extents count = field.stored->extents;
      first[0] = step;
      count[0] = 1;
      text_ += fmt::format(
          "        <DataItem ItemType=\"HyperSlab\" Dimensions=\"{}\" Type=\"HyperSlab\">\n"
          "          <DataItem Format=\"XML\" Dimensions=\"3 {}\">{} {} {}</DataItem>\n"
          "          {}        </DataItem>\n",
          list_of(field.extents), ndims, list_of(first), list_of(Extents::filled(ndims, 1)),
          list_of(count), whole);
    } else {
      text_ += "        " + whole;
    }
    text_ += "      </Attribute>\n";
  }

  std::string hdf5_name_;
  UniformGrid grid_;
  Extents points_;
  std::vector<Field> fields_;
  std::int64_t steps_ = 0;
  std::string text_;
};

}  // namespace

Status check_grid(const UniformGrid& grid) {
  const std::size_t ndims = grid.origin.size();
  if (ndims < 1 || ndims > max_grid_dims || grid.spacing.size() != ndims) {
    return invalid(fmt::format("a grid has {} origins and {} distances; 1 to 3 of each are needed",
                               ndims, grid.spacing.size()));
  }
  if (grid.points.ndims() != 0 && grid.points.ndims() != static_cast<int>(ndims)) {
    return invalid(
        fmt::format("a grid of {} dimensions has points {}", ndims, to_string(grid.points)));
  }
  for (std::size_t dim = 0; dim < ndims; ++dim) {
    if (!std::isfinite(grid.origin[dim]) || !std::isfinite(grid.spacing[dim]) ||
        grid.spacing[dim] <= 0) {
      return invalid(fmt::format("dimension {} of the grid has origin {} and distance {}", dim,
                                 grid.origin[dim], grid.spacing[dim]))
          .hint("distances are positive, and all numbers finite");
    }
  }
  return {};
}

std::vector<double> to_numbers(const UniformGrid& grid) {
  std::vector<double> numbers = {static_cast<double>(grid.origin.size())};
  numbers.insert(numbers.end(), grid.origin.begin(), grid.origin.end());
  numbers.insert(numbers.end(), grid.spacing.begin(), grid.spacing.end());
  for (const std::int64_t count : grid.points) {
    numbers.push_back(static_cast<double>(count));
  }
  return numbers;
}

UniformGrid grid_from(const std::vector<double>& numbers) {
  UniformGrid grid;
  const double given = numbers.empty() ? 0 : numbers[0];
  if (!(given >= 1 && given <= max_grid_dims)) {
    return grid;
  }
  const auto ndims = static_cast<std::ptrdiff_t>(given);
  if (std::ssize(numbers) != 1 + 2 * ndims && std::ssize(numbers) != 1 + 3 * ndims) {
    return grid;
  }
  const auto first = numbers.begin() + 1;
  grid.origin.assign(first, first + ndims);
  grid.spacing.assign(first + ndims, first + 2 * ndims);
  if (std::ssize(numbers) == 1 + 3 * ndims) {
    grid.points = Extents::zeros(static_cast<int>(ndims));
    for (int dim = 0; dim < grid.points.ndims(); ++dim) {
      grid.points[dim] = static_cast<std::int64_t>(std::clamp(first[2 * ndims + dim], 1.0, 1e15));
    }
  }
  return grid;
}

std::string xdmf_path(const std::string& hdf5_path) {
  return fs::path(hdf5_path).replace_extension(".xdmf").string();
}

Status check_xdmf_path(const std::string& path) {
  if (!does_exist(path)) {
    return {};
  }
  std::string start(first_line.size(), '\0');
  auto file = File::open_to_read(path);
  TESSERA_RETURN_IF_ERROR(file.status());
  const bool is_ours =
      file->read_at(0, std::as_writable_bytes(std::span(start))).ok() && start == first_line;
  return is_ours ? Status()
                 : invalid(fmt::format("the file {} exists, and Tessera did not write it", path))
                       .hint("rename it, or write to an HDF5 file of another name");
}

std::string xdmf_text(const std::string& hdf5_name, const Catalog& catalog,
                      const UniformGrid& grid) {
  return XdmfText(hdf5_name, catalog, grid).run();
}

Status write_xdmf_file(const std::string& path, const std::string& hdf5_path,
                       const Catalog& catalog, const UniformGrid& grid) {
  if (grid.origin.empty()) {
    return {};
  }
  TESSERA_RETURN_IF_ERROR(check_xdmf_path(path));
  const std::string text = xdmf_text(fs::path(hdf5_path).filename().string(), catalog, grid);
  remove_stale_temporaries(path);
  TESSERA_ASSIGN_OR_RETURN(File file, File::create_temporary(path));
  Status status = file.write_at(0, std::as_bytes(std::span(text)));
  if (status.ok()) {
    file.copy_permissions_of(path);
    status = replace(file.path(), path);
  }
  if (!status.ok()) {
    remove_file(file.path());
  }
  return status;
}

}  // namespace tessera::arrays::detail
