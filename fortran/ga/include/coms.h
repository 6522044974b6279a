/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMS_H_
#define COMS_H_

#include "ga.h"

#define SYNC GA_Sync
#define NPROC GA_Nnodes
#define ME GA_Nodeid
#define ERROR GA_Error

#endif
