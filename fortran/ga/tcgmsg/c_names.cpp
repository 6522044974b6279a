// SPDX-License-Identifier: BSD-3-Clause
//
// TCGMSG's C interface, tcgmsg.h.
#include <cstdlib>

#include "fortran/ga/include/tcgmsg.h"
#include "fortran/ga/tcgmsg/calls.hpp"

namespace {

namespace tcgmsg = tessera::ga::tcgmsg;

std::string_view text(const char* name) noexcept {
  return name == nullptr ? std::string_view() : name;
}

void answer(long* where, std::int64_t number) noexcept {
  if (where != nullptr) {
    *where = number;
  }
}

}  // namespace

extern "C" {

void tcg_pbegin(int argc, char** argv) {
  tcgmsg::begin(&argc, &argv);
}
void tcg_alt_pbegin(int* argc, char** argv[]) {
  tcgmsg::begin(argc, argv);
}
void tcg_pbeginf() {
  tcgmsg::begin_without_arguments();
}
void tcg_pbginf() {
  tcgmsg::begin_without_arguments();
}
void tcg_pend() {
  tcgmsg::end();
}
long tcg_ready() {
  return tcgmsg::Messages::is_begun() ? 1 : 0;
}
long tcg_nnodes() {
  return tcgmsg::nodes();
}
long tcg_nodeid() {
  return tcgmsg::node();
}
void tcg_snd(long type, void* buf, long lenbuf, long node, long sync) {
  tcgmsg::send(type, buf, lenbuf, node, sync);
}
void tcg_rcv(long type, void* buf, long lenbuf, long* lenmes, long nodeselect, long* nodefrom,
             long sync) {
  const auto came = tcgmsg::receive(type, buf, lenbuf, nodeselect, sync);
  answer(lenmes, came.bytes);
  answer(nodefrom, came.from);
}
long tcg_probe(long type, long node) {
  return tcgmsg::probe(type, node);
}
void tcg_waitcom(long node) {
  tcgmsg::wait(node);
}
void tcg_brdcst(long, void* buf, long lenbuf, long originator) {
  tcgmsg::broadcast(buf, lenbuf, originator);
}
void tcg_dgop(long, double* x, long n, char* op) {
  tcgmsg::combine("dgop", x, n, text(op));
}
void tcg_igop(long, long* x, long n, char* op) {
  tcgmsg::combine("igop", x, n, text(op));
}
void tcg_synch(long) {
  tcgmsg::synchronize();
}
long tcg_nxtval(long mproc) {
  return tcgmsg::next(mproc);
}
void tcg_pfcopy(long, long node0, char* fname) {
  tcgmsg::copy_file(node0, fname);
}
long tcg_mdtob(long n) {
  return tcgmsg::convert("mdtob", n, sizeof(double), 1);
}
long tcg_mitob(long n) {
  return tcgmsg::convert("mitob", n, sizeof(long), 1);
}
long tcg_mdtoi(long n) {
  return tcgmsg::convert("mdtoi", n, sizeof(double), sizeof(long));
}
long tcg_mitod(long n) {
  return tcgmsg::convert("mitod", n, sizeof(long), sizeof(double));
}
double tcg_time() {
  return tcgmsg::seconds();
}
long tcg_mtime() {
  return static_cast<long>(tcgmsg::seconds() * 100.0);
}
double tcg_drand48() {
  return drand48();
}
void tcg_srand48(long seed) {
  srand48(seed);
}
void tcg_error(char* msg, long code) {
  tcgmsg::end_with(msg == nullptr ? "" : msg, code);
}
void tcg_parerr(long code) {
  tcgmsg::end_with("parerr: the program found an error,", code);
}
void tcg_llog() {
  tcgmsg::write_to_log();
}
long tcg_niceftn(long ival) {
  return tcgmsg::be_nice(ival);
}
void tcg_setdbg(long value) {
  tcgmsg::set_debug(value);
}
void tcg_stats() {
  tcgmsg::print_counts();
}

}  // extern "C"
