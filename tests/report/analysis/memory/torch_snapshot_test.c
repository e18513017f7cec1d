/* What PyTorch writes, in small: two segments, four blocks; and the same with damage. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "gpuprof/count.h"
#include "report/analysis/memory/torch_snapshot.h"
#include "tests/unit.h"
#include "tests/report/expect.h"
#include "tests/report/model_builder.h"

/*
 * pickle.dumps(protocol=4) of a segment of 300 bytes at 0x1000 with blocks of 100 (allocated by f
 * at a.py:7), 50 (waiting) and 150 (free), and an expandable one of 40 at 0x9000 in pool (0, 2),
 * free.
 */
static const uint8_t sample[] = {
	0x80, 0x04, 0x95, 0x85, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x7d, 0x94, 0x8c, 0x08,
	0x73, 0x65, 0x67, 0x6d, 0x65, 0x6e, 0x74, 0x73, 0x94, 0x5d, 0x94, 0x28, 0x7d, 0x94, 0x28,
	0x8c, 0x06, 0x64, 0x65, 0x76, 0x69, 0x63, 0x65, 0x94, 0x4b, 0x00, 0x8c, 0x07, 0x61, 0x64,
	0x64, 0x72, 0x65, 0x73, 0x73, 0x94, 0x4d, 0x00, 0x10, 0x8c, 0x0a, 0x74, 0x6f, 0x74, 0x61,
	0x6c, 0x5f, 0x73, 0x69, 0x7a, 0x65, 0x94, 0x4d, 0x2c, 0x01, 0x8c, 0x0c, 0x73, 0x65, 0x67,
	0x6d, 0x65, 0x6e, 0x74, 0x5f, 0x74, 0x79, 0x70, 0x65, 0x94, 0x8c, 0x05, 0x73, 0x6d, 0x61,
	0x6c, 0x6c, 0x94, 0x8c, 0x0f, 0x73, 0x65, 0x67, 0x6d, 0x65, 0x6e, 0x74, 0x5f, 0x70, 0x6f,
	0x6f, 0x6c, 0x5f, 0x69, 0x64, 0x94, 0x4b, 0x00, 0x4b, 0x00, 0x86, 0x94, 0x8c, 0x0d, 0x69,
	0x73, 0x5f, 0x65, 0x78, 0x70, 0x61, 0x6e, 0x64, 0x61, 0x62, 0x6c, 0x65, 0x94, 0x89, 0x8c,
	0x06, 0x62, 0x6c, 0x6f, 0x63, 0x6b, 0x73, 0x94, 0x5d, 0x94, 0x28, 0x7d, 0x94, 0x28, 0x8c,
	0x04, 0x73, 0x69, 0x7a, 0x65, 0x94, 0x4b, 0x64, 0x8c, 0x0e, 0x72, 0x65, 0x71, 0x75, 0x65,
	0x73, 0x74, 0x65, 0x64, 0x5f, 0x73, 0x69, 0x7a, 0x65, 0x94, 0x4b, 0x63, 0x8c, 0x05, 0x73,
	0x74, 0x61, 0x74, 0x65, 0x94, 0x8c, 0x10, 0x61, 0x63, 0x74, 0x69, 0x76, 0x65, 0x5f, 0x61,
	0x6c, 0x6c, 0x6f, 0x63, 0x61, 0x74, 0x65, 0x64, 0x94, 0x8c, 0x06, 0x66, 0x72, 0x61, 0x6d,
	0x65, 0x73, 0x94, 0x5d, 0x94, 0x7d, 0x94, 0x28, 0x8c, 0x08, 0x66, 0x69, 0x6c, 0x65, 0x6e,
	0x61, 0x6d, 0x65, 0x94, 0x8c, 0x08, 0x2f, 0x6d, 0x65, 0x2f, 0x61, 0x2e, 0x70, 0x79, 0x94,
	0x8c, 0x04, 0x6c, 0x69, 0x6e, 0x65, 0x94, 0x4b, 0x07, 0x8c, 0x04, 0x6e, 0x61, 0x6d, 0x65,
	0x94, 0x8c, 0x01, 0x66, 0x94, 0x75, 0x61, 0x75, 0x7d, 0x94, 0x28, 0x68, 0x0f, 0x4b, 0x32,
	0x68, 0x10, 0x4b, 0x31, 0x68, 0x11, 0x8c, 0x13, 0x61, 0x63, 0x74, 0x69, 0x76, 0x65, 0x5f,
	0x70, 0x65, 0x6e, 0x64, 0x69, 0x6e, 0x67, 0x5f, 0x66, 0x72, 0x65, 0x65, 0x94, 0x68, 0x13,
	0x5d, 0x94, 0x75, 0x7d, 0x94, 0x28, 0x68, 0x0f, 0x4b, 0x96, 0x68, 0x10, 0x4b, 0x95, 0x68,
	0x11, 0x8c, 0x08, 0x69, 0x6e, 0x61, 0x63, 0x74, 0x69, 0x76, 0x65, 0x94, 0x68, 0x13, 0x5d,
	0x94, 0x75, 0x65, 0x75, 0x7d, 0x94, 0x28, 0x68, 0x04, 0x4b, 0x00, 0x68, 0x05, 0x4d, 0x00,
	0x90, 0x68, 0x06, 0x4b, 0x28, 0x68, 0x07, 0x8c, 0x05, 0x6c, 0x61, 0x72, 0x67, 0x65, 0x94,
	0x68, 0x09, 0x4b, 0x00, 0x4b, 0x02, 0x86, 0x94, 0x68, 0x0b, 0x88, 0x68, 0x0c, 0x5d, 0x94,
	0x7d, 0x94, 0x28, 0x68, 0x0f, 0x4b, 0x28, 0x68, 0x10, 0x4b, 0x27, 0x68, 0x11, 0x68, 0x1f,
	0x68, 0x13, 0x5d, 0x94, 0x75, 0x61, 0x75, 0x65, 0x73, 0x2e,
};

