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
#if defined(__x86_64__)
#include <stddef.h>

struct stat;

#define OLD(name, version)                                                                         \
	__asm__(".text\n.globl " #name "\n.hidden " #name "\n.type " #name ", @function\n" #name   \
		":\n\tjmp *gp_old_" #name "@GOTPCREL(%rip)\n\t.size " #name ", . - " #name "\n"    \
		".symver gp_old_" #name ", " #name "@GLIBC_" version "\n")

OLD(dladdr, "2.2.5");
OLD(dlclose, "2.2.5");
OLD(dlerror, "2.2.5");
OLD(dlopen, "2.2.5");
OLD(dlsym, "2.2.5");
OLD(exp, "2.2.5");
OLD(log, "2.2.5");
OLD(pow, "2.2.5");
OLD(pthread_attr_setstacksize, "2.2.5");
OLD(pthread_create, "2.2.5");
OLD(pthread_join, "2.2.5");
OLD(pthread_mutex_trylock, "2.2.5");
OLD(pthread_mutexattr_destroy, "2.2.5");
OLD(pthread_mutexattr_init, "2.2.5");
OLD(pthread_mutexattr_settype, "2.2.5");
OLD(pthread_once, "2.2.5");
OLD(pthread_rwlock_destroy, "2.2.5");
OLD(pthread_rwlock_init, "2.2.5");
OLD(pthread_rwlock_rdlock, "2.2.5");
OLD(pthread_rwlock_tryrdlock, "2.2.5");
OLD(pthread_rwlock_unlock, "2.2.5");
OLD(pthread_rwlock_wrlock, "2.2.5");
OLD(pthread_setattr_default_np, "2.18");
OLD(pthread_sigmask, "2.2.5");

/* ---- the stat functions; struct stat64 is struct stat ---- */
#define STAT_VERSION 1
#define HIDDEN       __attribute__((visibility("hidden")))

int gp_old_stat(int version, const char *path, struct stat *s);
int gp_old_lstat(int version, const char *path, struct stat *s);
int gp_old_fstat(int version, int descriptor, struct stat *s);
int gp_old_fstatat(int version, int folder, const char *path, struct stat *s, int flags);
__asm__(".symver gp_old_stat, __xstat@GLIBC_2.2.5\n"
	".symver gp_old_lstat, __lxstat@GLIBC_2.2.5\n"
	".symver gp_old_fstat, __fxstat@GLIBC_2.2.5\n"
	".symver gp_old_fstatat, __fxstatat@GLIBC_2.4\n");

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
__asm__(".symver gp_old_libc_start_main, __libc_start_main@GLIBC_2.2.5");

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
