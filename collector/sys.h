/*
 * sys: every system call of the collector, through one table that tests replace.
 *
 * All functions return 0 or a result, or -errno; none touches errno, so that they may be used
 * inside a program's calls.  Calls that a signal interrupts are taken up again.  Any thread, also
 * signal handlers.
 */
#ifndef COLLECTOR_SYS_H
#define COLLECTOR_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pthread.h>
#include <signal.h>
#include <sys/types.h>

struct iovec;
struct stat;

struct gp_sys {
	/* system call `number`; result or -errno */
	long (*call)(long number, long a, long b, long c, long d, long e, long f);
	/* start a thread of ours with a small stack, besides what its thread-local variables take, and without signals
	 * (gp_sys_block_signals_in()); 0 or -errno */
	int (*thread)(pthread_t *thread, void *(*body)(void *));
};

extern struct gp_sys gp_sys;

/*
 * A program may forbid system calls to itself, our threads included, and be ended for one.  Whether it has done so since
 * gp_sys_remember_filter(); what was there before, as in most containers, is meant for programs like any.  Then files are
 * neither opened, made larger or smaller, nor removed any more: these calls, and all others that docs/reference/limits.md does not name, fail with
 * -EPERM without being made.
 */
void gp_sys_remember_filter(void);
bool gp_sys_is_confined(void);

/* Always with O_CLOEXEC and O_NOFOLLOW; a file that is made has that mode whatever the umask.  Returns a descriptor. */
int gp_sys_open(const char *path, int flags, unsigned mode);
void gp_sys_close(int fd);

/* Write all of it; returns the bytes written, fewer than asked only after an error, which goes to
 * *error (-errno). */
size_t gp_sys_write(int fd, const void *data, size_t bytes, int *error);

/* The same, from a place in a file. */
size_t gp_sys_write_at(int fd, const void *data, size_t bytes, uint64_t offset, int *error);

/* Up to `size` bytes of a file from its start; returns their number. */
ssize_t gp_sys_read_file(const char *path, void *data, size_t size);

/* The first line of a small file, NUL-terminated, without its newline; returns its length. */
ssize_t gp_sys_read_line(const char *path, char *text, size_t size);

int gp_sys_truncate(int fd, uint64_t bytes);

/* Allocate real blocks and grow the file to from_bytes + bytes. */
int gp_sys_allocate(int fd, uint64_t from_bytes, uint64_t bytes);
int gp_sys_unlink(const char *path);

struct gp_file_id {
	uint64_t device;
	uint64_t inode;
	uint32_t type; /* S_IFREG and the like */
};

int gp_sys_file_id(int fd, struct gp_file_id *id);
int gp_sys_length(int fd, uint64_t *bytes);
bool gp_sys_has_name(int fd); /* it was not removed */

/* Of a file in an open folder, no link followed. */
int gp_sys_length_of(int folder, const char *name, uint64_t *bytes);

/* The next entries of an open folder, as getdents64 gives them; returns their bytes, 0 = no more. */
ssize_t gp_sys_read_folder(int folder, void *entries, size_t size);

/* The type (statfs f_type) and free bytes of the file system that holds an open file. */
int gp_sys_file_system(int fd, uint64_t *type, uint64_t *free_bytes);

/*
 * Map `bytes` readable and writable: from_bytes onwards of fd, shared; or, with fd = -1, private
 * memory. Every page is really there afterwards: touching it neither faults for lack of space nor
 * waits.
 */
int gp_sys_map(int fd, uint64_t from_bytes, size_t bytes, void **memory);

/* In a forked child, where gp_sys_map() had mapped that in its parent: zeroed memory of its own.  -errno: also where something else is there by now. */
int gp_sys_map_in_child(void *memory, size_t bytes);
void gp_sys_unmap(void *memory, size_t bytes);

/* Let whole pages of private memory become zero in forked children; -EINVAL where the kernel cannot
 * do that. */
int gp_sys_wipe_on_fork(void *memory, size_t bytes);

/* Sleep while *word == expected, until woken or timeout_ns is over. */
void gp_sys_wait(uint32_t *word, uint32_t expected, uint64_t timeout_ns);
void gp_sys_wake(uint32_t *word);

/* By a wait for what nobody does: a program that forbids itself system calls has to allow one less. */
void gp_sys_sleep(uint64_t duration_ns);

