#include "report/analysis/memory/torch_snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/memory/torch_category.h"
#include "report/base/array.h"
#include "report/symbols/code_owner.h"
#include "report/codec/pickle.h"
#include "report/base/spill_memory.h"

#define PLACES     64   /* of a block: its innermost frames of Python */
#define FRAMES     1024 /* of a block that are checked */
#define TEXT_BYTES 512
#define NO_HISTORY "(no history: torch.cuda.memory._record_memory_history() gives it)"
#define NO_PYTHON  "(native code, which no Python had called)"

struct texts {
	char functions[PLACES][TEXT_BYTES], files[PLACES][TEXT_BYTES];
};

struct load {
	struct gp_pickle pickle;
	struct gp_torch_snapshot *snapshot;
	const struct gp_model *model;
	uint32_t *by_address; /* indices of the model's memory events */
	struct texts *texts;  /* of the current block */
	struct gp_torch_purposes purposes;
};

/* ---- the file ---- */

static int read_stream(FILE *file, char **bytes, size_t *count)
{
	size_t capacity = 0, got;
	char *grown;

	*count = 0;
	do {
		capacity = capacity ? 2 * capacity : 1 << 16;
		grown = realloc(*bytes, capacity);
		*bytes = grown;
		got = fread(*bytes + *count, 1, capacity - *count, file);
		*count += got;
	} while (*count == capacity);
	return ferror(file) ? -EIO : 0;
}

static int read_file(const char *path, char **bytes, size_t *count)
{
	FILE *file = fopen(path, "rbe");
	int result;

	if (!file)
		return -errno;
	result = read_stream(file, bytes, count);
	fclose(file);
	return result;
}

/* ---- the allocation that a segment is ---- */

GP_COMPARE_BY(compare_addresses, struct gp_memory_event, address)

struct wanted_memory {
	const struct gp_memory_event *memory;
	uint64_t address;
};

static bool is_below(const void *element, const void *context)
{
	const struct wanted_memory *wanted = context;

	return wanted->memory[*(const uint32_t *)element].address < wanted->address;
}

/* The first one in that order at the address or after it. */
static uint32_t find_first(const struct load *load, uint64_t address)
{
	const struct wanted_memory wanted = {load->model->memory, address};

	return gp_array_lower_bound(load->by_address, load->model->memory_count,
				    sizeof(*load->by_address), is_below, &wanted);
}

/* The last one in time: addresses are used again. */
static uint32_t find_allocation(const struct load *load, const struct gp_torch_segment *segment)
{
	const struct gp_model *model = load->model;
	uint32_t found = GP_NONE;

	for (uint32_t i = find_first(load, segment->address); i < model->memory_count; i++) {
		const struct gp_memory_event *event = &model->memory[load->by_address[i]];

		if (event->address != segment->address)
			break;
		if (event->op == GP_MEMORY_ALLOC && event->bytes == segment->bytes &&
		    event->device_id == segment->device_id)
			found = load->by_address[i];
	}
	return found;
}

/* ---- blocks ---- */

static const struct {
	const char *word;
	uint8_t state;
} states[] = {
	{"active_allocated", GP_TORCH_ALLOCATED},
	{"active_pending_free", GP_TORCH_WAITING},
	{"active_awaiting_free", GP_TORCH_WAITING},
	{"inactive", GP_TORCH_FREE},
};

static uint8_t state_of(const struct gp_pickle_value *word)
{
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (gp_pickle_is(word, states[i].word))
			return states[i].state;
	return GP_TORCH_WAITING;
}

static const char *copy_text(const struct gp_pickle_value *value, char text[TEXT_BYTES])
{
	snprintf(text, TEXT_BYTES, "%.*s",
		 value->kind == GP_PICKLE_TEXT && value->count < TEXT_BYTES ? (int)value->count : 0,
		 value->kind == GP_PICKLE_TEXT ? value->text : "");
	return text;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), wanted = strlen(end);

	return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

/* Of a block that no Python asked for: the operator of the backward pass that did, if one did. */
static uint32_t find_native_site(struct load *load, const struct gp_pickle_value *frames,
				 uint32_t count)
{
	const struct gp_pickle *pickle = &load->pickle;
	struct gp_place place = {
		.function = count > 0 ? NO_PYTHON : NO_HISTORY, .file = "", .module = ""};
	char text[TEXT_BYTES];

	for (uint32_t i = 0; i < count && i < FRAMES; i++) {
		const struct gp_pickle_value *frame = gp_pickle_at(pickle, frames, i);
		const char *name = copy_text(gp_pickle_get(pickle, frame, "name"), text);

		text[strcspn(text, "(")] = '\0';
		if (strncmp(name, "void ", strlen("void ")) == 0) /* the result of a template */
			name += strlen("void ");
		if (gp_code_is_backward(name)) {
			place.function = name;
			break;
		}
	}
	return gp_call_sites_of_places(load->snapshot->sites, &place, 1);
}

