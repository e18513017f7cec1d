/* nvtx_payload: schemas and payloads of the real headers, from their registration to the trace. */
#include "tests/inject/nvtx_scene.h"

#include <sys/mman.h>

#include "inject/recording_gate.h"

/* As in a collective communication library: a static schema with its own id, and an enumeration. */
struct reduce {
	uint64_t communicator;
	size_t bytes;
	int op;
};

#define SCHEMA_OPS    (NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 11)
#define SCHEMA_REDUCE (NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 5)

static void register_reduce(nvtxDomainHandle_t domain)
{
	static const nvtxPayloadEnum_t ops[] = {{"Sum", 0, 0}, {"Max", 2, 0}};
	static const nvtxPayloadSchemaEntry_t entries[] = {
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_UINT64, .name = "Communicator"},
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_SIZE, .name = "Message\tsize [bytes]"},
		{.type = SCHEMA_OPS,
		 .name = "Reduction operation",
		 .offset = offsetof(struct reduce, op)},
	};
	nvtxPayloadEnumAttr_t of_ops = {
		.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
			     NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
			     NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE |
			     NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID,
		.entries = ops,
		.numEntries = 2,
		.sizeOfEnum = sizeof(int),
		.schemaId = SCHEMA_OPS,
	};
	nvtxPayloadSchemaAttr_t schema = {
		.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME,
		.name = "AllReduce",
		.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
		.entries = entries,
		.numEntries = 3,
		.schemaId = SCHEMA_REDUCE,
	};

	CHECK(nvtxPayloadEnumRegister(domain, &of_ops) == SCHEMA_OPS);
	CHECK(nvtxPayloadSchemaRegister(domain, &schema) == SCHEMA_REDUCE);
	CHECK(nvtxPayloadSchemaRegister(domain, &schema) == SCHEMA_REDUCE);
}

static void push_with(nvtxDomainHandle_t domain, uint64_t schema, const void *bytes, size_t size)
{
	nvtxEventAttributes_t event = attributes_of("ncclAllReduce");
	nvtxPayloadData_t data = {schema, size, bytes};

	event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
	event.payload.ullValue = (uintptr_t)&data;
	event.reserved0 = 1;
	nvtxDomainRangePushEx(domain, &event);
	nvtxDomainRangePop(domain);
}

static const struct gp_record_string *payload_of(uint32_t range)
{
	uint32_t i = find_text(GP_STRING_PAYLOAD, said.ranges[range].payload_id);

	return i < MOST_TEXTS ? &said.strings[i] : NULL;
}

static const char *payload_bytes(uint32_t range)
{
	return said.texts[find_text(GP_STRING_PAYLOAD, said.ranges[range].payload_id)];
}

static void a_collective_with_its_payload(void)
{
	struct reduce reduce = {0x1122334455667788u, 4096, 2};
	nvtxDomainHandle_t domain;
	char expected[200];
	uint32_t ops;

	begin("t");
	domain = nvtxDomainCreateA("NCCL");
	CHECK(nvtxDomainIsEnabled(domain) == 1);
	register_reduce(domain);
	CHECK(!gp_collector_is_live());
	push_with(domain, SCHEMA_REDUCE, &reduce, sizeof(reduce));
	reduce.bytes = 8192;
	push_with(domain, SCHEMA_REDUCE, &reduce, sizeof(reduce));
	reduce.bytes = 4096;
	push_with(domain, SCHEMA_REDUCE, &reduce, sizeof(reduce));
	stop_and_read();
	CHECK(said.range_count == 6 && range_is(0, GP_RANGE_PUSH, "NCCL", "ncclAllReduce"));
	CHECK(payload_of(0)->length_bytes == sizeof(reduce));
	CHECK(memcmp(payload_bytes(0), &reduce, sizeof(reduce)) == 0);
	CHECK(said.ranges[0].payload_id == said.ranges[4].payload_id);
	CHECK(said.ranges[0].payload_id != said.ranges[2].payload_id);
	for (ops = 0; ops < said.text_count; ops++)
		if (said.strings[ops].space == GP_STRING_SCHEMA && said.texts[ops][0] == '0')
			break;
	CHECK(strcmp(said.texts[ops], "0\t4\t\n0\t0\t0\t0\tSum\n0\t2\t0\t0\tMax\n") == 0);
	snprintf(expected, sizeof(expected),
		 "1\t24\tAllReduce\n0\t18\t0\t0\tCommunicator\n0\t22\t8\t0\tMessage size [bytes]\n"
		 "0\t%u\t16\t0\tReduction operation\n",
		 GP_SCHEMA_TYPE_FIRST + said.strings[ops].id);
	CHECK(strcmp(text_of(GP_STRING_SCHEMA, payload_of(0)->value), expected) == 0);
}

