/* SPDX-License-Identifier: Apache-2.0
 *
 * A disk whose every change is numbered: the calls that create, write, resize, synchronise, rename and remove
 * files are taken over from the C library for this whole program, SQLite's too. Those below one folder are
 * counted, written down while `crash_disk_record` lasts, and may be made to fail. All others pass through.
 *
 * Memory that SQLite shares between processes (`-shm`) is not a disk and is not counted. */
#ifndef CRASHDISK_H
#define CRASHDISK_H

/* What a call does. */
enum {
  CRASH_DISK_CREATE = 1,     /* an empty file gets a name */
  CRASH_DISK_RESIZE,         /* to `offset` bytes */
  CRASH_DISK_WRITE,          /* `count` bytes at `offset` */
  CRASH_DISK_SYNC,           /* of a file's contents */
  CRASH_DISK_SYNC_FOLDER,    /* of the names in a folder */
  CRASH_DISK_REMOVE,
  CRASH_DISK_RENAME,         /* to `target`, in place of what is there */
  CRASH_DISK_MAKE_FOLDER,
  CRASH_DISK_REMOVE_FOLDER,
  CRASH_DISK_ADD_RECORD,     /* `count` bytes under a new name, in a store of records */
  CRASH_DISK_REMOVE_RECORD,
  CRASH_DISK_SYNC_RECORDS,   /* of all records, added and removed, in a folder */
};

typedef struct {
  int kind;
  unsigned long file;         /* the inode, where an open file is changed */
  long offset;
  long count;
  const unsigned char *bytes; /* owned by the record, like the names; valid until the next one begins */
  const char *path;           /* below the folder */
  const char *target;
} crash_disk_call;

/* Chooses the folder, once; its name is to be absolute and without symbolic links. Returns 0 or an errno. */
int crash_disk_use(const char *folder);

/* Forgets what was written down, and numbers and writes down every change from now on. */
void crash_disk_record(void);

/* From the next change on, call `first` fails with `code`, an errno; and every `period`-th after it, none if
 * `period` is 0. A write that fails with EIO leaves half of its bytes, with any other error none. */
void crash_disk_fail(long first, long period, int code);

/* Ends both. */
void crash_disk_stop(void);

/* A store of records that knows nothing but these: a service of the desktop, say, played by a folder. They
 * return 0 or an errno. A record that could not be added is there with half of its bytes if that was EIO. */
int crash_disk_add_record(const char *path, const void *bytes, long count);
int crash_disk_remove_record(const char *path);
int crash_disk_sync_records(const char *store);

/* How many changes were numbered since `crash_disk_record`, those included that failed. */
long crash_disk_number(void);

/* How many are written down. */
long crash_disk_count(void);

/* One that is written down, from 0. */
const crash_disk_call *crash_disk_at(long index);

/* Lets this process be killed when the one that started it ends. */
void crash_disk_end_with_parent(void);

#endif