static char path[64];
static int memory_file = -1;

static int make_file(void **state)
{
	memory_file = memfd_create("snapshot", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory_file);
	return memory_file < 0 ? -1 : 0;
}

static int remove_file(void **state)
{
	return close(memory_file);
}

static int load_bytes(const uint8_t *bytes, size_t count, const struct gp_model *model,
		      struct gp_torch_snapshot *snapshot)
{
	FILE *file = fopen(path, "wb");
	char message[4096] = "";
	int result;

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, count, file), count);
	assert_int_equal(fclose(file), 0);
	result = gp_torch_snapshot_load(path, model, snapshot, message, sizeof(message));
	assert_true((result < 0) == (strlen(message) > 0));
	return result;
}

static void segments_are_found_in_the_trace(void **state)
{
	struct build b = build_begin(1);
	struct gp_torch_snapshot snapshot;
	const struct gp_torch_segment *segments;
	struct gp_model *model;

	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 100, 0x1000, 300);
	build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, 200, 0x1000, 0);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 300, 0x1000, 200); /* another size */
	build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, 400, 0x1000, 0);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 500, 0x1000, 300);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 600, 0x2000, 300);
	model = build_end(&b);
	assert_int_equal(load_bytes(sample, sizeof(sample), model, &snapshot), 0);
	assert_int_equal(snapshot.segment_count, 2);
	segments = snapshot.segments;
	assert_int_equal(segments[0].memory, 4); /* the last one */
	assert_int_equal(segments[0].state_bytes[GP_TORCH_ALLOCATED], 100);
	assert_int_equal(segments[0].state_bytes[GP_TORCH_WAITING], 50);
	assert_int_equal(segments[0].state_bytes[GP_TORCH_FREE], 150);
	assert_int_equal(segments[0].largest_free_bytes, 150);
	assert_true(segments[0].is_small && !segments[0].is_expandable);
	assert_int_equal(segments[1].memory, GP_NONE);
	assert_int_equal(segments[1].pool_number, 2);
	assert_true(!segments[1].is_small && segments[1].is_expandable);
	gp_torch_snapshot_free(&snapshot);
	gp_model_free(model);
}