/* The payload ends at the end of readable memory. */
static void payloads_at_the_end(void)
{
	struct reduce reduce = {1, 4096, 2};
	nvtxPayloadData_t data[2] = {{SCHEMA_REDUCE, sizeof(reduce), &reduce},
				     {SCHEMA_REDUCE, sizeof(reduce), &reduce}};
	nvtxDomainHandle_t domain;

	begin("t");
	domain = nvtxDomainCreateA("NCCL");
	register_reduce(domain);
	nvtxDomainRangePushEx(domain,
			      &(nvtxEventAttributes_t){.version = NVTX_VERSION,
						       .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE});
	CHECK(nvtxRangePopPayload(domain, data, 2) == 0);
	nvtxRangeEndPayload(domain, nvtxDomainRangeStartEx(domain, NULL), data, 1);
	CHECK(nvtxRangePopPayload(domain, data, 1) == GP_LEVEL_NONE);
	stop_and_read();
	CHECK(said.range_count == 4);
	CHECK(said.ranges[0].payload_id == 0 && said.ranges[2].payload_id == 0);
	CHECK(said.ranges[1].op == GP_RANGE_POP && said.ranges[3].op == GP_RANGE_END);
	CHECK(memcmp(payload_bytes(1), &reduce, sizeof(reduce)) == 0);
	CHECK(said.ranges[3].payload_id == said.ranges[1].payload_id);
}

/*
 * A payload is read only if the end is recorded, as for every range that began while the gate was
 * open.
 */
static void payloads_at_the_end_across_the_gate(void)
{
	struct reduce reduce = {1, 4096, 2}, other = {2, 8192, 0};
	nvtxPayloadData_t data = {SCHEMA_REDUCE, sizeof(reduce), &reduce};
	nvtxPayloadData_t unrecorded = {SCHEMA_REDUCE, sizeof(other), &other};
	nvtxRangeId_t first, second;
	uint32_t payloads = 0;

	begin("t");
	gp_recording_gate_init(true);
	register_reduce(NULL);
	nvtxRangePushA("recorded");
	first = nvtxRangeStartA("recorded");
	gp_recording_gate_set(false, GP_GATE_API);
	nvtxRangePushA("not recorded");
	second = nvtxRangeStartA("not recorded");
	gp_recording_gate_set(true, GP_GATE_API);
	CHECK(nvtxRangePopPayload(NULL, &unrecorded, 1) == 1);
	nvtxRangeEndPayload(NULL, second, &unrecorded, 1);
	gp_recording_gate_set(false, GP_GATE_API);
	CHECK(nvtxRangePopPayload(NULL, &data, 1) == 0);
	nvtxRangeEndPayload(NULL, first, &data, 1);
	stop_and_read();
	CHECK(said.range_count == 4);
	CHECK(said.ranges[2].op == GP_RANGE_POP && said.ranges[3].op == GP_RANGE_END);
	CHECK(memcmp(payload_bytes(2), &reduce, sizeof(reduce)) == 0);
	CHECK(said.ranges[3].payload_id == said.ranges[2].payload_id);
	for (uint32_t i = 0; i < said.text_count; i++)
		payloads += said.strings[i].space == GP_STRING_PAYLOAD;
	CHECK(payloads == 1);
}

static void payloads_are_read_within_bounds(void)
{
	struct reduce *reduce = malloc(sizeof(*reduce));
	char *big = malloc(100000);
	nvtxDomainHandle_t domain;

	begin("t");
	memset(reduce, 1, sizeof(*reduce));
	memset(big, 2, 100000);
	domain = nvtxDomainCreateA("d");
	register_reduce(domain);
	push_with(domain, SCHEMA_REDUCE, reduce, 100000); /* more than the schema's size */
	push_with(domain, SCHEMA_REDUCE, reduce, SIZE_MAX);
	push_with(domain, SCHEMA_REDUCE, reduce, 10);    /* less */
	push_with(domain, 0x1234567890u, big, 100000);   /* of an unknown schema */
	push_with(domain, 0x1234567890u, big, SIZE_MAX); /* of an unknown schema and size */
	push_with(domain, SCHEMA_REDUCE, NULL, 24);
	push_with(NULL, SCHEMA_REDUCE, reduce, 16); /* a schema belongs to its domain */
	stop_and_read();
	free(reduce);
	free(big);
	CHECK(payload_of(0)->length_bytes == 24 && payload_of(2)->length_bytes == 24);
	CHECK(payload_of(4)->length_bytes == 10 && payload_of(4)->value != 0);
	CHECK(payload_of(6)->length_bytes == 4096 && payload_of(6)->value == 0);
	CHECK(said.ranges[8].payload_id == 0 && said.ranges[10].payload_id == 0);
	CHECK(payload_of(12)->value == 0 && payload_of(12)->length_bytes == 16);
}

