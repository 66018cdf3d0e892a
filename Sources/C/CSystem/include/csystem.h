/* SPDX-License-Identifier: Apache-2.0
 *
 * The few calls of libc and the kernel that Swift cannot import: variadic functions, macros, and
 * functions behind a feature test; and the sandboxes of the processes that decode
 * pictures, that start an editor and that carry requests over the network. Nothing else belongs here. */
#ifndef COFFER_CSYSTEM_H
#define COFFER_CSYSTEM_H

#include <stddef.h>
#include <stdint.h>

/* Erases memory, which the compiler may not leave out, and the vector registers. */
void coffer_erase(void *bytes, size_t count);

/* Erases the 32 KiB of stack that the caller does not use, where functions that it called have left their variables. */
void coffer_erase_stack(void);

/* The first place of a byte sequence in another (memmem), or null. */
const void *coffer_find(const void *haystack, size_t haystack_count, const void *needle,
                        size_t needle_count);

/* Core dumps, crash reports of the Swift runtime, and reading by other processes of the same user: off.
 * 0 when it worked. */
int coffer_make_undumpable(void);

/* 1 while other processes of the same user may read this one's memory. */
int coffer_is_dumpable(void);

/* getrandom(2) without flags: the count written, or -1 and errno. */
long coffer_getrandom(void *bytes, size_t count);

/* Gives a file another name unless that is taken (renameat2). 0, or -1 and errno: EEXIST when it is, EINVAL
 * where the file system cannot do this. */
int coffer_rename_new(const char *path, const char *target);

/* Opens /dev/null in the wrong direction on each of the descriptors 0 to 2 that is closed. Otherwise the next file
 * that is opened, perhaps one with secrets, could become standard output. 0, or -1 when one stays closed. */
int coffer_fill_standard_descriptors(void);

/* Writes all bytes, however many calls that takes, and waits for a descriptor that does not block. 0, or -1 and
 * errno. */
int coffer_write_all(int descriptor, const void *bytes, size_t count);

/* A new file without a name in a folder, mode 0600 (O_TMPFILE); it is gone when it is closed, unless it gets a
 * name. `flags` are O_WRONLY or O_RDWR, and O_EXCL for one that never gets a name. A descriptor, or -1 and errno:
 * EOPNOTSUPP where the file system has no such files, or where they could not get a name. */
int coffer_open_unnamed(const char *folder, int flags);

/* Starts writing a part of a file to the disk and does not wait for it. What fails here fails again in fsync. */
void coffer_start_writing(int descriptor, int64_t offset, int64_t count);

/* Gives such a file a name, unless that is taken. 0, or -1 and errno: EEXIST when it is. */
int coffer_name_unnamed(int descriptor, const char *path);

/* Columns of the terminal of a descriptor; 0 when the descriptor is not a terminal. */
int coffer_terminal_columns(int descriptor);

/* Its rows; 0 when the descriptor is not a terminal. */
int coffer_terminal_rows(int descriptor);

/* Columns of a terminal that a character takes, in UTF-8 whatever the session's language (wcwidth);
 * -1 for what is not printable or not known. */
int coffer_character_columns(uint32_t scalar);

/* Bytes in a page. */
long coffer_page_size(void);

/* Bytes of address space this process may have; -1 when there is no limit. */
long long coffer_address_space_limit(void);

/* Keeps pages out of core dumps and forked children, and locks them against swapping or asks for huge ones.
 * 0 when locked. */
int coffer_guard_pages(void *pages, size_t count, int lock);

/* Asks for huge pages, and keeps the pages out of core dumps. */
void coffer_prepare_scratch(void *pages, size_t count);

/* A descriptor of a file in memory, without a name (memfd_create), or -1 and errno. */
int coffer_memory_file(void);

/* A descriptor of pages that nobody but this process can read (memfd_secret), or -1 and errno. */
int coffer_memfd_secret(void);

/* The effective user and the id of the process at the other end of a local socket. 0 when they are known. */
int coffer_peer(int socket, uint32_t *user, int32_t *process);

/* pidfd_open: a descriptor of a process, readable when that has ended, or -1 and errno. */
int coffer_open_process(int32_t process);