/*
 * Hold back what signals would come to this thread, until the mask that was returned is given back: a handler that leaves by a jump would leave
 * behind what the thread holds.  Not those that an instruction of its own may raise, or a filter of system calls, nor `but`, whose bit 0 is the signal 1.
 * No function of the C library's is called, for the program may have its own.
 *
 * Whoever holds GP_SYS_STOP_SIGNALS waits for no lock that a thread of the program may have: a collector of garbage stops that one, and then waits for
 * this one to stop, too.
 */
uint64_t gp_sys_hold_signals(uint64_t but);
void gp_sys_let_signals(uint64_t before);

#define GP_SYS_SIGNAL(number) ((uint64_t)1 << ((number)-1)) /* in a mask of the kernel's */

/* By which the C library tells all threads something (setuid()): whoever holds them keeps who says so waiting. */
#define GP_SYS_LIBC_SIGNALS ((uint64_t)3 << 31)

/* By which collectors of garbage, and runtimes with threads of their own, stop the program's: SIGPWR, SIGXCPU, SIGUSR1 and 2, SIGURG, those of real time. */
#define GP_SYS_STOP_SIGNALS                                                                        \
	(GP_SYS_SIGNAL(SIGPWR) | GP_SYS_SIGNAL(SIGXCPU) | GP_SYS_SIGNAL(SIGUSR1) |                 \
	 GP_SYS_SIGNAL(SIGUSR2) | GP_SYS_SIGNAL(SIGURG) | ~(uint64_t)0 << 33)
#define GP_SYS_ALL_SIGNALS UINT64_MAX

/* Those that have no handler, and are not ignored: by most of them a process ends. */
uint64_t gp_sys_unhandled_signals(void);

/*
 * A thread of ours begins with all signals blocked: one that the program expects in a thread of its own does not land in it.  Whoever makes it says so
 * by pthread_attr_setsigmask_np(), which the constructor gives; the C library has it from 2.32 on.  With an older one, where it is NULL, the thread has
 * the signals that its maker does not hold until it blocks them itself, first of all.
 * By SIGSYS a filter of system calls may answer whoever makes one (SECCOMP_RET_TRAP), and what would be answered by a signal that is blocked ends the
 * process.  That is blocked only where whoever makes the thread blocks it: the program may wait for one that somebody sends.
 */
typedef int gp_sys_mask_setter(pthread_attr_t *attributes, const sigset_t *mask);
void gp_sys_set_masks_by(gp_sys_mask_setter *setter);
void gp_sys_block_signals_in(pthread_attr_t *attributes);
void gp_sys_take_no_signals(void);

uint32_t gp_sys_thread_id(void);
uint32_t gp_sys_process_id(void);
uint32_t gp_sys_parent_id(void);
uint32_t gp_sys_user_id(void);

/* Name of the calling thread, NUL-terminated. */
void gp_sys_thread_name(char name[16]);
void gp_sys_set_thread_name(const char *name);

/*
 * Give the calling thread descriptors of its own, none at first, and a root and working folder of its own: what the program
 * closes, uses up or changes from now on is not the thread's.  0, or -errno where the kernel cannot (before 5.9): then the
 * descriptors are the program's.
 */
int gp_sys_stand_apart(void);

/* Whether 8 bytes can be read there.  The kernel looks at them, and then at a request that it does not know. */
bool gp_sys_can_read(uint64_t address);

/*
 * Copy memory of this process, in the order of the pieces: what is not mapped, or goes away meanwhile, is an error instead of a fault.
 * `from` is a piece for each of `into`, `process` gp_sys_process_id().  0; -EFAULT where not all of it could be read; or another -errno: the
 * kernel or a filter does not have that.
 */
int gp_sys_copy_own(uint32_t process, const struct iovec *into, const struct iovec *from,
		    unsigned count);

/* Whether a thread of this process has that id; false where that is not to be asked any more. */
bool gp_sys_has_thread(uint32_t thread);

/* Processor time of the calling thread; 0 where that is not to be asked any more. */
uint64_t gp_sys_own_time_ns(void);

/* stat(), which C libraries before 2.33 have by another name.  0 or -errno; errno stays. */
int gp_sys_stat(const char *path, struct stat *status);

/* Unguessable bits; where the kernel has none, ones that are merely different each time. */
uint64_t gp_sys_random(void);

ssize_t gp_sys_read_link(const char *path, char *text, size_t size);
ssize_t gp_sys_directory(char *text, size_t size);
int gp_sys_host(char *text, size_t size);

/* CLOCK_MONOTONIC: for deadlines. */
uint64_t gp_sys_now_ns(void);

#endif
