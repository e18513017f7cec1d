/* nvtx_scene: NVTX's real headers with this program as their tool, and the resulting trace. */
#ifndef TESTS_INJECT_NVTX_SCENE_H
#define TESTS_INJECT_NVTX_SCENE_H

#include "tests/collector/harness.h"
#include "tests/collector/trace_check.h"

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include "inject/options.h"
#include "inject/output_path.h"
#include "inject/process_trace.h"
#include "inject/ranges.h"

#define MOST_RANGES 20000u
#define MOST_TEXTS  4000u

/* The entry points for a tool that is linked in, because no library is loaded here. */
int gp_nvtx_initialize(NvtxGetExportTableFunc_t get_export_table);
int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t *module);

/*
 * The thread sanitizer searches this name: NVTX's headers read their own function table without
 * synchronization while a tool fills it.  Only that table is named here; other races are reported.
 */
const char *__tsan_default_suppressions(void);

const char *__tsan_default_suppressions(void)
{
	return "race:^nvtxGlobals_v3$\n";
}

/* ---- what a trace says ---- */

static struct {
	struct gp_record_range ranges[MOST_RANGES];
	uint32_t threads[MOST_RANGES];
	uint32_t range_count;
	struct gp_record_string strings[MOST_TEXTS];
	char *texts[MOST_TEXTS];
	uint32_t text_count;
	uint32_t ends;
	uint64_t counters[GP_COUNTERS];
} said;

static struct scan scan;

static inline void take(void *unused, const struct found *found)
{
	const struct gp_record_string *string = as_string(found);

	(void)unused;
	said.ends += is_kind(found, GP_RECORD_END);
	if (is_kind(found, GP_RECORD_COUNTER))
		said.counters[found->record->counter.counter] = found->record->counter.value;
	if (is_kind(found, GP_RECORD_RANGE) && said.range_count < MOST_RANGES) {
		said.threads[said.range_count] = found->thread;
		said.ranges[said.range_count++] = found->record->range;
	}
	if (string != NULL && said.text_count < MOST_TEXTS) {
		char *copy = calloc(1, string->length_bytes + 1);

		memcpy(copy, found->record->text, string->length_bytes);
		said.texts[said.text_count] = copy;
		said.strings[said.text_count++] = *string;
	}
}

/* The last definition counts. */
static inline uint32_t find_text(uint16_t space, uint32_t id)
{
	for (uint32_t i = said.text_count; i-- > 0;)
		if (said.strings[i].space == space && said.strings[i].id == id)
			return i;
	return MOST_TEXTS;
}

static inline const char *text_of(uint16_t space, uint32_t id)
{
	uint32_t i = find_text(space, id);

	return id == 0 ? "" : i < MOST_TEXTS ? said.texts[i] : NULL;
}

static inline bool range_is(uint32_t index, enum gp_range_op op, const char *domain,
			    const char *text)
{
	const struct gp_record_range *range = &said.ranges[index];
	const char *of_domain = text_of(GP_STRING_DOMAIN, range->domain_id);
	const char *of_text = text_of(GP_STRING_RANGE, range->text_id);

	return index < said.range_count && range->op == op && of_domain != NULL &&
	       strcmp(of_domain, domain) == 0 && of_text != NULL && strcmp(of_text, text) == 0;
}

static inline void begin(const char *name)
{
	setenv("GPUPROF_OUTPUT", in_folder(name), 1);
	setenv("GPUPROF_CHROME", "none", 1);
	setenv("GPUPROF_SUMMARY", "none", 1);
	gp_output_path_remember();
	gp_options_read(environ);
	gp_ranges_enable(true);
	InitializeInjectionNvtx2_fnptr = gp_nvtx_initialize;
	InitializeInjectionNvtxExtension_fnptr = InitializeInjectionNvtxExtension;
}

static inline void nothing_more(void)
{
}

static inline void stop_and_read(void)
{
	CHECK(gp_process_trace_is_live());
	gp_process_trace_close(nothing_more, GP_FOLLOWED_BY_PROGRAM);
	memset(&said, 0, sizeof(said));
	memset(&scan, 0, sizeof(scan));
	scan.fn = take;
	CHECK(scan_trace(&scan, gp_collector_trace_path()));
	CHECK(scan.error == NULL && said.ends == 1);
}

static inline nvtxEventAttributes_t attributes_of(const char *text)
{
	nvtxEventAttributes_t event = {0};

	event.version = NVTX_VERSION;
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	event.messageType = NVTX_MESSAGE_TYPE_ASCII;
	event.message.ascii = text;
	return event;
}

#endif