/* pidfd_send_signal: 0, or -1 and errno. */
int coffer_signal_process(int descriptor, int signal);

/* accept4: a connection that does not block and is not passed on, or -1 and errno. */
int coffer_accept(int listener);

/* A pipe whose ends are not passed on. 0, or -1 and errno. */
int coffer_pipe(int *reading, int *writing);

/* Has a child that is spawned with these actions (posix_spawn_file_actions_t) close every descriptor from `first` on;
 * 0, or the system's reason why not. */
int coffer_close_from(void *actions, int first);

/* Starts a program in a session of its own, in "/", with the standard descriptors at /dev/null, `passed`
 * under the number `number`, and nothing else open; signals as at a start. Its id, or -errno. */
int coffer_spawn_apart(const char *path, char *const arguments[], char *const environment[], int passed,
                       int number);

/* No program started from here can gain privileges. 0 when it worked. */
int coffer_refuse_privileges(void);

/* Closes every descriptor from `first` on, but `kept` (-1 for none). 0 when it worked. */
int coffer_close_descriptors(int first, int kept);

/* Blocks SIGTERM, SIGINT and SIGHUP; the descriptor is readable when one comes. -1 and errno. */
int coffer_ending_signals(void);

/* Nanoseconds since the machine was started, time asleep included. */
uint64_t coffer_boot_time(void);

/* A timer on that clock, as a descriptor that is readable once the time has come. -1 and errno. */
int coffer_boot_timer(void);

/* Sets such a timer to a moment; 0 stops it. 0 when it worked. */
int coffer_set_boot_timer(int timer, uint64_t moment);

/* For a process that was started to read hostile bytes and holds nothing else: closes every descriptor
 * but 0, 1 and 2, and lets the process do nothing from now on but compute, take ordinary memory, read
 * and write those three, and end. It cannot open, connect, start, trace or signal anything, nor make
 * memory executable; whatever it tries beyond that kills it. It may take another 1 GiB of address space
 * and 10 s of processor time, and it dies with the thread that started it. There is no way back.
 * 0 when all of it holds; -1 when some of it could not be had, and then the process should end. */
int coffer_enter_decoder_sandbox(void);

/* Loads the libraries that find addresses for names, which a sandbox would not let in later. */
void coffer_prepare_name_service(void);

/* For a process of one thread that speaks to one server and to `socket`, a local one: closes every other descriptor from
 * 3 on. From now on the process is not dumpable, gains no privileges, reads no files but authorities and the settings of
 * name service and OpenSSL, writes none, and starts, traces, reads and signals no process; it makes no memory executable.
 * It makes sockets of the Internet alone and listens on none; with Landlock of version 4 it connects to the ports `port`
 * and 53 alone. There is no way back.
 *
 * 0, or the step that the system refused, with its reason in errno: 1 descriptors and dumps, 2 privileges, 3 Landlock,
 * 4 the filter of system calls. */
int coffer_enter_courier_sandbox(int socket, uint16_t port);

/* For a process of one thread, just started, that will give a secret text to an editor: from now on nothing that it
 * or a process of its own writes into a file gets to a disk. /tmp and /var/tmp are new and in memory that is never
 * swapped; every other file system can only be read; devices work as before. No process gains privileges or leaves a
 * core dump, and no file grows beyond 1 GiB.
 *
 * `seen` is a list of folders with a colon between each two. Those of them that are below /tmp or /var/tmp are there all
 * the same, and can only be read: a user's home, sockets of a desktop, an editor.
 *
 * Returns in a new process, the first of its own process namespace: when it ends, the kernel ends every process that
 * it started, and frees those files with the last of them. The calling process waits for it, ends after it and does
 * not return, unless a step failed. Each of the two dies with its parent. `connection` is a socket to the parent; it
 * is closed in the waiting process.
 *
 * 0, or the step that the system refused, with its reason in errno: 1 the namespaces, 2 the user's own number in them,
 * 3 mounts of their own, 4 the read-only file systems, 5 the files in memory, 6 the new process or its limits. */
int coffer_enter_editor_sandbox(int connection, const char *seen);

#endif
