/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cases.h: the cases of each file, by subject.
 */
#ifndef TESSERA_TESTS_ARMCI_CASES_H
#define TESSERA_TESTS_ARMCI_CASES_H

#include "tests/armci/check.h"

extern const Case accumulate_cases[];
extern const Case aggregate_cases[];
extern const Case atomic_cases[];
extern const Case completion_cases[];
extern const Case error_cases[];
extern const Case flag_cases[];
extern const Case group_cases[];
extern const Case handle_cases[];
extern const Case locality_cases[];
extern const Case memory_cases[];
extern const Case message_cases[];
extern const Case mutex_cases[];
extern const Case random_cases[];
extern const Case reduction_cases[];
extern const Case start_cases[];
extern const Case strided_cases[];
extern const Case thread_cases[];
extern const Case transfer_cases[];
extern const Case vector_cases[];

#endif /* TESSERA_TESTS_ARMCI_CASES_H */
