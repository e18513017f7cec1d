/* cupti_decode with hand-made records that no recording in tests/data/cupti has. */
#include "tests/collector/harness.h"
#include "tests/collector/trace_check.h"

#include "inject/cupti_decode.h"

enum { CONTEXT = 9, KERNEL = 10, UNIFIED = 25, GRAPH = 51, GREEN_CONTEXT = 59 };

static void put32(char *record, size_t offset, uint32_t value)
{
	memcpy(record + offset, &value, sizeof(value));
}

static void put64(char *record, size_t offset, uint64_t value)
{
	memcpy(record + offset, &value, sizeof(value));
}

struct made {
	struct gp_record_graph graph;
	struct gp_record_unified unified;
	unsigned graphs, unifieds;
};

static void note_made(void *context, const struct found *found)
{
	struct made *made = context;

	if (found->record->record.kind == GP_RECORD_GRAPH) {
		made->graph = found->record->graph;
		made->graphs++;
	} else if (found->record->record.kind == GP_RECORD_UNIFIED) {
		made->unified = found->record->unified;
		made->unifieds++;
	}
}

/* Bytes after the end of a version's record are ones here: they must not be read. */
static void decode_made(uint32_t version)
{
	struct gp_decoder decoder = {.version = version};
	char graph[64], unified[112];

	memset(graph, 0xff, sizeof(graph));
	memset(unified, 0xff, sizeof(unified));
	put32(graph, 0, GRAPH);
	put32(graph, 4, 77);         /* correlation id */
	put64(graph, 8, 1000);       /* start */
	put64(graph, 16, 2000);      /* end */
	put32(graph, 24, 1);         /* device */
	put32(graph, 28, 5);         /* graph */
	put32(graph, 32, 2);         /* context */
	put32(graph, 36, 14);        /* stream */
	if (version >= 21) {         /* 12.3 */
		put32(graph, 48, 3); /* end device */
		put32(graph, 52, 4); /* end context */
	}
	put32(unified, 0, UNIFIED);
	put32(unified, 4, 2);               /* bytes DtoH */
	put64(unified, 8, 65536);           /* value */
	put64(unified, 16, 3000);           /* start */
	put64(unified, 24, 4000);           /* end */
	put64(unified, 32, 0x7f0000000000); /* address */
	put32(unified, 40, 1);              /* source */
	put32(unified, 44, 0x80000000);     /* destination */
	put32(unified, 48, 7);              /* stream */
	put32(unified, 52, 4321);           /* process */
	put32(unified, 56, 3);              /* flags */
	gp_decode(&decoder, (const CUpti_Activity *)graph);
	gp_decode(&decoder, (const CUpti_Activity *)unified);
	CHECK(decoder.unknown == 0 && decoder.records == 1);
}

static void make_and_compare(const char *folder, uint32_t version)
{
	static struct made made;
	static struct scan scan;
	char path[160];

	snprintf(path, sizeof(path), "%s/made", folder);
	CHECK(gp_collector_start(&(struct gp_collector_config){
		      .trace_path = path, .ring_place = GP_RINGS_MEMORY}) == 0);
	decode_made(version);
	CHECK(gp_collector_stop(LONG_NS) == 0);
	scan.fn = note_made;
	scan.context = &made;
	CHECK(scan_trace(&scan, gp_collector_trace_path()) && scan.error == NULL);
	CHECK(made.graphs == 1 && made.unifieds == 1);
	CHECK(made.graph.correlation_id == 77 && made.graph.graph_id == 5);
	CHECK(made.graph.start_ns == 1000 && made.graph.end_ns == 2000);
	CHECK(made.graph.device_id == 1 && made.graph.context_id == 2);
	CHECK(made.graph.stream_id == 14);
	CHECK(made.graph.end_device_id == (version >= 21 ? 3 : 1));
	CHECK(made.graph.end_context_id == (version >= 21 ? 4 : 2));
	CHECK(made.unified.counter_kind == 2 && made.unified.value == 65536);
	CHECK(made.unified.start_ns == 3000 && made.unified.end_ns == 4000);
	CHECK(made.unified.address == 0x7f0000000000 && made.unified.flags == 3);
	CHECK(made.unified.source_device_id == 1 && made.unified.stream_id == 7);
	CHECK(made.unified.destination_device_id == 0x80000000);
}

/* Each version in its own process, because the decoder's state is per process. */
static void for_each_version(void (*check)(const char *folder, uint32_t version),
			     const uint32_t *versions, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *folder = new_folder();
		pid_t child = fork();
		int status;

		if (child == 0) {
			check(folder, versions[i]);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		remove_folder(folder);
		assert_int_equal(status, 0);
	}
}

