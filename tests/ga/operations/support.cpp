// SPDX-License-Identifier: BSD-3-Clause
#include "tests/ga/operations/support.hpp"

#include <unistd.h>

#include <cstdio>
#include <numeric>

namespace tessera::test {

Patch random_patch(const Dims& dims, const Dims& lengths) {
  Patch patch;
  for (std::size_t dim = 0; dim < dims.size(); ++dim) {
    patch.lo.push_back(random_between(0, dims[dim] - lengths[dim]));
    patch.hi.push_back(patch.lo[dim] + lengths[dim] - 1);
  }
  return patch;
}

Patch random_patch(const Dims& dims) {
  Dims lengths;
  for (const int length : dims) {
    lengths.push_back(random_between(1, length));
  }
  return random_patch(dims, lengths);
}

Patch whole_of(const Dims& dims) {
  Patch patch;
  for (const int length : dims) {
    patch.lo.push_back(0);
    patch.hi.push_back(length - 1);
  }
  return patch;
}

std::vector<std::size_t> positions(const Dims& dims, const Patch& patch, bool is_reversed) {
  std::vector<std::size_t> all;
  const std::size_t ndims = dims.size();
  Dims index = patch.lo;
  while (true) {
    std::size_t position = 0;
    for (std::size_t dim = 0; dim < ndims; ++dim) {
      position =
          position * static_cast<std::size_t>(dims[dim]) + static_cast<std::size_t>(index[dim]);
    }
    all.push_back(position);
    std::size_t step = 0;
    for (; step < ndims; ++step) {
      const std::size_t dim = is_reversed ? step : ndims - 1 - step;
      if (++index[dim] <= patch.hi[dim]) {
        break;
      }
      index[dim] = patch.lo[dim];
    }
    if (step == ndims) {
      return all;
    }
  }
}

Layout random_layout() {
  return all_layouts[random_between(0, 4)];
}

namespace {

// The starts of one block for each process along the first dimension; the last but one is empty.
void set_starts(int handle, const Dims& dims, int processes) {
  std::vector<int> blocks(dims.size(), 1);
  blocks[0] = std::min(processes, dims[0]);
  std::vector<int> starts;
  for (int block = 0; block < blocks[0]; ++block) {
    starts.push_back(block == blocks[0] - 1 && block > 1 ? starts.back() : block);
  }
  starts.resize(static_cast<std::size_t>(blocks[0]) + dims.size() - 1, 0);
  NGA_Set_irreg_distr(handle, starts.data(), blocks.data());
}

// All processes along the first dimension.
void set_blocks(int handle, const Dims& dims, Layout layout, int processes) {
  std::vector<int> block;
  for (const int length : dims) {
    block.push_back(std::min(length, 2));
  }
  std::vector<int> grid(dims.size(), 1);
  grid[0] = processes;
  if (layout == Layout::cyclic) {
    GA_Set_block_cyclic(handle, block.data());
  } else if (layout == Layout::scalapack) {
    GA_Set_block_cyclic_proc_grid(handle, block.data(), grid.data());
  } else {
    GA_Set_tiled_proc_grid(handle, block.data(), grid.data());
  }
}

}  // namespace

int create_array(int type, const Dims& dims, Layout layout, int group) {
  const int number = group == -1 ? GA_Pgroup_get_default() : group;
  const int handle = GA_Create_handle();
  Dims lengths = dims;
  GA_Set_data(handle, static_cast<int>(dims.size()), lengths.data(), type);
  GA_Set_pgroup(handle, number);
  const int processes = GA_Pgroup_nnodes(number);
  if (layout == Layout::irregular) {
    set_starts(handle, dims, processes);
  } else if (layout != Layout::regular) {
    set_blocks(handle, dims, layout, processes);
  }
  CHECK_EQUAL(GA_Allocate(handle), 1);
  return handle;
}

std::string errors_of(const std::function<void()>& act) {
  std::FILE* const file = std::tmpfile();
  std::fflush(stderr);
  const int kept = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  act();
  std::fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
  std::rewind(file);
  std::string text;
  char piece[1000];
  while (const std::size_t count = std::fread(piece, 1, sizeof piece, file)) {
    text.append(piece, count);
  }
  std::fclose(file);
  return text;
}

}  // namespace tessera::test
