/* SPDX-License-Identifier: Apache-2.0
 *
 * What filters of system calls (seccomp(2)) have in common. Without COFFER_AUDIT_ARCH this processor has none. */
#ifndef COFFER_FILTERS_H
#define COFFER_FILTERS_H

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

#if defined(__x86_64__)
#define COFFER_AUDIT_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define COFFER_AUDIT_ARCH AUDIT_ARCH_AARCH64
#endif

#define KILL BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))

#endif