static bool is_python(const char *file)
{
	return ends_with(file, ".py") || file[0] == '<';
}

/* By all frames, from the outermost one on. */
static int find_category(struct load *load, const struct gp_pickle_value *frames, uint8_t *category)
{
	const struct gp_pickle *pickle = &load->pickle;
	struct gp_torch_purpose stack = {0};
	uint32_t count = frames->kind == GP_PICKLE_LIST ? frames->count : 0;

	for (uint32_t i = count < FRAMES ? count : FRAMES; i-- > 0;) {
		const struct gp_pickle_value *frame = gp_pickle_at(pickle, frames, i);
		const char *file =
			copy_text(gp_pickle_get(pickle, frame, "filename"), load->texts->files[0]);
		struct gp_place place = {
			.function = copy_text(gp_pickle_get(pickle, frame, "name"),
					      load->texts->functions[0]),
			.file = is_python(file) ? file : "",
			.module = is_python(file) ? "" : "libtorch_cpu.so",
			.kind = is_python(file) ? GP_FRAME_PYTHON : GP_FRAME_NATIVE,
		};

		gp_torch_purpose_call(&load->purposes, &stack, &place);
	}
	*category = (uint8_t)gp_torch_category_of(&stack);
	return 0;
}

/* Only Python's frames can be the user's: PyTorch's native frames are its own, without files. */
static uint32_t find_site(struct load *load, const struct gp_pickle_value *frames)
{
	struct gp_place places[PLACES];
	struct texts *texts = load->texts;
	uint32_t count = frames->kind == GP_PICKLE_LIST ? frames->count : 0, taken = 0;

	for (uint32_t i = 0; i < count && i < FRAMES && taken < PLACES; i++) {
		const struct gp_pickle *pickle = &load->pickle;
		const struct gp_pickle_value *frame = gp_pickle_at(pickle, frames, i);
		const char *file =
			copy_text(gp_pickle_get(pickle, frame, "filename"), texts->files[taken]);

		if (!is_python(file))
			continue;
		places[taken] = (struct gp_place){
			.function = copy_text(gp_pickle_get(pickle, frame, "name"),
					      texts->functions[taken]),
			.file = file,
			.module = "",
			.line = (uint32_t)gp_pickle_number(gp_pickle_get(pickle, frame, "line")),
			.kind = GP_FRAME_PYTHON,
		};
		taken++;
	}
	return taken > 0 ? gp_call_sites_of_places(load->snapshot->sites, places, taken)
			 : find_native_site(load, frames, count);
}

/* Until PyTorch 2.0 a block had its frames in its history. */
static const struct gp_pickle_value *frames_of(const struct load *load,
					       const struct gp_pickle_value *block)
{
	const struct gp_pickle *pickle = &load->pickle;
	const struct gp_pickle_value *frames = gp_pickle_get(pickle, block, "frames");
	const struct gp_pickle_value *history = gp_pickle_get(pickle, block, "history");

	return frames->kind == GP_PICKLE_LIST
		       ? frames
		       : gp_pickle_get(pickle, gp_pickle_at(pickle, history, 0), "frames");
}

/*
 * Each part is a value of its own: a file that names one many times is none of PyTorch's, and would
 * grow without bound.
 */
static bool is_plausible(const struct load *load)
{
	return load->snapshot->block_count + load->snapshot->segment_count <
	       load->pickle.value_count;
}

/* *address becomes that of the next block: they lie side by side. */
static int take_block(struct load *load, const struct gp_pickle_value *value,
		      struct gp_torch_segment *segment, uint64_t *address)
{
	struct gp_torch_snapshot *s = load->snapshot;
	const struct gp_pickle *pickle = &load->pickle;
	struct gp_torch_block block = {
		.address = *address,
		.bytes = gp_pickle_number(gp_pickle_get(pickle, value, "size")),
		.requested_bytes = gp_pickle_number(gp_pickle_get(pickle, value, "requested_size")),
		.segment = s->segment_count,
		.state = state_of(gp_pickle_get(pickle, value, "state")),
		.site = UINT32_MAX,
	};
	int result = is_plausible(load) ? gp_array_grow(&s->blocks, &s->block_capacity,
							s->block_count, sizeof(*s->blocks))
					: -EPROTO;

	if (result < 0)
		return result;
	*address += block.bytes;
	segment->state_bytes[block.state] += block.bytes;
	if (block.state == GP_TORCH_FREE && block.bytes > segment->largest_free_bytes)
		segment->largest_free_bytes = block.bytes;
	if (block.state != GP_TORCH_FREE) {
		block.site = find_site(load, frames_of(load, value));
		result = find_category(load, frames_of(load, value), &block.category);
	}
	s->blocks[s->block_count++] = block;
	return result;
}