static void graphs_and_unified_memory(void **state)
{
	static const uint32_t versions[] = {18, 20, 21, 26, 28, 130000, 130001};

	for_each_version(make_and_compare, versions, sizeof(versions) / sizeof(versions[0]));
}

/* ---- launch shapes; contexts ---- */

struct attributes {
	struct gp_record_shape shape;
	struct gp_record_context contexts[8];
	unsigned shapes, context_count;
};

static void note_attributes(void *context, const struct found *found)
{
	struct attributes *attributes = context;

	if (found->record->record.kind == GP_RECORD_SHAPE) {
		attributes->shape = found->record->shape;
		attributes->shapes++;
	} else if (found->record->record.kind == GP_RECORD_CONTEXT) {
		attributes->contexts[attributes->context_count++ % 8] = found->record->context;
	}
}

static void decode_attributes(uint32_t version)
{
	struct gp_decoder decoder = {.version = version};
	char kernel[256], context[64], green[160];

	memset(kernel, 0, sizeof(kernel));
	put32(kernel, 0, KERNEL);
	kernel[4] = 0x21; /* executed prefers L1, requested prefers shared memory */
	put64(kernel, 16, 1000);
	put64(kernel, 24, 2000);
	put32(kernel, 92, 77);
	kernel[137] = 1;
	kernel[138] = 60;
	put32(kernel, 152, 1);
	put32(kernel, 200, 8);
	put32(kernel, 204, 528);
	put32(kernel, 216, (uint32_t)-5);
	put32(kernel, 224, 2);
	gp_decode(&decoder, (const CUpti_Activity *)kernel);

	memset(context, 0xff, sizeof(context));
	put32(context, 0, CONTEXT);
	put32(context, 4, 2);
	put32(context, 8, 0);
	put32(context, 12, 7 << 16); /* its null stream */
	put32(context, 16, 1);
	put32(context, 20, 16 << 16 | 1); /* green, with 16 multiprocessors */
	gp_decode(&decoder, (const CUpti_Activity *)context);
	put32(context, 4, 3);
	put32(context, 20, 16 << 16); /* an ordinary context */
	gp_decode(&decoder, (const CUpti_Activity *)context);

	memset(green, 0xff, sizeof(green));
	put32(green, 0, GREEN_CONTEXT);
	put32(green, 4, 4);
	put32(green, 8, 1);
	put32(green, 12, 0);
	put32(green, 16, 24);
	put32(green, 20, 48);
	gp_decode(&decoder, (const CUpti_Activity *)green);
	CHECK(decoder.unknown == 0 && decoder.records == 1);
}

static void attributes_of(const char *folder, uint32_t version)
{
	static struct attributes found;
	static struct scan scan = {.fn = note_attributes, .context = &found};
	char path[160];

	snprintf(path, sizeof(path), "%s/made", folder);
	CHECK(gp_collector_start(&(struct gp_collector_config){
		      .trace_path = path, .ring_place = GP_RINGS_MEMORY}) == 0);
	decode_attributes(version);
	CHECK(gp_collector_stop(LONG_NS) == 0);
	CHECK(scan_trace(&scan, gp_collector_trace_path()) && scan.error == NULL);
	CHECK(found.shapes == 1 && found.context_count == 3);
	CHECK(found.shape.cache_requested == 1 && found.shape.cache_executed == 2);
	CHECK(found.shape.has_carveout && found.shape.carveout_percent == 60);
	CHECK(found.shape.shared_limit == 1);
	CHECK(found.shape.max_cluster_blocks == (version >= 19 ? 8 : 0));
	CHECK(found.shape.max_active_clusters == (version >= 19 ? 528 : 0));
	CHECK(found.shape.priority == (version >= 130100 ? -5 : 0));
	CHECK(found.shape.execution_model == (version >= 130300 ? 2 : 0));
	CHECK(found.contexts[0].id == 2 && found.contexts[0].null_stream_id == 7);
	CHECK(found.contexts[0].parent_id == (version >= 22 ? 1 : 0));
	CHECK(found.contexts[0].multiprocessors == (version >= 22 ? 16 : 0));
	CHECK(found.contexts[1].id == 3 && found.contexts[1].parent_id == 0);
	CHECK(found.contexts[1].multiprocessors == 0);
	CHECK(found.contexts[2].id == 4 && found.contexts[2].parent_id == 1);
	CHECK(found.contexts[2].multiprocessors == 48 && found.contexts[2].null_stream_id == 0);
}

static void attributes_of_launches_and_contexts(void **state)
{
	static const uint32_t versions[] = {18,     19,     21,     22,     130001,
					    130100, 130200, 130300, 130400, 140000};

	for_each_version(attributes_of, versions, sizeof(versions) / sizeof(versions[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(graphs_and_unified_memory),
		cmocka_unit_test(attributes_of_launches_and_contexts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
