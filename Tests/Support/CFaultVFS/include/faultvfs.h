/* SPDX-License-Identifier: Apache-2.0
 *
 * An SQLite VFS for tests, in front of the default one. It numbers every call that changes the disk
 * (write, sync, truncate, delete, a request for space, a longer shared memory) on all files, from 1, and
 * makes one of them fail, or that one and all that follow. A call that fails does nothing. Only files
 * below one folder are numbered: other tests of the process are not disturbed.
 *
 * One per process; files opened before it was registered are not seen. */
#ifndef COFFER_FAULT_VFS_H
#define COFFER_FAULT_VFS_H

/* Which failure: the same result codes that a full or broken disk gives. */
enum {
  FAULT_FULL = 0, /* SQLITE_FULL */
  FAULT_WRITE,    /* SQLITE_IOERR_WRITE */
  FAULT_SYNC      /* SQLITE_IOERR_FSYNC */
};

/* Makes it the default VFS, once no other thread has it so. 0, or an SQLite result code. Whatever it
 * answers, the same thread must take it back. */
int fault_vfs_register(void);

/* Makes the former default VFS the default again. */
int fault_vfs_unregister(void);

/* Starts counting from 0, on files whose path begins with `folder`. The call number `point` fails (0: none), and with `lasting` every later one. */
void fault_vfs_arm(const char *folder, long point, int kind, int lasting);

/* No more faults; counting goes on. */
void fault_vfs_disarm(void);

/* Calls since it was armed. */
long fault_vfs_count(void);

#endif
