#include "collector/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <linux/seccomp.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "collector/memory_budget.h"

#define POPULATE_WRITE 23           /* MADV_POPULATE_WRITE, Linux 5.14; absent from older headers */
#define NO_ADVICE      9999         /* unknown to every kernel */
#define RANGE_UNSHARE  2            /* CLOSE_RANGE_UNSHARE */
#define PAGE_BYTES     4096u        /* the smallest; arm64 also has 64 KiB */
#define STACK_BYTES    (256u << 10) /* CUPTI flushes on one of our threads */
#define NS_PER_SECOND  1000000000u

static long kernel_call(long number, long a, long b, long c, long d, long e, long f)
{
	int saved = errno;
	long result = syscall(number, a, b, c, d, e, f);

	if (result == -1)
		result = -errno;
	errno = saved;
	return result;
}

static int add_tls(struct dl_phdr_info *object, size_t size, void *total_bytes)
{
	(void)size;
	for (int i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_TLS)
			*(size_t *)total_bytes += object->dlpi_phdr[i].p_memsz;
	return 0;
}

/* The C library places each thread's copy of the program's thread-local variables on its stack. */
static size_t with_tls(size_t stack_bytes)
{
	size_t tls_bytes = 0;

	dl_iterate_phdr(add_tls, &tls_bytes);
	return stack_bytes + (tls_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

/* Signals raised by an instruction, or by a system call under a filter. */
#define RAISED_BY_CODE                                                                             \
	(GP_SYS_SIGNAL(SIGSEGV) | GP_SYS_SIGNAL(SIGBUS) | GP_SYS_SIGNAL(SIGILL) |                  \
	 GP_SYS_SIGNAL(SIGFPE) | GP_SYS_SIGNAL(SIGTRAP) | GP_SYS_SIGNAL(SIGSYS))

#define NOT_FOR_OUR_THREADS (~(GP_SYS_SIGNAL(SIGSYS) | GP_SYS_LIBC_SIGNALS))

static gp_sys_mask_setter *mask_setter;

void gp_sys_set_masks_by(gp_sys_mask_setter *setter)
{
	mask_setter = setter;
}

void gp_sys_block_signals_in(pthread_attr_t *attributes)
{
	uint64_t mask = gp_sys_hold_signals(GP_SYS_ALL_SIGNALS) | NOT_FOR_OUR_THREADS;
	sigset_t set;

	if (!mask_setter)
		return;
	memset(&set, 0, sizeof(set));
	memcpy(&set, &mask, sizeof(mask));
	mask_setter(attributes, &set);
}

static int create_thread(pthread_t *thread, size_t stack_bytes, void *(*body)(void *))
{
	pthread_attr_t attributes;
	int error;

	error = pthread_attr_init(&attributes);
	if (error)
		return -error;
	pthread_attr_setstacksize(&attributes, with_tls(stack_bytes));
	gp_sys_block_signals_in(&attributes);
	error = pthread_create(thread, &attributes, body, NULL);
	pthread_attr_destroy(&attributes);
	return -error;
}

int gp_sys_thread_with_stack(pthread_t *thread, size_t stack_bytes, void *(*body)(void *))
{
	int saved = errno;
	uint64_t before = gp_sys_hold_signals(GP_SYS_LIBC_SIGNALS | GP_SYS_STOP_SIGNALS);
	int error = create_thread(thread, stack_bytes, body);

	gp_sys_let_signals(before);
	errno = saved;
	return error;
}

static int start_thread(pthread_t *thread, void *(*body)(void *))
{
	return gp_sys_thread_with_stack(thread, STACK_BYTES, body);
}

struct gp_sys gp_sys = {kernel_call, start_thread};

static long call0(long number)
{
	return gp_sys.call(number, 0, 0, 0, 0, 0, 0);
}

static long call2(long number, long a, long b)
{
	return gp_sys.call(number, a, b, 0, 0, 0, 0);
}

static long call3(long number, long a, long b, long c)
{
	return gp_sys.call(number, a, b, c, 0, 0, 0);
}

static long call4(long number, long a, long b, long c, long d)
{
	return gp_sys.call(number, a, b, c, d, 0, 0);
}

static bool had_no_filter;

static bool has_filter(void)
{
	return call2(SYS_prctl, PR_GET_SECCOMP, 0) == SECCOMP_MODE_FILTER;
}

void gp_sys_remember_filter(void)
{
	had_no_filter = !has_filter();
}

bool gp_sys_is_confined(void)
{
	return had_no_filter && has_filter();
}

/*
 * For all system calls except those that a program's filter must allow (docs/reference/limits.md).
 * Checks for a filter right before each call, because one may be installed at any time, for all
 * threads.
 */
static long call_unless_confined(long number, long a, long b, long c, long d, long e, long f)
{
	return gp_sys_is_confined() ? -EPERM : gp_sys.call(number, a, b, c, d, e, f);
}

static long call_unless_confined2(long number, long a, long b)
{
	return call_unless_confined(number, a, b, 0, 0, 0, 0);
}

static long call_unless_confined3(long number, long a, long b, long c)
{
	return call_unless_confined(number, a, b, c, 0, 0, 0);
}

static long call_unless_confined4(long number, long a, long b, long c, long d)
{
	return call_unless_confined(number, a, b, c, d, 0, 0);
}

int gp_sys_open(const char *path, int flags, unsigned mode)
{
	long fd;

	do
		fd = call_unless_confined4(SYS_openat, AT_FDCWD, (long)path,
					   flags | O_CLOEXEC | O_NOFOLLOW, (long)mode);
	while (fd == -EINTR);
	/* it is opened again by name, so the program's umask must not remove the permissions */
	if (fd >= 0 && (flags & O_CREAT))
		call_unless_confined2(SYS_fchmod, fd, (long)mode);
	return (int)fd;
}

void gp_sys_close(int fd)
{
	call2(SYS_close, fd, 0);
}

/* Write all of it; sequential writes ignore the offset. */
static size_t write_all(long number, int fd, const void *data, size_t bytes, uint64_t offset,
			int *error)
{
	size_t done = 0;

	*error = 0;
	while (done < bytes) {
		long n = call4(number, fd, (long)((const char *)data + done), (long)(bytes - done),
			       (long)(offset + done));

		if (n == -EINTR)
			continue;
		if (n <= 0) {
			*error = n < 0 ? (int)n : -EIO;
			break;
		}
		done += (size_t)n;
	}
	return done;
}

size_t gp_sys_write(int fd, const void *data, size_t bytes, int *error)
{
	return write_all(SYS_write, fd, data, bytes, 0, error);
}

size_t gp_sys_write_at(int fd, const void *data, size_t bytes, uint64_t offset, int *error)
{
	return write_all(SYS_pwrite64, fd, data, bytes, offset, error);
}

static ssize_t read_all(int fd, char *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		long n = call_unless_confined3(SYS_read, fd, (long)(data + done),
					       (long)(size - done));

		if (n == -EINTR)
			continue;
		if (n < 0)
			return n;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

ssize_t gp_sys_read_file(const char *path, void *data, size_t size)
{
	int fd = gp_sys_open(path, O_RDONLY, 0);
	ssize_t bytes;

	if (fd < 0)
		return fd;
	bytes = read_all(fd, data, size);
	gp_sys_close(fd);
	return bytes;
}

ssize_t gp_sys_read_line(const char *path, char *text, size_t size)
{
	ssize_t bytes = gp_sys_read_file(path, text, size - 1);
	char *newline;

	text[bytes < 0 ? 0 : bytes] = '\0';
	if (bytes < 0)
		return bytes;
	newline = strchr(text, '\n');
	if (newline)
		*newline = '\0';
	return (ssize_t)strlen(text);
}

int gp_sys_truncate(int fd, uint64_t bytes)
{
	return (int)call_unless_confined2(SYS_ftruncate, fd, (long)bytes);
}

int gp_sys_allocate(int fd, uint64_t from_bytes, uint64_t bytes)
{
	long result;

	do
		result = call_unless_confined4(SYS_fallocate, fd, 0, (long)from_bytes, (long)bytes);
	while (result == -EINTR);
	return (int)result;
}

int gp_sys_unlink(const char *path)
{
	return (int)call_unless_confined3(SYS_unlinkat, AT_FDCWD, (long)path, 0);
}

int gp_sys_make_folder(const char *path)
{
	return (int)call_unless_confined3(SYS_mkdirat, AT_FDCWD, (long)path, 0777);
}

int gp_sys_file_id(int fd, struct gp_file_id *id)
{
	struct stat status;
	long result = call2(SYS_fstat, fd, (long)&status);

	if (result < 0)
		return (int)result;
	id->device = status.st_dev;
	id->inode = status.st_ino;
	id->type = status.st_mode & S_IFMT;
	id->owner = status.st_uid;
	return 0;
}

int gp_sys_length(int fd, uint64_t *bytes)
{
	struct stat status;
	long result = call2(SYS_fstat, fd, (long)&status);

	if (result < 0)
		return (int)result;
	*bytes = (uint64_t)status.st_size;
	return 0;
}

bool gp_sys_has_name(int fd)
{
	struct stat status;

	return call2(SYS_fstat, fd, (long)&status) == 0 && status.st_nlink > 0;
}

int gp_sys_taken_by(int folder, const char *name, uint64_t *bytes)
{
	struct stat status;
	long result = call_unless_confined4(SYS_newfstatat, folder, (long)name, (long)&status,
					    AT_SYMLINK_NOFOLLOW);

	if (result < 0)
		return (int)result;
	*bytes = (uint64_t)status.st_blocks * 512;
	return 0;
}

ssize_t gp_sys_read_folder(int folder, void *entries, size_t size)
{
	return call_unless_confined3(SYS_getdents64, folder, (long)entries, (long)size);
}

int gp_sys_file_system(int fd, uint64_t *type, uint64_t *free_bytes)
{
	struct statfs status;
	long result = call_unless_confined2(SYS_fstatfs, fd, (long)&status);

	if (result < 0)
		return (int)result;
	*type = (uint64_t)(uint32_t)status.f_type;
	*free_bytes = (uint64_t)status.f_bavail * (uint64_t)status.f_bsize;
	return 0;
}

static size_t within_page(uint64_t address)
{
	return address & ((uint64_t)getauxval(AT_PAGESZ) - 1);
}

/* A ring may begin within a page of its file: the mapping begins with that page. */
static int map(int fd, uint64_t from_bytes, size_t bytes, void **memory)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	size_t before = within_page(from_bytes);
	long result = gp_sys.call(SYS_mmap, 0, (long)(bytes + before), PROT_READ | PROT_WRITE,
				  flags, fd, (long)(from_bytes - before));

	if (result < 0 && result > -4096)
		return (int)result;
	*memory = (char *)result + before;
	return 0;
}

/* A call for the pages that hold this memory. */
static long call_on_pages(long number, void *memory, size_t bytes, long argument)
{
	size_t before = within_page((uintptr_t)memory);

	return call3(number, (long)memory - (long)before, (long)(bytes + before), argument);
}

/*
 * If the kernel cannot populate, touch the pages: the file's blocks are allocated, so this cannot
 * fail.
 */
static int populate(char *memory, size_t bytes)
{
	long result = call_on_pages(SYS_madvise, memory, bytes, POPULATE_WRITE);

	if (result != -EINVAL)
		return (int)result;
	for (size_t at = 0; at < bytes; at += PAGE_BYTES)
		*(volatile char *)(memory + at) = 0;
	return 0;
}

int gp_sys_map(int fd, uint64_t from_bytes, size_t bytes, void **memory)
{
	int error;

	if (!gp_memory_budget_charge(GP_MEMORY_BUDGET_NOT_INHERITED, bytes))
		return -ENOMEM;
	error = map(fd, from_bytes, bytes, memory);
	if (error) {
		gp_memory_budget_release(GP_MEMORY_BUDGET_NOT_INHERITED, bytes);
		return error;
	}
	/*
	 * Only the parent has it: a child that continues after an interrupting signal handler uses
	 * gp_sys_map_in_child().
	 */
	call_on_pages(SYS_madvise, *memory, bytes, MADV_DONTFORK);
	error = populate(*memory, bytes);
	call_unless_confined2(SYS_munlock, (long)*memory, (long)bytes);
	if (error)
		gp_sys_unmap(*memory, bytes);
	return error;
}

/*
 * If the program called mlockall(), new memory is populated when it becomes accessible: so it is
 * made accessible only after it is unlocked.
 */
int gp_sys_map_lazily(size_t bytes, void **memory)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	long result = gp_sys.call(SYS_mmap, 0, (long)bytes, PROT_NONE, flags, -1, 0);
	int error;

	if (result < 0 && result > -4096)
		return (int)result;
	call_unless_confined2(SYS_munlock, result, (long)bytes);
	error = (int)call3(SYS_mprotect, result, (long)bytes, PROT_READ | PROT_WRITE);
	if (error)
		call2(SYS_munmap, result, (long)bytes);
	*memory = (void *)result;
	return error;
}

/* New private memory at the address of memory, which need not begin on a page. */
static long map_at(void *memory, size_t bytes, int flag)
{
	size_t before = within_page((uintptr_t)memory);

	return gp_sys.call(SYS_mmap, (long)memory - (long)before, (long)(bytes + before),
			   PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flag, -1, 0);
}

int gp_sys_map_over(void *memory, size_t bytes)
{
	long result = map_at(memory, bytes, MAP_FIXED);

	return result < 0 && result > -4096 ? (int)result : 0;
}

int gp_sys_map_in_child(void *memory, size_t bytes)
{
	size_t before = within_page((uintptr_t)memory);
	long first = (long)memory - (long)before;
	long result = map_at(memory, bytes, MAP_FIXED_NOREPLACE);

	if (result < 0 && result > -4096)
		return (int)result;
	if (result == first)
		return 0;
	call2(SYS_munmap, result,
	      (long)(bytes + before)); /* before Linux 4.17 the address is only a hint */
	return -EEXIST;
}

void gp_sys_unmap(void *memory, size_t bytes)
{
	call_on_pages(SYS_munmap, memory, bytes, 0);
	gp_memory_budget_release(GP_MEMORY_BUDGET_NOT_INHERITED, bytes);
}

int gp_sys_wipe_on_fork(void *memory, size_t bytes)
{
	/* An emulator may accept any advice, and ignore it. */
	if (call3(SYS_madvise, (long)memory, (long)bytes, NO_ADVICE) == 0)
		return -EINVAL;
	return (int)call3(SYS_madvise, (long)memory, (long)bytes, MADV_WIPEONFORK);
}

void gp_sys_wait(uint32_t *word, uint32_t expected, uint64_t timeout_ns)
{
	struct timespec timeout = {(time_t)(timeout_ns / NS_PER_SECOND),
				   (long)(timeout_ns % NS_PER_SECOND)};

	call4(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, (long)expected, (long)&timeout);
}

void gp_sys_wake(uint32_t *word)
{
	call3(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, 1);
}

void gp_sys_sleep(uint64_t duration_ns)
{
	uint32_t word = 0;

	gp_sys_wait(&word, 0, duration_ns);
}

#define NOT_HELD UINT64_MAX /* no valid mask: it includes signals that the kernel never blocks */

/* The kernel's masks have 64 bits, and include the C library's internal signals. */
uint64_t gp_sys_hold_signals(uint64_t but)
{
	uint64_t held = ~(RAISED_BY_CODE | but);
	uint64_t before = 0;
	long error = call4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&held, (long)&before, sizeof(held));

	return error < 0 ? NOT_HELD : before;
}