/* ---- segments ---- */

static int take_segment(struct load *load, const struct gp_pickle_value *value)
{
	struct gp_torch_snapshot *s = load->snapshot;
	const struct gp_pickle *pickle = &load->pickle;
	const struct gp_pickle_value *blocks = gp_pickle_get(pickle, value, "blocks");
	const struct gp_pickle_value *pool = gp_pickle_get(pickle, value, "segment_pool_id");
	struct gp_torch_segment segment = {
		.address = gp_pickle_number(gp_pickle_get(pickle, value, "address")),
		.bytes = gp_pickle_number(gp_pickle_get(pickle, value, "total_size")),
		.device_id = (uint32_t)gp_pickle_number(gp_pickle_get(pickle, value, "device")),
		.is_small = gp_pickle_is(gp_pickle_get(pickle, value, "segment_type"), "small"),
		.is_expandable =
			gp_pickle_number(gp_pickle_get(pickle, value, "is_expandable")) != 0,
		.pool_number = (uint32_t)(gp_pickle_number(gp_pickle_at(pickle, pool, 0)) +
					  gp_pickle_number(gp_pickle_at(pickle, pool, 1))),
	};
	uint64_t address = segment.address;
	int result = is_plausible(load) ? gp_array_grow(&s->segments, &s->segment_capacity,
							s->segment_count, sizeof(*s->segments))
					: -EPROTO;

	for (uint32_t i = 0; result == 0 && blocks->kind == GP_PICKLE_LIST && i < blocks->count;
	     i++)
		result = take_block(load, gp_pickle_at(pickle, blocks, i), &segment, &address);
	if (result < 0)
		return result;
	segment.memory = find_allocation(load, &segment);
	s->segments[s->segment_count++] = segment;
	return 0;
}

/* The whole pickle: a dictionary with segments, or, by memory_snapshot(), the list of them. */
static const struct gp_pickle_value *find_segments(const struct gp_pickle *pickle)
{
	const struct gp_pickle_value *root = gp_pickle_root(pickle);

	return root->kind == GP_PICKLE_LIST ? root : gp_pickle_get(pickle, root, "segments");
}

static int take_segments(struct load *load, const char **problem)
{
	const struct gp_pickle_value *segments = find_segments(&load->pickle);
	int result = 0;

	*problem = "it has no segments: it is no memory snapshot";
	if (segments->kind != GP_PICKLE_LIST ||
	    (segments->count > 0 &&
	     gp_pickle_at(&load->pickle, segments, 0)->kind != GP_PICKLE_DICT))
		return -EPROTO;
	*problem = "its parts repeat";
	for (uint32_t i = 0; result == 0 && i < segments->count; i++)
		result = take_segment(load, gp_pickle_at(&load->pickle, segments, i));
	return result;
}

/* ---- the history ---- */

struct reading {
	struct load *load;
	const struct gp_pickle_value *entries; /* of a device */
};

static bool find_kind(const struct gp_pickle_value *action, uint8_t *kind)
{
	static const struct {
		const char *word;
		uint8_t kind;
	} actions[] = {
		{"alloc", GP_TORCH_ALLOC},           {"free_completed", GP_TORCH_FREED},
		{"segment_alloc", GP_TORCH_RESERVE}, {"segment_map", GP_TORCH_RESERVE},
		{"segment_free", GP_TORCH_RELEASE},  {"segment_unmap", GP_TORCH_RELEASE},
	};

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (gp_pickle_is(action, actions[i].word)) {
			*kind = actions[i].kind;
			return true;
		}
	return false;
}

static int find_category_of_event(void *context, const struct gp_torch_event *event,
				  uint8_t *category)
{
	const struct reading *reading = context;
	const struct gp_pickle *pickle = &reading->load->pickle;
	const struct gp_pickle_value *entry = gp_pickle_at(pickle, reading->entries, event->entry);

	return find_category(reading->load, gp_pickle_get(pickle, entry, "frames"), category);
}

static uint32_t read_events(const struct reading *reading, struct gp_torch_event *events)
{
	const struct gp_pickle *pickle = &reading->load->pickle;
	uint32_t count = 0;

	for (uint32_t i = 0; i < reading->entries->count; i++) {
		const struct gp_pickle_value *entry = gp_pickle_at(pickle, reading->entries, i);
		struct gp_torch_event *event = &events[count];

		if (!find_kind(gp_pickle_get(pickle, entry, "action"), &event->kind))
			continue;
		event->address = gp_pickle_number(gp_pickle_get(pickle, entry, "addr"));
		event->bytes = gp_pickle_number(gp_pickle_get(pickle, entry, "size"));
		event->entry = i;
		count++;
	}
	return count;
}

