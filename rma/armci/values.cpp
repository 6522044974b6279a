// SPDX-License-Identifier: BSD-3-Clause
//
// Single values. Non-blocking puts copy the value and so are locally complete at once.
#include "rma/armci/call.hpp"
#include "rma/armci/parmci.h"
#include "rma/raw_transfer.hpp"

namespace tessera::rma::armci {
namespace {

template <class T>
int put_value(const char* function, const T& value, void* target, int proc) {
  return call(function, [&](Session& session) {
    return put(session.job, RawAddress{WorldRank{proc}, target}, &value, sizeof value);
  });
}

template <class T>
T get_value(const char* function, const void* source, int proc) {
  return call_for(function, T{}, [&](Session& session) -> Result<T> {
    T value{};
    TESSERA_RETURN_IF_ERROR(
        get(session.job, RawAddress{WorldRank{proc}, source}, &value, sizeof value));
    return value;
  });
}

}  // namespace
}  // namespace tessera::rma::armci

namespace armci = tessera::rma::armci;

extern "C" {

int PARMCI_PutValueInt(int src, void* dst, int proc) {
  return armci::put_value("ARMCI_PutValueInt", src, dst, proc);
}
extern decltype(ARMCI_PutValueInt) ARMCI_PutValueInt
    [[gnu::weak, gnu::alias("PARMCI_PutValueInt")]];

int PARMCI_NbPutValueInt(int src, void* dst, int proc, armci_hdl_t*) {
  return armci::put_value("ARMCI_NbPutValueInt", src, dst, proc);
}
extern decltype(ARMCI_NbPutValueInt) ARMCI_NbPutValueInt
    [[gnu::weak, gnu::alias("PARMCI_NbPutValueInt")]];

int PARMCI_GetValueInt(void* src, int proc) {
  return armci::get_value<int>("ARMCI_GetValueInt", src, proc);
}
extern decltype(ARMCI_GetValueInt) ARMCI_GetValueInt
    [[gnu::weak, gnu::alias("PARMCI_GetValueInt")]];

int PARMCI_PutValueLong(long src, void* dst, int proc) {
  return armci::put_value("ARMCI_PutValueLong", src, dst, proc);
}
extern decltype(ARMCI_PutValueLong) ARMCI_PutValueLong
    [[gnu::weak, gnu::alias("PARMCI_PutValueLong")]];

int PARMCI_NbPutValueLong(long src, void* dst, int proc, armci_hdl_t*) {
  return armci::put_value("ARMCI_NbPutValueLong", src, dst, proc);
}
extern decltype(ARMCI_NbPutValueLong) ARMCI_NbPutValueLong
    [[gnu::weak, gnu::alias("PARMCI_NbPutValueLong")]];

long PARMCI_GetValueLong(void* src, int proc) {
  return armci::get_value<long>("ARMCI_GetValueLong", src, proc);
}
extern decltype(ARMCI_GetValueLong) ARMCI_GetValueLong
    [[gnu::weak, gnu::alias("PARMCI_GetValueLong")]];

int PARMCI_PutValueFloat(float src, void* dst, int proc) {
  return armci::put_value("ARMCI_PutValueFloat", src, dst, proc);
}
extern decltype(ARMCI_PutValueFloat) ARMCI_PutValueFloat
    [[gnu::weak, gnu::alias("PARMCI_PutValueFloat")]];

int PARMCI_NbPutValueFloat(float src, void* dst, int proc, armci_hdl_t*) {
  return armci::put_value("ARMCI_NbPutValueFloat", src, dst, proc);
}
extern decltype(ARMCI_NbPutValueFloat) ARMCI_NbPutValueFloat
    [[gnu::weak, gnu::alias("PARMCI_NbPutValueFloat")]];

float PARMCI_GetValueFloat(void* src, int proc) {
  return armci::get_value<float>("ARMCI_GetValueFloat", src, proc);
}
extern decltype(ARMCI_GetValueFloat) ARMCI_GetValueFloat
    [[gnu::weak, gnu::alias("PARMCI_GetValueFloat")]];

int PARMCI_PutValueDouble(double src, void* dst, int proc) {
  return armci::put_value("ARMCI_PutValueDouble", src, dst, proc);
}
extern decltype(ARMCI_PutValueDouble) ARMCI_PutValueDouble
    [[gnu::weak, gnu::alias("PARMCI_PutValueDouble")]];

int PARMCI_NbPutValueDouble(double src, void* dst, int proc, armci_hdl_t*) {
  return armci::put_value("ARMCI_NbPutValueDouble", src, dst, proc);
}
extern decltype(ARMCI_NbPutValueDouble) ARMCI_NbPutValueDouble
    [[gnu::weak, gnu::alias("PARMCI_NbPutValueDouble")]];

double PARMCI_GetValueDouble(void* src, int proc) {
  return armci::get_value<double>("ARMCI_GetValueDouble", src, proc);
}
extern decltype(ARMCI_GetValueDouble) ARMCI_GetValueDouble
    [[gnu::weak, gnu::alias("PARMCI_GetValueDouble")]];

}  // extern "C"