void gp_sys_take_no_signals(void)
{
	uint64_t blocked = NOT_FOR_OUR_THREADS;

	call4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&blocked, 0, sizeof(blocked));
}

uint64_t gp_sys_unhandled_signals(void)
{
	uint64_t unhandled = 0;

	for (int number = 1; number < NSIG; number++) {
		/* the kernel's layout: handler, flags, restorer, mask */
		uint64_t action[4];

		if (call_unless_confined4(SYS_rt_sigaction, number, 0, (long)action,
					  sizeof(action[3])) == 0 &&
		    action[0] == (uint64_t)(uintptr_t)SIG_DFL)
			unhandled |= GP_SYS_SIGNAL(number);
	}
	return unhandled;
}

void gp_sys_let_signals(uint64_t before)
{
	if (before != NOT_HELD)
		call4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof(before));
}

void gp_sys_drop_signal(int number)
{
	static const struct timespec at_once;
	uint64_t wanted = GP_SYS_SIGNAL(number);

	call_unless_confined4(SYS_rt_sigtimedwait, (long)&wanted, 0, (long)&at_once,
			      sizeof(wanted));
}

uint32_t gp_sys_thread_id(void)
{
	return (uint32_t)call0(SYS_gettid);
}

uint32_t gp_sys_process_id(void)
{
	return (uint32_t)call0(SYS_getpid);
}

