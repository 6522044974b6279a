// SPDX-License-Identifier: BSD-3-Clause
//
// Checks through the pointer what commons.F wrote through its arrays; then writes integers and
// doubles.
#include <string.h>

#include "macdecls.h"

Integer get_place_(const Integer* kind, const Integer* handle);

static Integer compare(const void* found, const void* wanted, size_t bytes) {
  return memcmp(found, wanted, bytes) == 0 ? 0 : 1;
}

// The number of elements that are wrong.
Integer get_place_(const Integer* kind, const Integer* handle) {
  char* place = NULL;
  if (!MA_get_pointer(*handle, &place)) {
    return 1000;
  }
  Integer wrong = 0;
  for (int i = 0; i < 11; ++i) {
    const char byte = (char)(40 + i);
    const Integer integer = 10 * i;
    const Integer truth = i % 2 == 0;
    const float real = 0.5F * (float)i;
    const double dbl = 0.25 * i;
    const float scpl[2] = {(float)i, (float)-i};
    const double dcpl[2] = {i, 2 * i};
    switch (*kind) {
      case MT_F_BYTE:
        wrong += compare(place + i, &byte, sizeof byte);
        break;
      case MT_F_INT:
        wrong += compare(place + (size_t)i * sizeof integer, &integer, sizeof integer);
        ((Integer*)(void*)place)[i] = 7 + i;
        break;
      case MT_F_LOG:
        wrong += compare(place + (size_t)i * sizeof truth, &truth, sizeof truth);
        break;
      case MT_F_REAL:
        wrong += compare(place + (size_t)i * sizeof real, &real, sizeof real);
        break;
      case MT_F_DBL:
        wrong += compare(place + (size_t)i * sizeof dbl, &dbl, sizeof dbl);
        ((double*)(void*)place)[i] = 7 + i;
        break;
      case MT_F_SCPL:
        wrong += compare(place + (size_t)i * sizeof scpl, scpl, sizeof scpl);
        break;
      default:
        wrong += compare(place + (size_t)i * sizeof dcpl, dcpl, sizeof dcpl);
    }
  }
  return wrong;
}
