/* SPDX-License-Identifier: Apache-2.0
 *
 * See faultvfs.h. A file of this VFS is our header followed by the file of the VFS below; every method
 * hands on, and those that change the disk ask `fails()` first. */
#include "faultvfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

typedef struct {
  sqlite3_file base;
  sqlite3_file *below; /* in the same allocation, behind this */
  const char *name;    /* SQLite keeps it while the file is open; null for a temporary file */
} fault_file;

static sqlite3_vfs *below_vfs;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static char folder[1024];
static long count;
static long fail_at;
static int fail_kind;
static int fail_lasting;

static int failure(void) {
  switch (fail_kind) {
  case FAULT_WRITE: return SQLITE_IOERR_WRITE;
  case FAULT_SYNC: return SQLITE_IOERR_FSYNC;
  default: return SQLITE_FULL;
  }
}

/* Numbers a call, and says whether it fails: an SQLite result code, or SQLITE_OK. */
static int name_fails(const char *name) {
  int code = SQLITE_OK;
  pthread_mutex_lock(&lock);
  if (name != 0 && folder[0] != 0 && strncmp(name, folder, strlen(folder)) == 0) {
    count += 1;
    if (fail_at != 0 && (count == fail_at || (fail_lasting && count > fail_at))) code = failure();
  }
  pthread_mutex_unlock(&lock);
  return code;
}

static int fails(sqlite3_file *file) { return name_fails(((fault_file *)file)->name); }

static sqlite3_file *below(sqlite3_file *file) { return ((fault_file *)file)->below; }

/* MARK: Methods of a file */

static int file_close(sqlite3_file *file) { return below(file)->pMethods->xClose(below(file)); }

static int file_read(sqlite3_file *file, void *bytes, int byte_count, sqlite3_int64 offset) {
  return below(file)->pMethods->xRead(below(file), bytes, byte_count, offset);
}

static int file_write(sqlite3_file *file, const void *bytes, int byte_count, sqlite3_int64 offset) {
  int code = fails(file);
  return code != SQLITE_OK ? code : below(file)->pMethods->xWrite(below(file), bytes, byte_count, offset);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
  int code = fails(file);
  return code != SQLITE_OK ? code : below(file)->pMethods->xTruncate(below(file), size);
}

static int file_sync(sqlite3_file *file, int flags) {
  int code = fails(file);
  return code != SQLITE_OK ? code : below(file)->pMethods->xSync(below(file), flags);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
  return below(file)->pMethods->xFileSize(below(file), size);
}

static int file_lock(sqlite3_file *file, int level) {
  return below(file)->pMethods->xLock(below(file), level);
}

static int file_unlock(sqlite3_file *file, int level) {
  return below(file)->pMethods->xUnlock(below(file), level);
}

static int file_check_lock(sqlite3_file *file, int *result) {
  return below(file)->pMethods->xCheckReservedLock(below(file), result);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
  if (operation == SQLITE_FCNTL_SIZE_HINT) {
    int code = fails(file);
    if (code != SQLITE_OK) return code;
  }
  return below(file)->pMethods->xFileControl(below(file), operation, argument);
}

static int file_sector_size(sqlite3_file *file) { return below(file)->pMethods->xSectorSize(below(file)); }

static int file_characteristics(sqlite3_file *file) {
  return below(file)->pMethods->xDeviceCharacteristics(below(file));
}

static int file_shm_map(sqlite3_file *file, int page, int page_size, int extend, void volatile **memory) {
  if (extend) {
    int code = fails(file);
    if (code != SQLITE_OK) {
      *memory = 0;
      return code;
    }
  }
  return below(file)->pMethods->xShmMap(below(file), page, page_size, extend, memory);
}

static int file_shm_lock(sqlite3_file *file, int offset, int lock_count, int flags) {
  return below(file)->pMethods->xShmLock(below(file), offset, lock_count, flags);
}

static void file_shm_barrier(sqlite3_file *file) { below(file)->pMethods->xShmBarrier(below(file)); }

static int file_shm_unmap(sqlite3_file *file, int delete_flag) {
  return below(file)->pMethods->xShmUnmap(below(file), delete_flag);
}

/* Version 2: shared memory, but no mapping of the file itself, whose writes could not be numbered. */
static const sqlite3_io_methods file_methods = {
    2,             file_close,     file_read,       file_write,       file_truncate,
    file_sync,     file_size,      file_lock,       file_unlock,      file_check_lock,
    file_control,  file_sector_size, file_characteristics, file_shm_map, file_shm_lock,
    file_shm_barrier, file_shm_unmap, 0, 0};

/* MARK: Methods of the VFS */

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags) {
  fault_file *opened = (fault_file *)file;
  (void)vfs;
  opened->base.pMethods = 0;
  opened->name = name;
  opened->below = (sqlite3_file *)(opened + 1);
  memset(opened->below, 0, (size_t)below_vfs->szOsFile);
  int code = below_vfs->xOpen(below_vfs, name, opened->below, flags, out_flags);
  if (opened->below->pMethods != 0) opened->base.pMethods = &file_methods;
  return code;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_folder) {
  (void)vfs;
  int code = name_fails(name);
  return code != SQLITE_OK ? code : below_vfs->xDelete(below_vfs, name, sync_folder);
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
  (void)vfs;
  return below_vfs->xAccess(below_vfs, name, flags, result);
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *name, int byte_count, char *path) {
  (void)vfs;
  return below_vfs->xFullPathname(below_vfs, name, byte_count, path);
}

static sqlite3_vfs fault_vfs;

/* Held from one registration to its end: two suites in one process would count each other's calls. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

int fault_vfs_register(void) {
  pthread_mutex_lock(&turn);
  if (below_vfs == 0) {
    below_vfs = sqlite3_vfs_find(0);
    if (below_vfs == 0) return SQLITE_ERROR;
    fault_vfs = *below_vfs; /* what needs no answer of ours: time, randomness, system calls */
    fault_vfs.pNext = 0;
    fault_vfs.szOsFile = (int)sizeof(fault_file) + below_vfs->szOsFile;
    fault_vfs.zName = "coffer-fault";
    fault_vfs.xOpen = vfs_open;
    fault_vfs.xDelete = vfs_delete;
    fault_vfs.xAccess = vfs_access;
    fault_vfs.xFullPathname = vfs_full_path;
  }
  fault_vfs_disarm();
  return sqlite3_vfs_register(&fault_vfs, 1);
}

int fault_vfs_unregister(void) {
  fault_vfs_disarm();
  int result = below_vfs == 0 ? SQLITE_OK : sqlite3_vfs_register(below_vfs, 1);
  pthread_mutex_unlock(&turn);
  return result;
}

void fault_vfs_arm(const char *below_folder, long point, int kind, int lasting) {
  pthread_mutex_lock(&lock);
  strncpy(folder, below_folder, sizeof(folder) - 1);
  count = 0;
  fail_at = point;
  fail_kind = kind;
  fail_lasting = lasting;
  pthread_mutex_unlock(&lock);
}

void fault_vfs_disarm(void) {
  pthread_mutex_lock(&lock);
  fail_at = 0;
  pthread_mutex_unlock(&lock);
}

long fault_vfs_count(void) {
  pthread_mutex_lock(&lock);
  long counted = count;
  pthread_mutex_unlock(&lock);
  return counted;
}