uint32_t gp_sys_parent_id(void)
{
	return (uint32_t)call0(SYS_getppid);
}

uint32_t gp_sys_user_id(void)
{
	return (uint32_t)call0(SYS_getuid);
}

void gp_sys_thread_name(char name[16])
{
	if (call2(SYS_prctl, PR_GET_NAME, (long)name) < 0)
		name[0] = '\0';
	name[15] = '\0';
}

void gp_sys_set_thread_name(const char *name)
{
	call2(SYS_prctl, PR_SET_NAME, (long)name);
}

int gp_sys_unshare_files(void)
{
	call2(SYS_unshare, CLONE_FS, 0);
	/*
	 * copies no descriptors, and so closes none: the owner of a file system could observe a
	 * close
	 */
	return (int)call3(SYS_close_range, 0, (long)UINT32_MAX, RANGE_UNSHARE);
}

bool gp_sys_can_read(uint64_t address)
{
	/* if system calls are forbidden, other errors say nothing */
	return gp_sys.call(SYS_rt_sigprocmask, -1, (long)address, 0, 8, 0, 0) == -EINVAL;
}

int gp_sys_copy_own(uint32_t process, const struct iovec *into, const struct iovec *from,
		    unsigned count)
{
	long bytes = 0, copied;

	for (unsigned i = 0; i < count; i++)
		bytes += (long)into[i].iov_len;
	copied = call_unless_confined(SYS_process_vm_readv, (long)process, (long)into, count,
				      (long)from, count, 0);
	if (copied < 0)
		return (int)copied;
	return copied == bytes ? 0 : -EFAULT;
}

