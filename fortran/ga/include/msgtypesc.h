/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What may be added to a message's type, from 1 to 32767, for what is in the message. */
#ifndef MSGTYPES_H_
#define MSGTYPES_H_

#define MSGDBL 65536
#define MSGINT 131072
#define MSGCHR 262144

#endif
