#include "report/diff/machine.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/model/devices.h"
#include "report/base/text/format.h"
#include "report/base/memstream.h"
#include "report/base/text/text.h"

static const struct {
	const char *name, *title;
} facts[GP_MACHINE_FACTS] = {
	[GP_MACHINE_GPUS] = {"gpus", "GPU"},
	[GP_MACHINE_DRIVER] = {"driver", "driver for CUDA"},
	[GP_MACHINE_CUPTI] = {"cupti", "CUPTI"},
	[GP_MACHINE_GPUPROF] = {"gpuprof", "gpuprof"},
	[GP_MACHINE_OPTIONS] = {"options", "recording options"},
	[GP_MACHINE_PROGRAM] = {"program", "program"},
};

const char *gp_machine_fact_name(enum gp_machine_fact fact)
{
	return facts[fact].name;
}

const char *gp_machine_fact_title(enum gp_machine_fact fact)
{
	return facts[fact].title;
}

const char *gp_machine_fact(const struct gp_machine *machine, enum gp_machine_fact fact)
{
	return machine->facts[fact] ? machine->facts[fact] : "";
}

const char *gp_machine_fact_text(const struct gp_machine *machine, enum gp_machine_fact fact)
{
	const char *text = gp_machine_fact(machine, fact);

	if (*text)
		return text;
	return fact == GP_MACHINE_OPTIONS && !machine->is_of_others ? "the default" : "unknown";
}

bool gp_machine_is_sampled(const struct gp_machine *machine)
{
	return strstr(gp_machine_fact(machine, GP_MACHINE_OPTIONS), "SAMPLE=") != NULL;
}

/* The name in "8 x NVIDIA H200, 132 SMs, ...". */
static const char *first_gpu(const struct gp_machine *machine, size_t *bytes)
{
	const char *gpus = gp_machine_fact(machine, GP_MACHINE_GPUS);
	size_t digits = strspn(gpus, "0123456789");

	if (digits > 0 && strncmp(gpus + digits, " x ", 3) == 0)
		gpus += digits + 3;
	*bytes = strcspn(gpus, ",;");
	return gpus;
}

bool gp_machine_has_other_gpu(const struct gp_machine *a, const struct gp_machine *b)
{
	size_t bytes_a, bytes_b;
	const char *gpu_a = first_gpu(a, &bytes_a), *gpu_b = first_gpu(b, &bytes_b);

	return bytes_a > 0 && bytes_b > 0 &&
	       (bytes_a != bytes_b || memcmp(gpu_a, gpu_b, bytes_a) != 0);
}

void gp_machine_free(struct gp_machine *machine)
{
	for (int i = 0; i < GP_MACHINE_FACTS; i++)
		free(machine->facts[i]);
	*machine = (struct gp_machine){0};
}

static const struct gp_model *model_of(struct gp_model *const *models, size_t model_count,
				       const struct gp_record_device *record)
{
	for (size_t i = 0; i < model_count; i++)
		for (uint32_t k = 0; record && k < models[i]->device_count; k++)
			if (&models[i]->devices[k] == record)
				return models[i];
	return NULL;
}

/*
 * The length of the device's own name in "NVIDIA H200 (name given by the program)": the given name
 * may differ from run to run.
 */
static size_t own_name_length(struct gp_model *const *models, size_t model_count,
			      const struct gp_device_entry *device)
{
	const struct gp_model *model = model_of(models, model_count, device->record);
	const struct gp_text *given =
		model ? gp_model_text(model, GP_STRING_DEVICE, 0, device->record->device_id) : NULL;
	size_t length = strlen(device->name);
	size_t called = given && given->length > 0 ? strlen(given->bytes) + strlen(" ()") : 0;

	return length > called ? length - called : 0;
}

static void describe_gpu(FILE *out, const struct gp_device_entry *device, size_t name_length)
{
	const struct gp_record_device *record = device->record;

	fprintf(out, "%.*s", (int)name_length, device->name);
	if (name_length == 0)
		fputs("unknown device", out);
	if (!record)
		return;
	fprintf(out, ", %u SMs, %s, ", record->multiprocessors,
		gp_format_bytes(record->memory_bytes).text);
	if (record->compute_major > 0)
		fprintf(out, "compute capability %u.%u, ", record->compute_major,
			record->compute_minor);
	if (record->core_clock_khz > 0)
		fprintf(out, "%u MHz", record->core_clock_khz / 1000);
	else
		fputs("clock not known", out);
}

