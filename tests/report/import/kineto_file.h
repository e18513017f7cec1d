/* kineto_file: a Chrome trace of torch.profiler in memory, for tests that load it as a model. */
#ifndef TESTS_REPORT_IMPORT_KINETO_FILE_H
#define TESTS_REPORT_IMPORT_KINETO_FILE_H

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "report/load/load_model.h"
#include "report/model/model.h"
#include "tests/unit.h"

static int fd = -1;
static char path[64];
static char message[512];

static int open_file(void **state)
{
	fd = memfd_create("trace.json", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return fd < 0;
}

static int close_file(void **state)
{
	return close(fd);
}

static int load_bytes(const void *bytes, size_t count, struct gp_model **model)
{
	message[0] = '\0';
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, bytes, count, 0), (ssize_t)count);
	return gp_model_load(path, model, message, sizeof(message));
}

static struct gp_model *load(const char *text)
{
	struct gp_model *model = NULL;
	int result = load_bytes(text, strlen(text), &model);

	if (result != 0)
		fail_msg("%d: %s", result, message);
	return model;
}

#define EVENTS(text)       "{\"traceEvents\": [" text "]}"
#define X(cat, name, args) "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\"," args "}"
#define HOST(ts, dur)      "\"pid\":9,\"tid\":5,\"ts\":" ts ",\"dur\":" dur
#define GPU(ts, dur, args)                                                                         \
	"\"pid\":1,\"tid\":7,\"ts\":" ts ",\"dur\":" dur                                           \
	",\"args\":{\"device\":1,\"context\":2,\"stream\":7,\"correlation\":40," args "}"

#endif
