/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHEMIO_H
#define CHEMIO_H

#define ELIO_RW -1
#define ELIO_W -2
#define ELIO_R -3

#define ELIO_DONE -1
#define ELIO_PENDING 1
#define ELIO_OK 0

#define CHEMIO_RW -1
#define CHEMIO_W -2
#define CHEMIO_R -3
#define CHEMIO_DONE -1
#define CHEMIO_PENDING 1
#define CHEMIO_OK 0

#endif
