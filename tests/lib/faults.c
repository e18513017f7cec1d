/*
 * Preloaded before libgpuprof.so.  C library calls of libgpuprof.so, and only those, fail as
 * tests/lib/fault_plan.h selects, with FAULTS_ERROR as an errno value.
 *
 *	FAULTS_ENTER	instead of failing, such a call first uses gpuprof's functions and the
 *			device, like a function of the program that has the name of a C library
 *			function
 *
 * A call belongs to libgpuprof.so if its return address lies there.  Waits do not fail, because a
 * wait that ends early only keeps the program busy.  Queries of process and thread ids do not fail,
 * because the kernel always answers them.
 */
#include "tests/lib/fault_plan.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static struct {
	uintptr_t from, to; /* address range of libgpuprof.so; 0 = not known yet */
	bool enters;
} library;

static int note_library(struct dl_phdr_info *object, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	if (!strstr(object->dlpi_name, "libgpuprof.so"))
		return 0;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];

		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
			continue;
		library.from = object->dlpi_addr + part->p_vaddr;
		library.to = library.from + part->p_memsz;
	}
	return 1;
}

/* Called in libgpuprof.so's constructor, before there are other threads. */
static void prepare(void)
{
	read_plan(EIO);
	library.enters = getenv("FAULTS_ENTER") != NULL;
	dl_iterate_phdr(note_library, NULL);
}

/*
 * With a context, queries the device, too.  In the middle of cuInit() the device could not answer.
 */
static void enter(void)
{
	static __thread bool is_inside;
	void (*push)(const char *) =
		(void (*)(const char *))dlsym(RTLD_DEFAULT, "gpuprof_v1_range_push");
	void (*pop)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "gpuprof_v1_range_pop");
	int (*current)(void **) = (int (*)(void **))dlsym(RTLD_DEFAULT, "cuCtxGetCurrent");
	int (*allocate)(uint64_t *, size_t) =
		(int (*)(uint64_t *, size_t))dlsym(RTLD_DEFAULT, "cuMemAlloc_v2");
	int (*release)(uint64_t) = (int (*)(uint64_t))dlsym(RTLD_DEFAULT, "cuMemFree_v2");
	void *context = NULL;
	uint64_t memory;

	if (is_inside)
		return;
	is_inside = true;
	push("entered");
	if (current && current(&context) == 0 && context && allocate(&memory, 4096) == 0)
		release(memory);
	pop();
	is_inside = false;
}

static bool fails(const void *caller, const char *name)
{
	int saved = errno;

	if (library.from == 0)
		prepare();
	if ((uintptr_t)caller < library.from || (uintptr_t)caller >= library.to ||
	    !is_to_fail(name))
		return false;
	if (library.enters)
		enter();
	errno = saved;
	return !library.enters;
}

#define FAILS() fails(__builtin_return_address(0), __func__)

/* The next function of that name after this library. */
#define REAL(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

static long fail(void)
{
	errno = plan.error;
	return -1;
}

/* The calls of the first comment, and writes to stderr, so that messages are visible. */
static bool always_works(long number, long first)
{
	static const long numbers[] = {SYS_futex, SYS_getpid, SYS_getppid, SYS_gettid, SYS_getuid};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i] == number)
			return true;
	return number == SYS_write && first == STDERR_FILENO;
}

long syscall(long number, ...)
{
	static __typeof__(&syscall) real;
	long a[6];
	char name[32];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (!real)
		real = REAL(syscall);
	snprintf(name, sizeof(name), "syscall %ld", number);
	if (!always_works(number, a[0]) && fails(__builtin_return_address(0), name))
		return fail();
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	if (FAILS())
		return (void *)fail();
	return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}

int madvise(void *address, size_t bytes, int advice)
{
	return FAILS() ? (int)fail() : (int)syscall(SYS_madvise, address, bytes, advice);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
		   void *argument)
{
	return FAILS() ? EAGAIN : REAL(pthread_create)(thread, attributes, body, argument);
}

int pthread_attr_init(pthread_attr_t *attributes)
{
	return FAILS() ? ENOMEM : REAL(pthread_attr_init)(attributes);
}

int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t bytes)
{
	return FAILS() ? EINVAL : REAL(pthread_attr_setstacksize)(attributes, bytes);
}

int pthread_key_create(pthread_key_t *key, void (*end)(void *))
{
	return FAILS() ? EAGAIN : REAL(pthread_key_create)(key, end);
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
	return FAILS() ? ENOMEM : REAL(pthread_setspecific)(key, value);
}

void *dlopen(const char *file, int flags)
{
	return FAILS() ? NULL : REAL(dlopen)(file, flags);
}

int access(const char *path, int mode)
{
	return FAILS() ? (int)fail() : REAL(access)(path, mode);
}

int pipe2(int ends[2], int flags)
{
	return FAILS() ? (int)fail() : REAL(pipe2)(ends, flags);
}

ssize_t read(int file, void *bytes, size_t size)
{
	return FAILS() ? fail() : REAL(read)(file, bytes, size);
}

char *getcwd(char *path, size_t size)
{
	if (!FAILS())
		return REAL(getcwd)(path, size);
	fail();
	return NULL;
}

char *realpath(const char *restrict path, char *restrict resolved)
{
	if (!FAILS())
		return REAL(realpath)(path, resolved);
	fail();
	return NULL;
}

int gethostname(char *name, size_t size)
{
	return FAILS() ? (int)fail() : REAL(gethostname)(name, size);
}

int glob(const char *restrict pattern, int flags, int (*on_error)(const char *, int),
	 glob_t *restrict found)
{
	return FAILS() ? GLOB_NOSPACE : REAL(glob)(pattern, flags, on_error, found);
}

int setenv(const char *name, const char *value, int replace)
{
	return FAILS() ? (int)fail() : REAL(setenv)(name, value, replace);
}

int stat(const char *restrict path, struct stat *restrict status)
{
	return FAILS() ? (int)fail() : REAL(stat)(path, status);
}

int symlink(const char *target, const char *path)
{
	return FAILS() ? (int)fail() : REAL(symlink)(target, path);
}

int clone(int (*body)(void *), void *stack, int flags, void *argument, ...)
{
	return FAILS() ? (int)fail() : REAL(clone)(body, stack, flags, argument);
}
