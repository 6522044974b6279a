// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/fake_verbs.hpp"

namespace tessera::rma::test {

int connect_to(verbs::VerbsLibrary& library, ibv_qp* queue, ibv_qp* other,
               const ConnectOptions& options) {
  const auto gids = library.query_gid_table(other->context);
  ibv_port_attr port{};
  if (const int error = library.query_port(other->context, 1, port)) {
    return error;
  }
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = 1;
  attributes.qp_access_flags = options.access;
  if (const int error =
          library.modify_qp(queue, attributes,
                            IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)) {
    return error;
  }
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = options.mtu;
  attributes.dest_qp_num = other->qp_num;
  attributes.max_dest_rd_atomic = options.reads_at_a_time;
  attributes.min_rnr_timer = 1;
  attributes.ah_attr.port_num = 1;
  attributes.ah_attr.dlid = port.lid;
  if (port.link_layer == IBV_LINK_LAYER_ETHERNET && options.gid_index < gids.size()) {
    attributes.ah_attr.is_global = 1;
    attributes.ah_attr.grh.dgid = gids[options.gid_index].gid;
    attributes.ah_attr.grh.sgid_index = options.gid_index;
    attributes.ah_attr.grh.hop_limit = 64;
  }
  if (const int error =
          library.modify_qp(queue, attributes,
                            IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)) {
    return error;
  }
  attributes.qp_state = IBV_QPS_RTS;
  attributes.max_rd_atomic = options.reads_at_a_time;
  attributes.timeout = options.timeout;
  attributes.retry_cnt = options.retry_count;
  attributes.rnr_retry = options.rnr_retry;
  return library.modify_qp(queue, attributes,
                           IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC |
                               IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_TIMEOUT);
}

int connect(verbs::VerbsLibrary& library, ibv_qp* one, ibv_qp* other,
            const ConnectOptions& options) {
  if (const int error = connect_to(library, one, other, options)) {
    return error;
  }
  return one == other ? 0 : connect_to(library, other, one, options);
}

}  // namespace tessera::rma::test