struct with_strings {
	char tag;
	const char *plain;
	nvtxStringHandle_t registered;
	char fixed[6];
	uint16_t port;
};

static void strings_in_payloads(void)
{
	static const nvtxPayloadSchemaEntry_t entries[] = {
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_CHAR, .name = "tag"},
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING,
		 .name = "plain",
		 .flags = NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE},
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE,
		 .name = "registered"},
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, .name = "fixed", .arrayOrUnionDetail = 6},
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_UINT16, .name = "port"},
	};
	nvtxPayloadSchemaAttr_t schema = {
		.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES,
		.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
		.entries = entries,
		.numEntries = 5,
	};
	struct with_strings strings = {.tag = 't', .plain = "plain text", .port = 80};
	nvtxPayloadData_t data = {0, sizeof(strings), &strings};
	struct {
		uint64_t tag, plain, registered;
	} words;

	begin("t");
	strings.registered = nvtxDomainRegisterStringA(NULL, "kept");
	data.schemaId = nvtxPayloadSchemaRegister(NULL, &schema);
	CHECK(data.schemaId >= NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
	CHECK(nvtxRangePushPayload(NULL, &data, 1) == 0);
	CHECK(nvtxRangePopPayload(NULL, NULL, 0) == 0);
	nvtxMarkPayload(NULL, &data, 1);
	nvtxRangeEndPayload(NULL, nvtxRangeStartPayload(NULL, &data, 1), NULL, 0);
	data.size = 12; /* the second entry is incomplete */
	nvtxMarkPayload(NULL, &data, 1);
	stop_and_read();
	CHECK(said.range_count == 6);
	CHECK(range_is(0, GP_RANGE_PUSH, "", "plain text") && range_is(1, GP_RANGE_POP, "", ""));
	CHECK(range_is(2, GP_RANGE_MARK, "", "plain text"));
	CHECK(range_is(3, GP_RANGE_START, "", "plain text") && range_is(4, GP_RANGE_END, "", ""));
	CHECK(payload_of(0)->length_bytes == sizeof(strings));
	CHECK(memcmp(text_of(GP_STRING_SCHEMA, payload_of(0)->value), "1\t32\t\n", 6) == 0);
	memcpy(&words, payload_bytes(0), sizeof(words));
	CHECK(strcmp(text_of(GP_STRING_RANGE, (uint32_t)words.plain), "plain text") == 0);
	CHECK(strcmp(text_of(GP_STRING_RANGE, (uint32_t)words.registered), "kept") == 0);
	CHECK(said.ranges[5].text_id == 0 && payload_of(5)->length_bytes == 12);
}

/* ---- payloads that do not match their schema ---- */

#define PAGE     4096u
#define MOST     1023u /* maximum length of a string */
#define NO_WHERE ((const char *)16)

struct two_words {
	uint64_t number;
	const char *text;
};

static uint64_t register_entries(const nvtxPayloadSchemaEntry_t *entries, size_t count)
{
	nvtxPayloadSchemaAttr_t schema = {
		.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
		.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
		.entries = entries,
		.numEntries = count,
		.payloadStaticSize = sizeof(struct two_words),
	};

	return nvtxPayloadSchemaRegister(NULL, &schema);
}

static uint64_t word_of(uint32_t range, size_t offset)
{
	uint64_t word;

	memcpy(&word, payload_bytes(range) + offset, sizeof(word));
	return word;
}

/* As in JAX. */
static void overlapping_entries(void)
{
	const size_t at = offsetof(struct two_words, text);
	const nvtxPayloadSchemaEntry_t entries[] = {
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING,
		 .flags = NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
		 .offset = at},
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, .offset = at},
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, .offset = at},
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, .offset = at - 4},
	};
	struct two_words words = {1, "the text"};
	nvtxPayloadData_t data = {0, sizeof(words), &words};

	begin("t");
	data.schemaId = register_entries(entries, 3);
	nvtxMarkPayload(NULL, &data, 1);
	data.schemaId = register_entries(entries, 4); /* overlapping by half */
	nvtxMarkPayload(NULL, &data, 1);
	stop_and_read();
	CHECK(said.range_count == 2 && range_is(0, GP_RANGE_MARK, "", "the text"));
	CHECK(word_of(0, 0) == 1 && word_of(0, at) == said.ranges[0].text_id);
	CHECK(range_is(1, GP_RANGE_MARK, "", "the text"));
}

static void mark_with_text(uint64_t schema, const char *text)
{
	struct two_words words = {1, text};
	nvtxPayloadData_t data = {schema, sizeof(words), &words};

	nvtxMarkPayload(NULL, &data, 1);
}

