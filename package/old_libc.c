/*
 * old_libc: lets the program gpuprof run with glibc 2.28 and later, although the build machine has
 * a newer one.
 *
 * The objects and the archives that are linked into the program call these functions, and the
 * linker would bind each call to the newest version.  glibc 2.34 moved the functions of libdl and
 * libpthread into libc; 2.33 added the stat functions, which headers had defined inline before;
 * 2.29 changed the errno of mathematical functions.  Each definition here calls an older version.
 * tests/lint/exports.sh refuses newer versions.  collector/libc_versions.h does the same for the
 * library, which has no archives.
 */
#include <stddef.h>

struct stat;

/* The first versions of each machine, how code jumps to an imported function, and _STAT_VER. */
#if defined(__x86_64__)
#define FIRST        "2.2.5"
#define FIRST_AT     "2.4"
#define JUMP(name)   "jmp *" name "@GOTPCREL(%rip)"
#define STAT_VERSION 1
#elif defined(__aarch64__)
#define FIRST        "2.17"
#define FIRST_AT     FIRST
#define JUMP(name)   "adrp x16, :got:" name "\n\tldr x16, [x16, :got_lo12:" name "]\n\tbr x16"
#define STAT_VERSION 0
#endif

#if defined(FIRST)
#define OLD(name, version)                                                                         \
	__asm__(".text\n.globl " #name "\n.hidden " #name "\n.type " #name ", %function\n" #name   \
		":\n\t" JUMP("gp_old_" #name) "\n\t.size " #name ", . - " #name "\n"               \
					      ".symver gp_old_" #name ", " #name "@GLIBC_" version \
					      "\n")

OLD(dladdr, FIRST);
OLD(dlclose, FIRST);
OLD(dlerror, FIRST);
OLD(dlopen, FIRST);
OLD(dlsym, FIRST);
OLD(exp, FIRST);
OLD(log, FIRST);
OLD(pow, FIRST);
OLD(pthread_attr_setstacksize, FIRST);
OLD(pthread_create, FIRST);
OLD(pthread_join, FIRST);
OLD(pthread_mutex_trylock, FIRST);
OLD(pthread_mutexattr_destroy, FIRST);
OLD(pthread_mutexattr_init, FIRST);
OLD(pthread_mutexattr_settype, FIRST);
OLD(pthread_once, FIRST);
OLD(pthread_rwlock_destroy, FIRST);
OLD(pthread_rwlock_init, FIRST);
OLD(pthread_rwlock_rdlock, FIRST);
OLD(pthread_rwlock_tryrdlock, FIRST);
OLD(pthread_rwlock_unlock, FIRST);
OLD(pthread_rwlock_wrlock, FIRST);
OLD(pthread_setattr_default_np, "2.18");
OLD(pthread_sigmask, FIRST);

/* ---- the stat functions; struct stat64 is struct stat ---- */
#define HIDDEN __attribute__((visibility("hidden")))

int gp_old_stat(int version, const char *path, struct stat *s);
int gp_old_lstat(int version, const char *path, struct stat *s);
int gp_old_fstat(int version, int descriptor, struct stat *s);
int gp_old_fstatat(int version, int folder, const char *path, struct stat *s, int flags);
__asm__(".symver gp_old_stat, __xstat@GLIBC_" FIRST "\n"
	".symver gp_old_lstat, __lxstat@GLIBC_" FIRST "\n"
	".symver gp_old_fstat, __fxstat@GLIBC_" FIRST "\n"
	".symver gp_old_fstatat, __fxstatat@GLIBC_" FIRST_AT "\n");

HIDDEN int stat(const char *path, struct stat *s)
{
	return gp_old_stat(STAT_VERSION, path, s);
}

HIDDEN int lstat(const char *path, struct stat *s)
{
	return gp_old_lstat(STAT_VERSION, path, s);
}

HIDDEN int fstat(int descriptor, struct stat *s)
{
	return gp_old_fstat(STAT_VERSION, descriptor, s);
}

HIDDEN int fstatat(int folder, const char *path, struct stat *s, int flags)
{
	return gp_old_fstatat(STAT_VERSION, folder, path, s, flags);
}

HIDDEN int stat64(const char *path, struct stat *s) __attribute__((alias("stat")));
HIDDEN int lstat64(const char *path, struct stat *s) __attribute__((alias("lstat")));
HIDDEN int fstat64(int descriptor, struct stat *s) __attribute__((alias("fstat")));

/* ---- the start; before 2.34 the program ran its constructors itself ---- */
typedef int main_function(int argc, char **argv, char **environment);
typedef void constructor(int argc, char **argv, char **environment);

extern constructor *__init_array_start[] HIDDEN, *__init_array_end[] HIDDEN;
void _init(void);
int gp_old_libc_start_main(main_function *main, int argc, char **argv, constructor *construct,
			   void (*destruct)(void), void (*unload)(void), void *stack_end);
__asm__(".symver gp_old_libc_start_main, __libc_start_main@GLIBC_" FIRST);

static void construct_all(int argc, char **argv, char **environment)
{
	_init();
	for (constructor **at = __init_array_start; at < __init_array_end; at++)
		(*at)(argc, argv, environment);
}

HIDDEN int __libc_start_main(main_function *main, int argc, char **argv, constructor *construct,
			     void (*destruct)(void), void (*unload)(void), void *stack_end)
{
	(void)construct;
	(void)destruct;
	return gp_old_libc_start_main(main, argc, argv, construct_all, NULL, unload, stack_end);
}
#endif