bool gp_sys_has_thread(uint32_t thread)
{
	return call_unless_confined3(SYS_tgkill, (long)gp_sys_process_id(), (long)thread, 0) == 0;
}

uint64_t gp_sys_own_time_ns(void)
{
	struct timespec time = {0, 0};

	call_unless_confined2(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&time);
	return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
}

uint64_t gp_sys_random(void)
{
	uint64_t bits = 0;

	if (call_unless_confined3(SYS_getrandom, (long)&bits, sizeof(bits),
				  1 /* GRND_NONBLOCK */) == (long)sizeof(bits))
		return bits;
	return gp_sys_now_ns() * 0x9e3779b97f4a7c15u;
}

int gp_sys_stat(const char *path, struct stat *status)
{
	return (int)call_unless_confined4(SYS_newfstatat, AT_FDCWD, (long)path, (long)status, 0);
}

ssize_t gp_sys_read_link(const char *path, char *text, size_t size)
{
	long bytes = call_unless_confined4(SYS_readlinkat, AT_FDCWD, (long)path, (long)text,
					   (long)(size - 1));

	text[bytes < 0 ? 0 : bytes] = '\0';
	return bytes;
}

ssize_t gp_sys_directory(char *text, size_t size)
{
	long bytes = call_unless_confined2(SYS_getcwd, (long)text, (long)size);

	if (bytes < 0)
		return bytes;
	return (ssize_t)strnlen(text, size);
}

int gp_sys_host(char *text, size_t size)
{
	struct utsname names;
	long result = call_unless_confined2(SYS_uname, (long)&names, 0);
	size_t length;

	if (result < 0)
		return (int)result;
	length = strnlen(names.nodename, size - 1);
	memcpy(text, names.nodename, length);
	text[length] = '\0';
	return 0;
}

uint64_t gp_sys_now_ns(void)
{
	struct timespec now = {0, 0};

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}