static void blocks_have_their_sites(void **state)
{
	struct build b = build_begin(1);
	struct gp_torch_snapshot snapshot;
	struct gp_model *model = build_end(&b);

	assert_int_equal(load_bytes(sample, sizeof(sample), model, &snapshot), 0);
	assert_int_equal(snapshot.block_count, 4);
	assert_int_equal(snapshot.blocks[0].requested_bytes, 99);
	assert_string_equal(gp_call_sites_at(snapshot.sites, snapshot.blocks[0].site).place,
			    "f (a.py:7)");
	assert_non_null(strstr(gp_call_sites_at(snapshot.sites, snapshot.blocks[1].site).place,
			       "no history"));
	assert_int_equal(snapshot.blocks[3].segment, 1);
	gp_torch_snapshot_free(&snapshot);
	gp_model_free(model);
}

/* ---- snapshots as text ---- */

struct pickle {
	uint8_t bytes[8192];
	size_t count;
};

static void put(struct pickle *p, uint8_t code)
{
	build_check(p->count < sizeof(p->bytes));
	p->bytes[p->count++] = code;
}

/* A value of JSON, with texts in single quotes; what follows it.  "*": again the one behind "&". */
static const char *put_value(struct pickle *p, const char *text)
{
	bool is_dict = *text == '{';
	char *end = NULL;
	int32_t number;

	if (*text == '&') {
		text = put_value(p, text + 1);
		put(p, 0x94);
		return text;
	}
	if (*text == '*') {
		put(p, 'h');
		put(p, 0);
		return text + 1;
	}
	if (*text == '{' || *text == '[') {
		put(p, is_dict ? '}' : ']');
		put(p, '(');
		for (text++; !strchr("}]", *text); text += strspn(text, ":, "))
			text = put_value(p, text);
		put(p, is_dict ? 'u' : 'e');
		return text + 1;
	}
	if (*text == '\'') {
		size_t length = strcspn(++text, "'");

		put(p, 0x8c);
		put(p, (uint8_t)length);
		for (size_t i = 0; i < length; i++)
			put(p, (uint8_t)text[i]);
		return text + length + 1;
	}
	number = (int32_t)strtol(text, &end, 0);
	put(p, 'J');
	for (int i = 0; i < 4; i++)
		put(p, (uint8_t)(number >> 8 * i));
	return end;
}

static int load_text(const char *text, struct gp_torch_snapshot *snapshot)
{
	struct build b = build_begin(1);
	struct gp_model *model = build_end(&b);
	struct pickle p = {.bytes = {0x80, 4}, .count = 2};
	int result;

	put_value(&p, text);
	put(&p, '.');
	result = load_bytes(p.bytes, p.count, model, snapshot);
	gp_model_free(model);
	return result;
}

#define FRAMES(file, name) "'frames':[{'filename':'" file "','line':7,'name':'" name "'}]"
#define OPTIMIZER          FRAMES("/v/lib/python3.12/site-packages/torch/optim/adamw.py", "step")
#define GRADIENTS          FRAMES("??", "torch::autograd::Engine::thread_main()")
#define SEGMENT(device, blocks)                                                                    \
	"{'device':" device ",'address':0x1000,'total_size':500,'segment_type':'large',"           \
	"'blocks':[" blocks "]}"
#define BLOCK(bytes, state, frames)                                                                \
	"{'size':" bytes ",'requested_size':" bytes ",'state':'" state "'," frames "}"

/*
 * At the end 20 bytes of an optimizer.  Before that gradients of 70 came and went; a segment of 100
 * was there then.  Other actions, and other devices, are none of it.
 */
static void the_history_of_a_device_has_a_peak(void **state)
{
	struct gp_torch_snapshot snapshot;
	const struct gp_torch_peak *peak;

	(void)state;
	assert_int_equal(
		load_text(
			"{'segments':[" SEGMENT("0", BLOCK("300", "active_allocated", GRADIENTS)) "," SEGMENT(
				"1",
				BLOCK("20", "active_allocated", OPTIMIZER) "," BLOCK(
					"480", "inactive",
					"'frames':[]")) "],'device_traces':[[],["
							"{'action':'alloc','addr':0x1000,'size':20," OPTIMIZER
							"},"
							"{'action':'oom','addr':0x5000,'size':2000," GRADIENTS
							"},"
							"{'action':'segment_alloc','addr':0x9000,'size':100," GRADIENTS
							"},"
							"{'action':'alloc','addr':0x9000,'size':70," GRADIENTS
							"},"
							"{'action':'free_requested','addr':0x9000,'size':70," GRADIENTS
							"},"
							"{'action':'free_completed','addr':0x9000,'size':70," GRADIENTS
							"},"
							"{'action':'segment_free','addr':0x9000,'size':100," GRADIENTS
							"}]]}",
			&snapshot),
		0);
	assert_int_equal(snapshot.peak_count, 1);
	peak = &snapshot.peaks[0];
	assert_int_equal(peak->device_id, 1);
	assert_int_equal(peak->bytes[GP_TORCH_OPTIMIZER], 20);
	assert_int_equal(peak->bytes[GP_TORCH_GRADIENTS], 70);
	assert_int_equal(peak->cached_bytes, 600 - 90);
	gp_torch_snapshot_free(&snapshot);
}

