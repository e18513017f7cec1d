#include "inject/cupti_api.h" /* must precede other headers that include CUPTI's */
#include "inject/client_symbols.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "collector/atomic.h"
#include "inject/dlsym.h"
#include "inject/log.h"
#include "inject/session.h"

struct row {
	const char *name;
	void (*own)(void);
	uint64_t original; /* CUPTI's function, 0 = none yet */
};

#define ROW(function)                                                                              \
	{                                                                                          \
#function, (void (*)(void))(function), 0                                           \
	}
static struct row rows[] = {
	ROW(cuptiActivityDisable),
	ROW(cuptiActivityDisableContext),
	ROW(cuptiActivityEnable),
	ROW(cuptiActivityEnableAndDump),
	ROW(cuptiActivityEnableContext),
	ROW(cuptiActivityFlush),
	ROW(cuptiActivityFlushAll),
	ROW(cuptiActivityFlushPeriod),
	ROW(cuptiActivityGetNumDroppedRecords),
	ROW(cuptiActivityRegisterCallbacks),
	ROW(cuptiActivityRegisterTimestampCallback),
	ROW(cuptiActivitySetAttribute),
	ROW(cuptiEnableAllDomains),
	ROW(cuptiEnableCallback),
	ROW(cuptiEnableDomain),
	ROW(cuptiFinalize),
	ROW(cuptiGetCallbackState),
	ROW(cuptiSubscribe),
	ROW(cuptiSubscribe_v2),
	ROW(cuptiUnsubscribe),
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* base address of the libcupti copy whose functions were replaced; 0 = none */
static uint64_t replaced_copy;

static struct row *find_row(const char *name)
{
	for (size_t i = 0; i < ROWS; i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

void *gp_client_symbols_original(const void *own)
{
	for (size_t i = 0; i < ROWS; i++)
		if ((uintptr_t)rows[i].own == (uintptr_t)own)
			return (void *)(uintptr_t)gp_load64(&rows[i].original);
	return NULL;
}

/* ---- copies of libcupti ---- */

/* Base address and path of the libcupti that contains this function; 0: none does. */
static uintptr_t find_copy(const void *function, const char **path)
{
	Dl_info information;
	const char *name;

	if (function == NULL || dladdr(function, &information) == 0 ||
	    information.dli_fname == NULL)
		return 0;
	name = strrchr(information.dli_fname, '/');
	name = name != NULL ? name + 1 : information.dli_fname;
	if (path != NULL)
		*path = information.dli_fname;
	return strncmp(name, "libcupti", 8) == 0 ? (uintptr_t)information.dli_fbase : 0;
}

static uintptr_t find_library(const void *address)
{
	Dl_info information;

	return dladdr(address, &information) != 0 ? (uintptr_t)information.dli_fbase : 0;
}

/* Searched by address, because the file may have any name. */
static uintptr_t copy_in_use(const struct gp_cupti *cupti)
{
	return find_library(*(void *const *)&cupti->cuptiGetVersion);
}

static bool is_cupti_itself(const struct gp_cupti *cupti, const void *caller)
{
	return find_copy(caller, NULL) != 0 ||
	       (cupti != NULL && find_library(caller) == copy_in_use(cupti));
}

bool gp_client_symbols_use_other_copy(const struct gp_cupti *cupti)
{
	uintptr_t copy = gp_load64(&replaced_copy);

	return copy != 0 && copy != copy_in_use(cupti);
}

void *gp_client_symbols_look_up(const char *path, const char *name)
{
	void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD), *function;

	if (library == NULL)
		return NULL;
	function = gp_dlsym(library, name);
	dlclose(library);
	return function;
}

/* Whether the program is bound to another copy, which our functions would call. */
static bool is_bound_to_another(const char *name, uintptr_t copy)
{
	void *bound = gp_dlsym(RTLD_NEXT, name);

	return bound != NULL && find_copy(bound, NULL) != copy;
}

/* Only one copy is supported. */
static bool take_copy(uintptr_t copy)
{
	return gp_replace64(&replaced_copy, 0, copy) || gp_load64(&replaced_copy) == copy;
}

/* ---- the answer ---- */

static void *replace(struct row *row, void *function)
{
	if (row == NULL)
		return function;
	gp_store64(&row->original, (uintptr_t)function);
	return (void *)(uintptr_t)row->own;
}

/* Before our session has a libcupti: it may be that one. */
static void *answer_early(const char *name, void *found, uintptr_t copy)
{
	struct row *row = find_row(name);

	if (row == NULL || is_bound_to_another(name, copy) || !take_copy(copy))
		return found;
	return replace(row, found);
}

static uint32_t version_of(void *library)
{
	__typeof__(&cuptiGetVersion) get_version;
	uint32_t version = UINT32_MAX;

	*(void **)&get_version = gp_dlsym(library, "cuptiGetVersion");
	return get_version != NULL && get_version(&version) == CUPTI_SUCCESS ? version : UINT32_MAX;
}

static void log_too_old(const char *path)
{
	static uint32_t is_logged;

	if (gp_replace32(&is_logged, 0, 1))
		gp_log("a profiler inside the program needs a newer CUPTI than the one that gpuprof uses, and CUPTI refuses it; to use both, type: export GPUPROF_CUPTI=%s",
		       path);
}

/* The client has a copy of its own: the functions of our copy are called for it. */
static void *find_in_ours(const struct gp_cupti *cupti, void *handle, const char *name, void *found)
{
	const char *path = "";

	if (version_of(handle) <= cupti->version)
		return gp_client_symbols_look_up(cupti->path, name);
	(void)find_copy(found, &path);
	if (strncmp(name, "cuptiSubscribe", strlen("cuptiSubscribe")) == 0)
		log_too_old(path);
	return NULL;
}

static void *answer_with_ours(const struct gp_cupti *cupti, void *handle, const char *name,
			      void *found)
{
	uintptr_t ours = copy_in_use(cupti);
	void *function = found;

	if (find_copy(found, NULL) != ours)
		function = find_in_ours(cupti, handle, name, found);
	if (function == NULL || is_bound_to_another(name, ours) || !take_copy(ours))
		return found;
	return replace(find_row(name), function);
}

/* For inject/dlsym.h.  CUPTI's own lookups keep CUPTI's functions. */
static void *answer(void *handle, const char *name, void *found, const void *caller)
{
	const struct gp_cupti *cupti = gp_session_shared();
	uintptr_t copy = find_copy(found, NULL);
	int saved_errno = errno;
	void *function;

	if (copy == 0 || is_cupti_itself(cupti, caller))
		return found;
	function = cupti != NULL ? answer_with_ours(cupti, handle, name, found)
				 : answer_early(name, found, copy);
	errno = saved_errno;
	return function;
}

void gp_client_symbols_init(void)
{
	gp_dlsym_answer_with(answer);
}
