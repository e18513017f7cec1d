#include "report/run/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/base/shared_folder.h"

/* A program in /tmp must not load a library that another user has put beside it. */
static bool is_trusted(const char *library)
{
	struct stat of_library, of_program;

	return stat(library, &of_library) == 0 && stat("/proc/self/exe", &of_program) == 0 &&
	       (gp_owner_is_trusted(of_library.st_uid) || of_library.st_uid == of_program.st_uid) &&
	       !(of_library.st_mode & S_IWOTH);
}

static bool is_readable(const char *folder, const char *below)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", folder, below) < (int)sizeof(path) &&
	       !access(path, R_OK) && is_trusted(path);
}

/* The folder of the running program, without a slash at its end. */
static int own_folder(char folder[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	char *slash;

	if (length < 0)
		return -errno;
	folder[length] = 0;
	slash = strrchr(folder, '/');
	if (slash)
		*slash = 0;
	return 0;
}

/*
 * The loader's value of $LIB. There is no function that returns it, but the C library lies in that
 * folder, below / or /usr.
 */
static bool loader_lib(char lib[PATH_MAX])
{
	void *of_libc = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
	Dl_info info;
	const char *start;
	char *slash;

	if (!of_libc || !dladdr(of_libc, &info) || !info.dli_fname || info.dli_fname[0] != '/')
		return false;
	start = info.dli_fname + 1;
	if (!strncmp(start, "usr/", 4))
		start += 4;
	snprintf(lib, PATH_MAX, "%s", start);
	slash = strrchr(lib, '/');
	if (slash)
		*slash = 0;
	return slash != NULL;
}

static bool has_loader_path(const char *folder)
{
	char lib[PATH_MAX], below[PATH_MAX];

	return loader_lib(lib) &&
	       snprintf(below, sizeof(below), GP_LIBRARY_FOLDER "/%s/" GP_LIBRARY_NAME, lib) <
		       (int)sizeof(below) &&
	       is_readable(folder, below);
}

int gp_library_find(struct gp_library *library, char *message, size_t message_bytes)
{
	char own[PATH_MAX], parent[PATH_MAX];
	const char *places[] = {own, parent};
	int error = own_folder(own);

	if (!error && snprintf(parent, sizeof(parent), "%.*s/lib", (int)(strrchr(own, '/') - own),
			       own) >= (int)sizeof(parent))
		error = -ENAMETOOLONG;
	for (size_t i = 0; !error && i < sizeof(places) / sizeof(*places); i++) {
		if (!is_readable(places[i], GP_LIBRARY_NAME))
			continue;
		snprintf(library->folder, sizeof(library->folder), "%s", places[i]);
		library->by_loader_path = has_loader_path(library->folder);
		return 0;
	}
	if (error && error != -ENAMETOOLONG) {
		snprintf(
			message, message_bytes,
			"cannot find the folder of gpuprof, as /proc is not readable: %s; mount /proc",
			strerror(-error));
		return error;
	}
	snprintf(
		message, message_bytes,
		GP_LIBRARY_NAME
		" is neither beside %s/gpuprof nor in ../lib, or is another user's; to build it, type: make",
		own);
	return error ? error : -ENOENT;
}

int gp_library_beside(const char *const *places, size_t count, char path[PATH_MAX])
{
	char own[PATH_MAX];
	int error = own_folder(own);

	for (size_t i = 0; error == 0 && i < count; i++)
		if (is_readable(own, places[i]) &&
		    snprintf(path, PATH_MAX, "%s/%s", own, places[i]) < PATH_MAX)
			return 0;
	return error != 0 ? error : -ENOENT;
}

int gp_library_preload_path(const struct gp_library *library, const struct gp_session *session,
			    char path[PATH_MAX])
{
	const char *below = library->by_loader_path ? GP_LIBRARY_FOLDER "/$LIB/" : "";
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s", library->folder);
	if (strpbrk(folder, " :")) {
		int error =
			gp_session_link(session, "lib", library->folder, folder, sizeof(folder));

		if (error)
			return error;
	}
	if (snprintf(path, PATH_MAX, "%s/%s" GP_LIBRARY_NAME, folder, below) >= PATH_MAX)
		return -ENAMETOOLONG;
	return 0;
}

int gp_library_real_path(const struct gp_library *library, char path[PATH_MAX])
{
	char lib[PATH_MAX], name[PATH_MAX], preloaded[PATH_MAX];

	if (snprintf(name, sizeof(name), "%s/" GP_LIBRARY_NAME, library->folder) >=
		    (int)sizeof(name) ||
	    !realpath(name, path))
		return -ENOENT;
	if (!library->by_loader_path)
		return 0;
	if (!loader_lib(lib) ||
	    snprintf(name, sizeof(name), "%s/" GP_LIBRARY_FOLDER "/%s/" GP_LIBRARY_NAME,
		     library->folder, lib) >= (int)sizeof(name) ||
	    !realpath(name, preloaded))
		return -ENOENT;
	return strcmp(preloaded, path) == 0 ? 0 : -ENOENT;
}
