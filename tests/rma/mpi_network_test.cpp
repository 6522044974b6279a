// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>

#include "rma/engine/mpi_network.hpp"

namespace tessera::rma::detail {
namespace {

namespace fs = std::filesystem;

/// A machine whose file system shows the given devices.
class Machine {
 public:
  explicit Machine(const std::vector<std::string>& paths)
      : root_(fs::temp_directory_path() / ("tessera-fabric-" + std::to_string(getpid()))) {
    for (const std::string& each : paths) {
      fs::create_directories(root_ / each);
    }
  }
  ~Machine() { fs::remove_all(root_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  [[nodiscard]] MpiNetwork find_network(
      const std::map<std::string, std::string>& variables = {}) const {
    return find_mpi_network(root_, [&](const char* name) {
      const auto found = variables.find(name);
      return found == variables.end() ? std::string() : found->second;
    });
  }

 private:
  fs::path root_;
};

TEST(MpiNetwork, IsNamedByItsDevice) {
  EXPECT_EQ(Machine({"sys/class/cxi/cxi0"}).find_network().network, "Slingshot (cxi0)");
  EXPECT_EQ(Machine({"sys/class/infiniband/hfi1_0"}).find_network().network, "Omni-Path (hfi1_0)");
  EXPECT_EQ(Machine({"sys/class/infiniband/efa_0"}).find_network().network, "EFA (efa_0)");
  EXPECT_EQ(Machine({"sys/class/infiniband/mlx5_0"}).find_network().network,
            "InfiniBand or RoCE (mlx5_0)");
}

TEST(MpiNetwork, IsMissingIfOnlyEthernetExists) {
  const MpiNetwork none = Machine({"sys/class/net/eth0"}).find_network();
  EXPECT_EQ(none.network, "");
  EXPECT_EQ(none.reason, "this machine has no network but Ethernet");
  EXPECT_EQ(Machine({"sys/class/infiniband/rxe0"}).find_network().network, "");
}

TEST(MpiNetwork, IsNotUsedIfTheUserMadeMpiUseTcp) {
  const Machine machine({"sys/class/cxi/cxi0"});
  const auto reason = [&](const std::map<std::string, std::string>& variables) {
    return machine.find_network(variables).reason;
  };
  EXPECT_EQ(reason({{"UCX_TLS", "tcp,self,sm"}}), "UCX_TLS makes MPI use TCP");
  EXPECT_EQ(reason({{"FI_PROVIDER", "tcp;ofi_rxm"}}), "FI_PROVIDER makes MPI use TCP");
  EXPECT_EQ(reason({{"OMPI_MCA_pml", "ob1"}, {"OMPI_MCA_btl", "self,tcp"}}),
            "OMPI_MCA_btl makes MPI use TCP");
  // Settings that leave MPI a network other than TCP.
  EXPECT_EQ(reason({{"UCX_TLS", "rc,tcp,self"}}), "");
  EXPECT_EQ(reason({{"OMPI_MCA_btl", "self,tcp"}}), "");
  EXPECT_EQ(reason({{"OMPI_MCA_pml", "ob1"}, {"OMPI_MCA_btl", "self,vader"}}), "");
}

}  // namespace
}  // namespace tessera::rma::detail
