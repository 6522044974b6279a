// SPDX-License-Identifier: BSD-3-Clause
//
// TCGMSG's Fortran interface. Arguments are addresses; a text has its length at the end.
#include "fortran/ga/tcgmsg/fortran_names.h"

#include <cstdlib>
#include <string>

#include "fortran/ga/tcgmsg/calls.hpp"

namespace {

namespace tcgmsg = tessera::ga::tcgmsg;

// Without the blanks at its end.
std::string_view text(const char* name, std::size_t length) noexcept {
  while (length > 0 && name[length - 1] == ' ') {
    --length;
  }
  return {name, length};
}

Integer converted(const char* function, Integer count, std::size_t from, std::size_t to) noexcept {
  return static_cast<Integer>(tcgmsg::convert(function, count, from, to));
}

}  // namespace

extern "C" {

void pbeginf_() {
  tcgmsg::begin_without_arguments();
}
void pbginf_() {
  tcgmsg::begin_without_arguments();
}
void pend_() {
  tcgmsg::end();
}
Integer tcgready_() {
  return tcgmsg::Messages::is_begun() ? 1 : 0;
}
Integer nnodes_() {
  return static_cast<Integer>(tcgmsg::nodes());
}
Integer nodeid_() {
  return static_cast<Integer>(tcgmsg::node());
}
void snd_(const Integer* type, void* buffer, const Integer* length, const Integer* node,
          const Integer* sync) {
  tcgmsg::send(*type, buffer, *length, *node, *sync);
}
void rcv_(const Integer* type, void* buffer, const Integer* length, Integer* received,
          const Integer* node, Integer* from, const Integer* sync) {
  const auto came = tcgmsg::receive(*type, buffer, *length, *node, *sync);
  *received = static_cast<Integer>(came.bytes);
  *from = static_cast<Integer>(came.from);
}
Integer probe_(const Integer* type, const Integer* node) {
  return static_cast<Integer>(tcgmsg::probe(*type, *node));
}
void waitcom_(const Integer* node) {
  tcgmsg::wait(*node);
}
void brdcst_(const Integer*, void* buffer, const Integer* length, const Integer* root) {
  tcgmsg::broadcast(buffer, *length, *root);
}
void dgop_(const Integer*, double* numbers, const Integer* count, const char* operation,
           std::size_t length) {
  tcgmsg::combine("dgop", numbers, *count, text(operation, length));
}
void igop_(const Integer*, Integer* numbers, const Integer* count, const char* operation,
           std::size_t length) {
  tcgmsg::combine("igop", numbers, *count, text(operation, length));
}
void synch_(const Integer*) {
  tcgmsg::synchronize();
}
Integer nxtval_(const Integer* processes) {
  return static_cast<Integer>(tcgmsg::next(*processes));
}
void pfcopy_(const Integer*, const Integer* root, const char* name, std::size_t length) {
  tcgmsg::copy_file(*root, std::string(text(name, length)).c_str());
}
void pfilecopy_(const Integer*, const Integer* root, const char* name) {
  tcgmsg::copy_file(*root, name);
}
Integer mdtob_(const Integer* count) {
  return converted("mdtob", *count, sizeof(double), 1);
}
Integer mitob_(const Integer* count) {
  return converted("mitob", *count, sizeof(Integer), 1);
}
Integer mdtoi_(const Integer* count) {
  return converted("mdtoi", *count, sizeof(double), sizeof(Integer));
}
Integer mitod_(const Integer* count) {
  return converted("mitod", *count, sizeof(Integer), sizeof(double));
}
double tcgtime_() {
  return tcgmsg::seconds();
}
Integer mtime_() {
  return static_cast<Integer>(tcgmsg::seconds() * 100.0);
}
double drand48_() {
  return drand48();
}
double drand_(const Integer* seed) {
  if (*seed != 0) {
    srand48(*seed);
  }
  return drand48();
}
void srand48_(const Integer* seed) {
  srand48(*seed);
}
void parerr_(const Integer* code) {
  tcgmsg::end_with("parerr: the program found an error,", *code);
}
void llog_() {
  tcgmsg::write_to_log();
}
Integer niceftn_(const Integer* by) {
  return static_cast<Integer>(tcgmsg::be_nice(*by));
}
void setdbg_(const Integer* value) {
  tcgmsg::set_debug(*value);
}
void stats_() {
  tcgmsg::print_counts();
}

// Marks in a log of events, which is not kept.
void evon_() {}
void evoff_() {}
void evbgin_(const char*, std::size_t) {}
void evend_(const char*, std::size_t) {}
void event_(const char*, std::size_t) {}

}  // extern "C"