/* The blocks in use of a device; *reserved_bytes becomes that of its segments. */
static uint32_t list_live(const struct gp_torch_snapshot *s, uint32_t device,
			  struct gp_torch_live *live, uint64_t *reserved_bytes)
{
	uint32_t count = 0;

	*reserved_bytes = 0;
	for (uint32_t i = 0; i < s->segment_count; i++)
		*reserved_bytes += s->segments[i].device_id == device ? s->segments[i].bytes : 0;
	for (uint32_t i = 0; i < s->block_count; i++) {
		const struct gp_torch_block *block = &s->blocks[i];

		if (block->state == GP_TORCH_FREE ||
		    s->segments[block->segment].device_id != device)
			continue;
		live[count++] = (struct gp_torch_live){
			block->address,
			block->requested_bytes > 0 ? block->requested_bytes : block->bytes,
			block->category};
	}
	return count;
}

static int take_history(struct load *load, const struct gp_pickle_value *entries, uint32_t device)
{
	struct gp_torch_snapshot *s = load->snapshot;
	struct reading reading = {load, entries};
	struct gp_torch_event *events = calloc((size_t)entries->count + 1, sizeof(*events));
	struct gp_torch_live *live = calloc((size_t)s->block_count + 1, sizeof(*live));
	struct gp_torch_history history = {.events = events,
					   .live = live,
					   .find_category = find_category_of_event,
					   .context = &reading};
	struct gp_torch_peak *peak;
	int result;

	gp_array_grow(&s->peaks, &s->peak_capacity, s->peak_count, sizeof(*s->peaks));
	peak = &s->peaks[s->peak_count];
	*peak = (struct gp_torch_peak){.device_id = device};
	history.event_count = read_events(&reading, events);
	history.live_count = list_live(s, device, live, &history.reserved_bytes);
	s->peak_count += history.event_count > 0;
	result = gp_torch_peak_of(peak, &history);
	free(events);
	free(live);
	return result;
}

/* A list for each device. */
static int take_histories(struct load *load, const char **problem)
{
	const struct gp_pickle *pickle = &load->pickle;
	const struct gp_pickle_value *devices =
		gp_pickle_get(pickle, gp_pickle_root(pickle), "device_traces");
	uint64_t entries = 0;
	int result = 0;

	for (uint32_t i = 0; result == 0 && devices->kind == GP_PICKLE_LIST && i < devices->count;
	     i++) {
		const struct gp_pickle_value *one = gp_pickle_at(pickle, devices, i);

		entries += one->kind == GP_PICKLE_LIST ? one->count : 0;
		*problem = "its parts repeat";
		if (entries > pickle->value_count)
			return -EPROTO;
		if (one->kind == GP_PICKLE_LIST && one->count > 0)
			result = take_history(load, one, i);
	}
	return result;
}

static int load_bytes(struct load *load, const char *bytes, size_t count, const char **problem)
{
	int result = gp_pickle_read(&load->pickle, bytes, count, problem);

	load->snapshot->sites = gp_call_sites_new();
	load->by_address = gp_array_order(load->model->memory, load->model->memory_count,
					  sizeof(*load->model->memory), compare_addresses, NULL);
	load->texts = malloc(sizeof(*load->texts));
	if (result == 0)
		result = take_segments(load, problem);
	return result == 0 ? take_histories(load, problem) : result;
}

int gp_torch_snapshot_load(const char *path, const struct gp_model *model,
			   struct gp_torch_snapshot *snapshot, char *message, size_t message_bytes)
{
	struct load load = {.snapshot = snapshot, .model = model};
	const char *problem = NULL;
	char *bytes = NULL;
	size_t count = 0;
	int result;

	*snapshot = (struct gp_torch_snapshot){0};
	result = read_file(path, &bytes, &count);
	if (result == 0)
		result = load_bytes(&load, bytes, count, &problem);
	if (result < 0)
		snprintf(
			message, message_bytes,
			"%s cannot be read: %s; torch.cuda.memory._dump_snapshot(\"FILE\") writes such files",
			path, result == -EPROTO && problem ? problem : strerror(-result));
	gp_torch_purposes_free(&load.purposes);
	gp_pickle_free(&load.pickle);
	gp_spill_free(load.by_address);
	free(load.texts);
	free(bytes);
	return result;
}

void gp_torch_snapshot_free(struct gp_torch_snapshot *snapshot)
{
	gp_call_sites_free(snapshot->sites);
	free(snapshot->segments);
	free(snapshot->blocks);
	free(snapshot->peaks);
	*snapshot = (struct gp_torch_snapshot){0};
}
