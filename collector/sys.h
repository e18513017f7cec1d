/*
 * sys: every system call of the collector, through one table that tests replace.
 *
 * All functions return 0 or a result, or -errno; none modifies errno, so that they may run inside a
 * program's calls.  Interrupted calls are restarted.  Any thread, also signal handlers.
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
	/*
	 * start a profiler thread with a small stack, plus space for thread-local variables, and
	 * with signals blocked (gp_sys_block_signals_in()); 0 or -errno
	 */
	int (*thread)(pthread_t *thread, void *(*body)(void *));
};

extern struct gp_sys gp_sys;

/* gp_sys.thread() for a thread that needs a stack of this size. */
int gp_sys_thread_with_stack(pthread_t *thread, size_t stack_bytes, void *(*body)(void *));

/*
 * A program may install a seccomp filter, which also applies to our threads and may end the
 * process.  gp_sys_is_confined(): whether it has done so since gp_sys_remember_filter(); a filter
 * from before, as in most containers, is meant for ordinary programs.  Once confined, files are no
 * longer opened, resized or removed: these calls, and all others that
 * docs/reference/compatibility.md does not list, fail with -EPERM without being made.
 */
void gp_sys_remember_filter(void);
bool gp_sys_is_confined(void);

/*
 * Always with O_CLOEXEC and O_NOFOLLOW; a new file gets this mode whatever the umask.  Returns a
 * descriptor.
 */
int gp_sys_open(const char *path, int flags, unsigned mode);
void gp_sys_close(int fd);

/*
 * Write all of it.  Returns the number of written bytes, fewer only after an error, which is stored
 * in *error (-errno).
 */
size_t gp_sys_write(int fd, const void *data, size_t bytes, int *error);

/* The same, at an offset of a file. */
size_t gp_sys_write_at(int fd, const void *data, size_t bytes, uint64_t offset, int *error);

/* Read up to `size` bytes from the start of a file; returns their number. */
ssize_t gp_sys_read_file(const char *path, void *data, size_t size);

/* Read the first line of a small file, NUL-terminated, without its newline; returns its length. */
ssize_t gp_sys_read_line(const char *path, char *text, size_t size);

int gp_sys_truncate(int fd, uint64_t bytes);

/* Allocate real blocks and grow the file to from_bytes + bytes. */
int gp_sys_allocate(int fd, uint64_t from_bytes, uint64_t bytes);
int gp_sys_unlink(const char *path);
int gp_sys_make_folder(const char *path); /* with the mode that the umask leaves */

struct gp_file_id {
	uint64_t device;
	uint64_t inode;
	uint32_t type; /* S_IFREG and the like */
	uint32_t owner;
};

int gp_sys_file_id(int fd, struct gp_file_id *id);
int gp_sys_length(int fd, uint64_t *bytes);
bool gp_sys_has_name(int fd); /* the file was not removed */

/* The bytes that the blocks of a file in an open folder take; links are not followed. */
int gp_sys_taken_by(int folder, const char *name, uint64_t *bytes);

/* The next entries of an open folder, as from getdents64; returns their bytes, 0 = no more. */
ssize_t gp_sys_read_folder(int folder, void *entries, size_t size);

/* Type (statfs f_type) and free bytes of the file system of an open file. */
int gp_sys_file_system(int fd, uint64_t *type, uint64_t *free_bytes);

/*
 * Map `bytes` readable and writable: from_bytes onwards of fd, shared; or, with fd = -1, private
 * memory.  Every page is populated: touching it neither faults for lack of space nor blocks.
 */
int gp_sys_map(int fd, uint64_t from_bytes, size_t bytes, void **memory);

/*
 * Map private zeroed memory whose pages are allocated when touched.  Like that of gp_sys_map(), it
 * stays unlocked if the program locks its future memory (mlockall()).  Preserves errno.
 */
int gp_sys_map_lazily(size_t bytes, void **memory);

/*
 * In a forked child, for memory that gp_sys_map() mapped in its parent: map zeroed memory at the
 * same address.  -errno: also if the address is in use by now.
 */
int gp_sys_map_in_child(void *memory, size_t bytes);
void gp_sys_unmap(void *memory, size_t bytes);

/*
 * Replace memory of gp_sys_map() by private, empty memory at the same address: what it took is free,
 * and a late access is harmless.
 */
int gp_sys_map_over(void *memory, size_t bytes);

/* Make whole pages of private memory zero in forked children; -EINVAL if the kernel cannot. */
int gp_sys_wipe_on_fork(void *memory, size_t bytes);

