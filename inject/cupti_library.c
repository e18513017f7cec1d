#include "inject/cupti_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/sys.h"
#include "hardware/cupti_places.h"
#include "inject/dlsym.h"

#define BY_OPTION "with --cupti or GPUPROF_CUPTI: /path/to/libcupti.so"

/* A search for one file: candidates are tried in order until one loads and is new enough. */
struct search {
	struct gp_cupti *cupti;
	uint32_t newest_major; /* of the driver; 0 = unknown */
	const char *folder;    /* of the program's library by which the candidates were found */
	bool too_old;          /* found a copy before 11.8 */
	bool unusable;         /* found a copy that does not load */
	char why[256];
};

static bool resolve_functions(struct gp_cupti *cupti, void *handle)
{
	bool complete = true;

#define X(name)                                                                                    \
	*(void **)&cupti->name = gp_dlsym(handle, #name);                                          \
	complete = complete && cupti->name != NULL;
	GP_CUPTI_FUNCTIONS(X)
#undef X
#define X(name) *(void **)&cupti->name = gp_dlsym(handle, #name);
	GP_CUPTI_EXTRA_FUNCTIONS(X)
#undef X
	return complete;
}

static void note_path(struct gp_cupti *cupti, void *function)
{
	Dl_info information;

	if (dladdr(function, &information) != 0 && information.dli_fname != NULL)
		snprintf(cupti->path, sizeof(cupti->path), "%s", information.dli_fname);
}

/*
 * The loader did not find a bare name, which says nothing about existing copies.  For a file that
 * it found, its message contains the path; the rest of the message is in the program's language.
 */
static bool is_only_missing(const char *file, const char *why)
{
	return why != NULL && strchr(file, '/') == NULL && strncmp(why, file, strlen(file)) == 0;
}

/* A loaded copy is never closed: closing crashes at exit in 13.0, and the program may use it. */
static bool try_file(struct search *search, const char *file, int extra_flags)
{
	struct gp_cupti found = {.version = 0};
	void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | extra_flags);

	if (handle == NULL) {
		const char *why = dlerror();

		if (extra_flags == 0 && !is_only_missing(file, why)) {
			search->unusable = true;
			snprintf(search->why, sizeof(search->why), "%s", why != NULL ? why : file);
		}
		return false;
	}
	if (!resolve_functions(&found, handle)) {
		search->unusable = true;
		snprintf(search->why, sizeof(search->why), "%s lacks functions", file);
		return false;
	}
	if (found.cuptiGetVersion(&found.version) != CUPTI_SUCCESS) {
		search->unusable = true;
		snprintf(search->why, sizeof(search->why), "%s does not report its version", file);
		return false;
	}
	note_path(&found, *(void **)&found.cuptiGetVersion);
	if (found.version < GP_CUPTI_OLDEST) {
		search->too_old = true;
		return false;
	}
	*search->cupti = found;
	return true;
}

/* ---- candidates from the mapped files of the process ---- */

struct mapped_files {
	char cupti[PATH_MAX];    /* a mapped libcupti */
	char runtime[PATH_MAX];  /* folder of a mapped libcudart */
	char packages[PATH_MAX]; /* Python's site-packages folder of a mapped library */
};

static void copy_prefix(char *target, const char *text, size_t length)
{
	if (length < PATH_MAX) {
		memcpy(target, text, length);
		target[length] = '\0';
	}
}

static int check_mapped(struct dl_phdr_info *information, size_t size, void *data)
{
	struct mapped_files *mapped = data;
	const char *path = information->dlpi_name;
	const char *name = strrchr(path, '/');
	const char *packages = strstr(path, "/site-packages/");

	(void)size;
	if (packages == NULL)
		packages = strstr(path, "/dist-packages/");
	if (packages != NULL && mapped->packages[0] == '\0')
		copy_prefix(mapped->packages, path,
			    (size_t)(packages - path) + strlen("/site-packages"));
	if (name == NULL)
		return 0;
	if (strncmp(name, "/libcupti.so", 12) == 0)
		copy_prefix(mapped->cupti, path, strlen(path));
	if (strncmp(name, "/libcudart.so", 13) == 0 && mapped->runtime[0] == '\0')
		copy_prefix(mapped->runtime, path, (size_t)(name - path));
	return 0;
}

/* ---- candidates from folders ---- */

/*
 * Whether root, this user or the owner of the program's own libraries owns the file, and nobody
 * else may replace it: in /tmp others make folders.  A group may write that may write where those
 * libraries are, and a group of one user, which has his number.
 */
static bool is_trusted(const struct stat *file, const struct stat *own)
{
	bool is_group_trusted = file->st_gid == 0 || file->st_gid == file->st_uid ||
				((own->st_mode & S_IWGRP) && file->st_gid == own->st_gid);

	if (file->st_uid != 0 && file->st_uid != geteuid() && file->st_uid != own->st_uid)
		return false;
	if ((file->st_mode & S_ISVTX) && S_ISDIR(file->st_mode))
		return true;
	return !(file->st_mode & S_IWOTH) && (!(file->st_mode & S_IWGRP) || is_group_trusted);
}

/* Whether a folder is `inner`, or above it. */
static bool is_above(const char *folder, const char *inner)
{
	size_t length = strlen(folder);

	return strncmp(folder, inner, length) == 0 &&
	       (inner[length] == '/' || inner[length] == '\0');
}