static void describe_gpus(FILE *out, struct gp_model *const *models, size_t model_count)
{
	struct gp_device_list devices = {0};

	gp_device_list_all(&devices, models, model_count);
	for (size_t i = 0; i < devices.count; i++) {
		fputs(i > 0 ? "; " : "", out);
		describe_gpu(out, &devices.entries[i],
			     own_name_length(models, model_count, &devices.entries[i]));
	}
	gp_device_list_free(&devices);
}

char *gp_machine_join_gpus(const char *gpus)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	while (*gpus) {
		const char *end = strstr(gpus, "; ");
		size_t length = end ? (size_t)(end - gpus) : strlen(gpus);
		const char *next = gpus;
		unsigned count = 0;

		while (*next && strncmp(next, gpus, length) == 0 &&
		       (next[length] == '\0' || strncmp(next + length, "; ", 2) == 0)) {
			count++;
			next += length;
			next += *next ? 2 : 0;
		}
		if (count > 1)
			fprintf(out, "%u x ", count);
		fprintf(out, "%.*s%s", (int)length, gpus, *next ? "; " : "");
		gpus = next;
	}
	gp_memstream_close(out, &text);
	return text;
}

/* Whether the option decides the content of a trace, not only its place. */
static bool says_what_is_recorded(const char *line, size_t length)
{
	static const char *const names[] = {
		"TRACE=",   "GRAPHS=",   "STACKS=",    "CAPTURE_RANGE=",  "CAPTURE_REPEAT=",
		"DELAY=",   "DURATION=", "LAUNCHES=",  "AFTER_LAUNCHES=", "TOGGLE_SIGNAL=",
		"KERNELS=", "FOLLOW=",   "PROCESSES=", "MIN_API_US=",     "CAPTURE_SKIP=",
		"RANKS=",   "SAMPLE=",
	};

	for (size_t i = 0; i < COUNT(names); i++)
		if (length > strlen(names[i]) && memcmp(line, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static void describe_options(FILE *out, const char *options)
{
	const char *separator = "";

	while (options && *options) {
		size_t length = strcspn(options, "\n");

		if (says_what_is_recorded(options, length)) {
			fprintf(out, "%s%.*s", separator, (int)length, options);
			separator = " ";
		}
		options += length + (options[length] != '\0');
	}
}

static void describe(FILE *out, enum gp_machine_fact fact, struct gp_model *const *models,
		     size_t model_count)
{
	char *const *info = models[0]->info;

	switch (fact) {
	case GP_MACHINE_GPUS: {
		describe_gpus(out, models, model_count);
		return;
	}
	case GP_MACHINE_DRIVER:
		if (info[GP_INFO_DRIVER_VERSION])
			fputs(gp_format_cuda_version(
				      strtoul(info[GP_INFO_DRIVER_VERSION], NULL, 10))
				      .text,
			      out);
		return;
	case GP_MACHINE_CUPTI:
		if (info[GP_INFO_CUPTI_VERSION])
			fputs(gp_format_cupti_version(
				      strtoul(info[GP_INFO_CUPTI_VERSION], NULL, 10))
				      .text,
			      out);
		return;
	case GP_MACHINE_GPUPROF:
		fputs(info[GP_INFO_VERSION] ? info[GP_INFO_VERSION] : "", out);
		return;
	case GP_MACHINE_OPTIONS:
		describe_options(out, info[GP_INFO_OPTIONS]);
		return;
	default:
		fputs(info[GP_INFO_PROGRAM] ? info[GP_INFO_PROGRAM] : "", out);
		return;
	}
}

static void take_fact(struct gp_machine *machine, enum gp_machine_fact fact,
		      struct gp_model *const *models, size_t model_count)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	describe(out, fact, models, model_count);
	gp_memstream_close(out, &text);
	if (fact == GP_MACHINE_GPUS) {
		char *joined = gp_machine_join_gpus(text);

		free(text);
		text = joined;
	}
	machine->facts[fact] = gp_text_escape(text);
	free(text);
}

int gp_machine_of(struct gp_model *const *models, size_t model_count, struct gp_machine *machine)
{
	*machine = (struct gp_machine){0};
	for (size_t i = 0; i < model_count; i++)
		machine->is_of_others |= models[i]->recorder != NULL;
	for (int fact = 0; fact < GP_MACHINE_FACTS; fact++)
		take_fact(machine, (enum gp_machine_fact)fact, models, model_count);
	return 0;
}