/* Sleep while *word == expected, until woken or timeout_ns is over. */
void gp_sys_wait(uint32_t *word, uint32_t expected, uint64_t timeout_ns);
void gp_sys_wake(uint32_t *word);

/*
 * Sleep by a futex wait without a waker, so that a program's filter needs to allow one call fewer.
 */
void gp_sys_sleep(uint64_t duration_ns);

/*
 * Block the signals of this thread until gp_sys_let_signals() restores the returned mask: a handler
 * that jumps out would leave the thread's locks held.  Not blocked are signals that an instruction
 * or a system call filter may raise, and those in `but`, whose bit 0 is signal 1.  Calls no
 * function of the C library, because the program may define its own.
 *
 * A thread that blocks GP_SYS_STOP_SIGNALS must not wait for a lock that a program thread may hold:
 * a garbage collector would stop that thread and then wait for this one to stop, too.
 */
uint64_t gp_sys_hold_signals(uint64_t but);
void gp_sys_let_signals(uint64_t before);

#define GP_SYS_SIGNAL(number) ((uint64_t)1 << ((number)-1)) /* in a mask of the kernel */

/*
 * The C library's internal signals to all threads (setuid()): blocking them delays the caller of
 * setuid().
 */
#define GP_SYS_LIBC_SIGNALS ((uint64_t)3 << 31)

/*
 * The signals by which garbage collectors and language runtimes stop the program's threads: SIGPWR,
 * SIGXCPU, SIGUSR1 and 2, SIGURG, the real-time signals.
 */
#define GP_SYS_STOP_SIGNALS                                                                        \
	(GP_SYS_SIGNAL(SIGPWR) | GP_SYS_SIGNAL(SIGXCPU) | GP_SYS_SIGNAL(SIGUSR1) |                 \
	 GP_SYS_SIGNAL(SIGUSR2) | GP_SYS_SIGNAL(SIGURG) | ~(uint64_t)0 << 33)
#define GP_SYS_ALL_SIGNALS UINT64_MAX

/* Discard a signal that is pending because it came while it was held. */
void gp_sys_drop_signal(int number);

/* Signals without a handler that are not ignored; most of them end the process. */
uint64_t gp_sys_unhandled_signals(void);

/*
 * A profiler thread starts with all signals blocked, so that a signal for the program's threads
 * does not land in it.  The creator sets this by pthread_attr_setsigmask_np(), which the
 * constructor provides; the C library has it from 2.32 on.  With an older one (NULL), the thread
 * has the creator's mask until it blocks the signals itself, first of all.
 *
 * A system call filter may answer with SIGSYS (SECCOMP_RET_TRAP), which ends the process if
 * blocked.  SIGSYS is blocked only if the creator blocks it: the program may wait for one that is
 * sent.
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
 * Give the calling thread its own, initially empty, descriptor table and its own root and working
 * folder: later changes by the program do not affect the thread.  0, or -errno if the kernel cannot
 * (before 5.9): then the descriptors are shared with the program.
 */
int gp_sys_unshare_files(void);

/*
 * Whether 8 bytes can be read at the address.  Passes it to a system call that reads it and then
 * fails because of an unknown request.
 */
bool gp_sys_can_read(uint64_t address);

/*
 * Copy memory of this process, piece by piece in order: unmapped memory is an error instead of a
 * fault.  `from` has a piece for each one of `into`; `process` is gp_sys_process_id().  0; -EFAULT
 * if not all of it was readable; or another -errno: the kernel or a filter does not support the
 * call.
 */
int gp_sys_copy_own(uint32_t process, const struct iovec *into, const struct iovec *from,
		    unsigned count);

/* Whether this process has a thread with that id; false once confined. */
bool gp_sys_has_thread(uint32_t thread);

/* CPU time of the calling thread; 0 once confined. */
uint64_t gp_sys_own_time_ns(void);

/*
 * stat(), which C libraries before 2.33 export under another name.  0 or -errno; preserves errno.
 */
int gp_sys_stat(const char *path, struct stat *status);

/* Random bits; if the kernel provides none, bits that merely differ each time. */
uint64_t gp_sys_random(void);

ssize_t gp_sys_read_link(const char *path, char *text, size_t size);
ssize_t gp_sys_directory(char *text, size_t size);
int gp_sys_host(char *text, size_t size);

/* CLOCK_MONOTONIC: for deadlines. */
uint64_t gp_sys_now_ns(void);

#endif