static void strings_that_cannot_be_read(void)
{
	const nvtxPayloadSchemaEntry_t entry = {
		.type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING,
		.flags = NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
		.offset = offsetof(struct two_words, text),
	};
	char *pages =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t schema;
	uint32_t missing = 0;

	begin("t");
	memset(pages, 'x', 2 * PAGE);
	CHECK(mprotect(pages + PAGE, PAGE, PROT_NONE) == 0);
	schema = register_entries(&entry, 1);
	errno = 1234;
	mark_with_text(schema, NO_WHERE);
	mark_with_text(schema, (const char *)(1ull << 63));
	mark_with_text(schema, (const char *)-1ll);
	mark_with_text(schema, pages + PAGE);
	mark_with_text(schema, NULL);
	mark_with_text(schema, pages + PAGE - 5); /* no readable terminator */
	pages[PAGE - 1] = '\0';
	mark_with_text(schema, pages + PAGE - 5);
	mark_with_text(schema, pages); /* too long */
	CHECK(errno == 1234);
	CHECK(mprotect(pages + PAGE, PAGE, PROT_READ) == 0);
	pages[PAGE - 1] = 'x';
	mark_with_text(schema, pages + PAGE - 5); /* on two pages, and too long */
	stop_and_read();
	CHECK(said.range_count == 9);
	for (uint32_t i = 0; i < 5; i++)
		missing += said.ranges[i].text_id == 0 && word_of(i, 8) == 0;
	CHECK(missing == 5);
	CHECK(range_is(5, GP_RANGE_MARK, "", "xxxxx") && range_is(6, GP_RANGE_MARK, "", "xxxx"));
	CHECK(strlen(text_of(GP_STRING_RANGE, said.ranges[7].text_id)) == MOST);
	CHECK(strlen(text_of(GP_STRING_RANGE, said.ranges[8].text_id)) == MOST);
	/* each is read twice: as the message, and for the payload */
	CHECK(said.counters[GP_COUNTER_TEXTS_UNKNOWN] == 2 * 4);
	CHECK(said.counters[GP_COUNTER_CUT_STRINGS] == 2 * 3);
}

static void invalid_registered_strings(void)
{
	const nvtxPayloadSchemaEntry_t entry = {
		.type = NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE,
		.flags = NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
		.offset = offsetof(struct two_words, text),
	};
	const char *kept;
	uint64_t schema;

	begin("t");
	schema = register_entries(&entry, 1);
	kept = (const char *)nvtxDomainRegisterStringA(NULL, "kept");
	mark_with_text(schema, kept);
	mark_with_text(schema, "a text, not its handle");
	mark_with_text(schema, kept + 8);
	mark_with_text(schema, (const char *)-8ll);
	mark_with_text(schema, NULL); /* no string was registered, so none is missing */
	stop_and_read();
	CHECK(said.range_count == 5 && range_is(0, GP_RANGE_MARK, "", "kept"));
	CHECK(word_of(0, 8) == said.ranges[0].text_id);
	for (uint32_t i = 1; i < 5; i++)
		CHECK(said.ranges[i].text_id == 0 && word_of(i, 8) == 0);
	CHECK(said.counters[GP_COUNTER_TEXTS_UNKNOWN] == 2 * 3);
}

static void extensions_of_other_kinds(void)
{
	intptr_t slots[4] = {0};
	nvtxExtModuleSegment_t segment = {0, 2, slots}; /* as in the first headers */
	nvtxExtModuleInfo_t module = {
		3, sizeof(module), NVTX_EXT_PAYLOAD_MODULEID, 0x0103, 1, &segment, NULL, NULL};

	begin("t");
	CHECK(InitializeInjectionNvtxExtension(&module) == 1);
	CHECK(slots[0] != 0 && slots[1] != 0 && slots[2] == 0 && slots[3] == 0);
	memset(slots, 0, sizeof(slots));
	module.moduleId = 1;
	CHECK(InitializeInjectionNvtxExtension(&module) == 1 && slots[0] == 0);
	CHECK(InitializeInjectionNvtxExtension(NULL) == 1);
}

#define CASE(name)                                                                                 \
	static void test_##name(void **unused)                                                     \
	{                                                                                          \
		(void)unused;                                                                      \
		run_case(name);                                                                    \
	}
#define CASES(X)                                                                                   \
	X(a_collective_with_its_payload)                                                           \
	X(payloads_at_the_end)                                                                     \
	X(payloads_at_the_end_across_the_gate)                                                     \
	X(payloads_are_read_within_bounds)                                                         \
	X(strings_in_payloads)                                                                     \
	X(overlapping_entries)                                                                     \
	X(strings_that_cannot_be_read)                                                             \
	X(invalid_registered_strings)                                                              \
	X(extensions_of_other_kinds)
CASES(CASE)

int main(void)
{
	const struct CMUnitTest tests[] = {
#define ROW(name) cmocka_unit_test(test_##name),
		CASES(ROW)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