/*
 * The same for the folders above it, but for those that are above the program's libraries: whoever
 * may write there could replace these.  folder: of the program's libraries that led to the file.
 * Returns the path without links, because another user could change a link before the file is
 * loaded; NULL: not trusted, or there is no such file.
 */
static const char *trusted_path(const char *file, const char *folder)
{
	/* static: the thread's stack may be small */
	static char path[PATH_MAX], above[PATH_MAX], libraries[PATH_MAX];
	struct stat status, own;

	if (realpath(file, path) == NULL || realpath(folder, libraries) == NULL ||
	    gp_sys_stat(libraries, &own) != 0)
		return NULL;
	strcpy(above, path);
	while (!is_above(above, libraries)) {
		if (gp_sys_stat(above, &status) != 0 || !is_trusted(&status, &own))
			return NULL;
		*strrchr(above, '/') = '\0';
	}
	return path;
}

/* A place that the user named, or that root installed to. */
static bool try_named(void *context, const char *file)
{
	return try_file(context, file, 0);
}

/* A place to which a library of the program led, and which nobody has named. */
static bool try_of_program(void *context, const char *file)
{
	struct search *search = context;
	const char *path = trusted_path(file, search->folder);

	if (path != NULL)
		return try_file(search, path, 0);
	search->unusable = true;
	snprintf(search->why, sizeof(search->why), "other users may replace %s", file);
	return false;
}

/*
 * Beside libcudart: a toolkit's lib64 and extras, and the layouts of the Python wheels of CUDA 12
 * and 13.
 */
static const char *const beside_runtime[] = {
	"libcupti.so.*",
	"../extras/CUPTI/lib64/libcupti.so.*",
	"../../../extras/CUPTI/lib64/libcupti.so.*",
	"../../cuda_cupti/lib/libcupti.so.*",
	NULL,
};

static const char *const in_packages[] = {
	"nvidia/cu1[0-9]/lib/libcupti.so.*",
	"nvidia/cuda_cupti/lib/libcupti.so.*",
	NULL,
};

static bool try_folder(struct search *search, const char *folder, const char *const *patterns)
{
	search->folder = folder;
	return gp_cupti_try_folder(folder, patterns, search->newest_major, try_of_program, search);
}

static bool try_everything(struct search *search)
{
	static struct mapped_files mapped; /* static: the thread's stack may be small */

	mapped.cupti[0] = mapped.runtime[0] = mapped.packages[0] = '\0';
	dl_iterate_phdr(check_mapped, &mapped);
	if (mapped.cupti[0] != '\0' && try_file(search, mapped.cupti, RTLD_NOLOAD))
		return true;
	return try_folder(search, mapped.runtime, beside_runtime) ||
	       try_folder(search, mapped.packages, in_packages) ||
	       gp_cupti_try_installed(search->newest_major, try_named, search);
}

int gp_cupti_open(struct gp_cupti *cupti, const char *override, uint32_t driver_version,
		  char *message, size_t message_bytes)
{
	struct search search = {.cupti = cupti, .newest_major = driver_version / 1000};
	bool found = override[0] != '\0' ? try_file(&search, override, 0) : try_everything(&search);

	if (found)
		return 0;
	if (search.too_old) {
		snprintf(
			message, message_bytes,
			"only a libcupti older than 11.8 was found, which would crash the program; install a newer CUDA Toolkit, or name another " BY_OPTION);
		return -EPERM;
	}
	if (override[0] != '\0' || search.unusable) {
		snprintf(message, message_bytes,
			 "cannot load libcupti (%s); name another " BY_OPTION, search.why);
		return -ENOEXEC;
	}
	if (driver_version != 0)
		snprintf(
			message, message_bytes,
			"there is no libcupti for this driver, which is for CUDA %u.%u; install CUPTI from the CUDA Toolkit of that version, or name one " BY_OPTION,
			driver_version / 1000, driver_version % 1000 / 10);
	else
		snprintf(
			message, message_bytes,
			"there is no libcupti; install CUPTI from the CUDA Toolkit, or name one " BY_OPTION);
	return -ENOENT;
}

uint32_t gp_driver_open(struct gp_driver *driver)
{
	void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	int version = 0;

	memset(driver, 0, sizeof(*driver));
	if (handle == NULL)
		return 0;
#define FIND(member, name) *(void **)&driver->member = dlsym(handle, name)
	FIND(cuDriverGetVersion, "cuDriverGetVersion");
	FIND(cuCtxPushCurrent, "cuCtxPushCurrent_v2");
	FIND(cuCtxPopCurrent, "cuCtxPopCurrent_v2");
	FIND(cuMemGetInfo, "cuMemGetInfo_v2");
	FIND(cuStreamGetCtx, "cuStreamGetCtx");
	FIND(cuDeviceGetUuid, "cuDeviceGetUuid");
	FIND(cuDeviceGetCount, "cuDeviceGetCount");
	FIND(cuDeviceGetName, "cuDeviceGetName");
	FIND(cuDeviceTotalMem, "cuDeviceTotalMem_v2");
	FIND(cuDeviceGetAttribute, "cuDeviceGetAttribute");
	FIND(cuDevicePrimaryCtxGetState, "cuDevicePrimaryCtxGetState");
	FIND(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
	FIND(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
	FIND(cuCtxGetCurrent, "cuCtxGetCurrent");
#undef FIND
	if (driver->cuDriverGetVersion == NULL ||
	    driver->cuDriverGetVersion(&version) != CUDA_SUCCESS)
		return 0;
	return (uint32_t)version;
}