/* Of what PyTorch itself allocates, an operator of the backward pass is told. */
static void blocks_without_python_have_a_native_place(void **state)
{
	static const struct {
		const char *frames, *place;
		enum gp_torch_category category;
	} cases[] = {
		{"'frames':[]", "(no history: ", GP_TORCH_UNKNOWN},
		{FRAMES("??", "at::empty(long)"), "(native code, which no Python had called)",
		 GP_TORCH_OTHER},
		{FRAMES("??", "void torch::autograd::AccumulateGrad::apply(x)"),
		 "torch::autograd::AccumulateGrad::apply", GP_TORCH_OTHER},
		{FRAMES("<string>", "f"), "f (<string>:7)", GP_TORCH_OTHER},
		/* as until PyTorch 2.0 */
		{"'history':[{" FRAMES("/me/a.py", "f") "}]", "f (a.py:7)", GP_TORCH_OTHER},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gp_torch_snapshot snapshot;
		char text[1024];

		snprintf(text, sizeof(text),
			 "[" SEGMENT("0", BLOCK("20", "active_pending_free", "%s") ",1,2,3") "]",
			 cases[i].frames);
		assert_int_equal(load_text(text, &snapshot), 0);
		assert_int_equal(snapshot.blocks[0].state, GP_TORCH_WAITING);
		assert_int_equal(snapshot.blocks[0].category, cases[i].category);
		expect(gp_call_sites_at(snapshot.sites, snapshot.blocks[0].site).place,
		       cases[i].place);
		gp_torch_snapshot_free(&snapshot);
	}
}

static void segments_may_have_no_blocks(void **state)
{
	struct gp_torch_snapshot snapshot;

	(void)state;
	assert_int_equal(load_text("[" SEGMENT("0", "") "," SEGMENT("0", "") "]", &snapshot), 0);
	assert_int_equal(snapshot.segment_count, 2);
	assert_int_equal(snapshot.block_count, 0);
	gp_torch_snapshot_free(&snapshot);
}

/* No snapshots, and such as name one part many times, and would grow without bound. */
static void other_files_are_refused(void **state)
{
	static const char *const texts[] = {
		"{}",
		"7",
		"{'segments':7}",
		"[7]",
		"{'segments':[7]}",
		"[&{'blocks':[]},*,*,*,*,*]",
		"[{'blocks':[&{'size':1},*,*,*,*,*,*,*,*,*]}]",
		"{'segments':[],'device_traces':[&[1,2,3],*,*,*,*]}",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct gp_torch_snapshot snapshot;

		assert_int_equal(load_text(texts[i], &snapshot), -EPROTO);
		gp_torch_snapshot_free(&snapshot);
	}
}

static void damage_is_read_or_refused(void **state)
{
	struct build b = build_begin(1);
	struct gp_torch_snapshot snapshot;
	struct gp_model *model = build_end(&b);
	uint8_t bytes[sizeof(sample)];

	for (size_t at = 0; at < sizeof(sample); at++)
		for (int value = 0; value < 256; value += 5) {
			int result;

			memcpy(bytes, sample, sizeof(sample));
			bytes[at] = (uint8_t)(value + (int)at % 5);
			result = load_bytes(bytes, sizeof(bytes), model, &snapshot);
			assert_true(result == 0 || result == -EPROTO);
			gp_torch_snapshot_free(&snapshot);
		}
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_are_found_in_the_trace),
		cmocka_unit_test(blocks_have_their_sites),
		cmocka_unit_test(the_history_of_a_device_has_a_peak),
		cmocka_unit_test(blocks_without_python_have_a_native_place),
		cmocka_unit_test(segments_may_have_no_blocks),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(damage_is_read_or_refused),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
