/*
 * lookup [WORD...]: client.cu, but it finds CUPTI like Proton and JAX's profiler: it loads the
 * library, that of LOOKUP_CUPTI or else the loader's, and looks up each function at its first call.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <cupti.h>

static void *look_up(const char *name)
{
	static void *library = [] {
		const char *path = getenv("LOOKUP_CUPTI");

		return dlopen(path ? path : "libcupti.so.13", RTLD_LAZY | RTLD_LOCAL);
	}();
	dlerror();
	void *function = library ? dlsym(library, name) : NULL;
	const char *error = dlerror();

	if (!function || error) {
		fprintf(stderr, "%s: %s\n", name, error);
		exit(1);
	}
	return function;
}

template <typename function_type> static function_type find(function_type, const char *name)
{
	return (function_type)look_up(name);
}

#define BY_NAME(function) find((decltype(&function))NULL, #function)

#define cuptiActivityDisable                    BY_NAME(cuptiActivityDisable)
#define cuptiActivityEnable                     BY_NAME(cuptiActivityEnable)
#define cuptiActivityEnableRuntimeApi           BY_NAME(cuptiActivityEnableRuntimeApi)
#define cuptiActivityFlushAll                   BY_NAME(cuptiActivityFlushAll)
#define cuptiActivityGetNextRecord              BY_NAME(cuptiActivityGetNextRecord)
#define cuptiActivityGetNumDroppedRecords       BY_NAME(cuptiActivityGetNumDroppedRecords)
#define cuptiActivityPopExternalCorrelationId   BY_NAME(cuptiActivityPopExternalCorrelationId)
#define cuptiActivityPushExternalCorrelationId  BY_NAME(cuptiActivityPushExternalCorrelationId)
#define cuptiActivityRegisterCallbacks          BY_NAME(cuptiActivityRegisterCallbacks)
#define cuptiActivityRegisterTimestampCallback  BY_NAME(cuptiActivityRegisterTimestampCallback)
#define cuptiActivitySetAttribute               BY_NAME(cuptiActivitySetAttribute)
#define cuptiEnableCallback                     BY_NAME(cuptiEnableCallback)
#define cuptiEnableDomain                       BY_NAME(cuptiEnableDomain)
#define cuptiFinalize                           BY_NAME(cuptiFinalize)
#define cuptiGetCallbackName                    BY_NAME(cuptiGetCallbackName)
#define cuptiGetTimestamp                       BY_NAME(cuptiGetTimestamp)
#define cuptiSubscribe                          BY_NAME(cuptiSubscribe)
#define cuptiUnsubscribe                        BY_NAME(cuptiUnsubscribe)

#include "client.cu"
