#include <stdlib.h>
#include <string.h>
#include "report/analysis/memory/memory_sites.h"
#include "tests/unit.h"
#include "tests/report/stack_builder.h"

/* Three places in one program: a.py, lines 1 to 3. */
struct scene {
	struct build b;
	uint32_t stacks[4];
	struct gp_device_list devices;
	struct gp_memory_sites found;
};

static void begin(struct scene *s)
{
	*s = (struct scene){.b = build_begin(1)};
	build_thread(&s->b, 100, "main");
	for (uint8_t line = 1; line < 4; line++)
		s->stacks[line] = build_python(&s->b, BUILD_OUTERMOST, "a.py", "f", line);
	build_stacks_end(&s->b);
}

static struct gp_memory_event *allocate(struct scene *s, int line, uint64_t time_ns,
					uint64_t address, uint64_t bytes)
{
	struct gp_memory_event *event =
		build_memory(&s->b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, time_ns, address, bytes);

	build_stack_of_last(&s->b, s->stacks[line]);
	return event;
}

static void release(struct scene *s, uint64_t time_ns, uint64_t address)
{
	build_memory(&s->b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, time_ns, address, 0);
}

static void end(struct scene *s, enum gp_memory_wanted wanted)
{
	s->b.model = build_end(&s->b);
	assert_int_equal(gp_memory_sites_of(&s->b.model, 1, &s->devices, wanted, &s->found), 0);
}

static void close_scene(struct scene *s)
{
	gp_memory_sites_free(&s->found);
	gp_device_list_free(&s->devices);
	gp_model_free(s->b.model);
}

static const struct gp_memory_site *row_of(const struct scene *s, int line)
{
	char place[32];

	snprintf(place, sizeof(place), "f (a.py:%d)", line);
	for (uint32_t i = 0; i < s->found.row_count; i++)
		if (strcmp(gp_call_sites_at(s->found.sites, s->found.rows[i].site).place, place) ==
		    0)
			return &s->found.rows[i];
	fail_msg("no row for %s", place);
	return NULL;
}

static void what_was_not_freed_is_left(void **state)
{
	struct scene s;

	begin(&s);
	allocate(&s, 1, 100, 0x1000, 10);
	allocate(&s, 1, 200, 0x2000, 20);
	allocate(&s, 2, 300, 0x3000, 40);
	allocate(&s, 1, 400, 0x4000, 80);
	allocate(&s, 1, 450, 0, 0); /* of no bytes */
	release(&s, 500, 0x2000);
	release(&s, 600, 0x3000);
	end(&s, GP_MEMORY_ALL);
	assert_int_equal(row_of(&s, 1)->left_blocks, 2);
	assert_int_equal(row_of(&s, 1)->left_bytes, 90);
	assert_int_equal(row_of(&s, 1)->allocations, 3);
	assert_int_equal(row_of(&s, 1)->frees, 1);
	assert_int_equal(row_of(&s, 2)->left_blocks, 0);
	close_scene(&s);
}

static void only_what_is_left_can_be_had_alone(void **state)
{
	struct scene s;

	begin(&s);
	allocate(&s, 1, 100, 0x1000, 10);
	allocate(&s, 2, 300, 0x3000, 40);
	release(&s, 600, 0x3000);
	end(&s, GP_MEMORY_LEFT);
	assert_int_equal(s.found.row_count, 1);
	assert_int_equal(row_of(&s, 1)->left_bytes, 10);
	close_scene(&s);
}

/*
 * The largest moment is at 400, when the first site has freed a block already and the third has
 * none yet.
 */
static void a_peak_is_one_moment_for_all_sites(void **state)
{
	struct scene s;
	const struct gp_memory_row *account;

	begin(&s);
	allocate(&s, 1, 100, 0x1000, 500);
	allocate(&s, 1, 200, 0x2000, 100);
	release(&s, 300, 0x1000);
	allocate(&s, 2, 400, 0x3000, 900);
	release(&s, 500, 0x2000);
	release(&s, 600, 0x3000);
	allocate(&s, 3, 700, 0x4000, 1000); /* as large, later */
	end(&s, GP_MEMORY_ALL);
	account = &s.found.ledger.rows[row_of(&s, 1)->account];
	assert_int_equal(account->peak_bytes, 1000);
	assert_int_equal(account->peak_time, BUILD_BASE_UNIX_NS + 400);
	assert_int_equal(row_of(&s, 1)->peak_bytes, 100);
	assert_int_equal(row_of(&s, 1)->peak_blocks, 1);
	assert_int_equal(row_of(&s, 2)->peak_bytes, 900);
	assert_int_equal(row_of(&s, 3)->peak_bytes, 0);
	close_scene(&s);
}

/*
 * Random allocations and frees: the sites' parts of the peak are those of a second, naive look at
 * that moment.
 */
static void parts_of_the_peak_add_up(void **state)
{
	uint64_t live[64] = {0}, held[4] = {0}, at_peak[4] = {0}, now = 0, peak = 0;
	int lines[64];
	unsigned int seed = 7;
	struct scene s;

	begin(&s);
	for (uint64_t i = 0; i < 5000; i++) {
		unsigned int slot = (unsigned int)rand_r(&seed) % 64;
		int line = 1 + rand_r(&seed) % 3;

		if (live[slot]) {
			release(&s, 100 + 20 * i, 0x1000 + slot);
			held[lines[slot]] -= live[slot];
			now -= live[slot];
			live[slot] = 0;
			continue;
		}
		live[slot] = 1 + (unsigned int)rand_r(&seed) % 1000;
		lines[slot] = line;
		allocate(&s, line, 100 + 20 * i, 0x1000 + slot, live[slot]);
		held[line] += live[slot];
		now += live[slot];
		if (now > peak) {
			peak = now;
			memcpy(at_peak, held, sizeof(held));
		}
	}
	end(&s, GP_MEMORY_ALL);
	for (int line = 1; line < 4; line++) {
		assert_int_equal(row_of(&s, line)->peak_bytes, at_peak[line]);
		assert_int_equal(row_of(&s, line)->left_bytes, held[line]);
	}
	assert_int_equal(s.found.ledger.rows[0].peak_bytes, peak);
	close_scene(&s);
}

static void temporary_is_what_is_freed_next(void **state)
{
	struct scene s;
	const struct gp_memory_site *row;

	begin(&s);
	for (uint64_t i = 0; i < 10; i++) {
		allocate(&s, 1, 100 + 100 * i, 0x1000, 10);
		release(&s, 130 + 100 * i, 0x1000);
	}
	allocate(&s, 2, 2000, 0x1000, 10);
	allocate(&s, 2, 2100, 0x2000, 10);
	release(&s, 2200, 0x1000);
	release(&s, 2300, 0x2000);
	end(&s, GP_MEMORY_ALL);
	row = row_of(&s, 1);
	assert_int_equal(row->temporary, 10);
	assert_int_equal(row->blocks_at_once, 1);
	assert_int_equal(row->allocate_ns, 100);
	assert_int_equal(row->free_ns, 100);
	assert_int_equal(row->lived_ns, 300);
	assert_int_equal(row_of(&s, 2)->temporary, 0);
	assert_int_equal(row_of(&s, 2)->blocks_at_once, 2);
	close_scene(&s);
}

/* The first allocation takes 5 ms: 4 for the context. */
static void a_context_is_none_of_an_allocation_s_time(void **state)
{
	struct scene s;

	begin(&s);
	build_context_made_by(&s.b, 1, 7, 9);
	build_overhead(&s.b, 3u << 16, 1000, 4001000);
	s.b.model->overheads[0].thread_id = 100;
	allocate(&s, 1, 5001000, 0x1000, 10);
	s.b.model->calls[0].start_ns = 1000;
	s.b.model->calls[0].duration_ns = 5000000;
	s.b.model->calls[0].correlation_id = 9;
	end(&s, GP_MEMORY_ALL);
	assert_int_equal(row_of(&s, 1)->allocate_ns, 1000000);
	close_scene(&s);
}

/* Of each two blocks one is left; of the freed ones there are two at once, in the end. */
static void what_is_left_is_apart_from_what_is_freed(void **state)
{
	struct scene s;

	begin(&s);
	for (uint64_t i = 0; i < 5; i++) {
		allocate(&s, 1, 100 + 100 * i, 0x1000, 10);
		allocate(&s, 1, 130 + 100 * i, 0x10000 * (i + 1), 10);
		release(&s, 160 + 100 * i, 0x1000);
	}
	allocate(&s, 1, 1000, 0x1000, 10);
	allocate(&s, 1, 1100, 0x2000, 10);
	release(&s, 1200, 0x1000);
	release(&s, 1300, 0x2000);
	end(&s, GP_MEMORY_ALL);
	assert_int_equal(row_of(&s, 1)->left_blocks, 5);
	assert_int_equal(row_of(&s, 1)->blocks_at_once, 7);
	assert_int_equal(row_of(&s, 1)->freed_at_once, 2);
	close_scene(&s);
}

static void each_kind_of_memory_has_its_peak(void **state)
{
	struct scene s;

	begin(&s);
	allocate(&s, 1, 100, 0x1000, 10)->memory_kind = GP_MEMORY_PINNED;
	allocate(&s, 1, 200, 0x2000, 20)->memory_kind = GP_MEMORY_MANAGED;
	allocate(&s, 1, 300, 0x3000, 40)->memory_kind = GP_MEMORY_ASYNC;
	allocate(&s, 1, 400, 0x4000, 80)->memory_kind = GP_MEMORY_DEVICE;
	end(&s, GP_MEMORY_ALL);
	assert_int_equal(s.found.row_count, 4);
	assert_int_equal(s.found.ledger.row_count, 5);
	assert_int_equal(s.found.ledger.rows[0].peak_bytes, 10);
	assert_true(s.found.ledger.rows[0].device == SIZE_MAX);
	assert_int_equal(s.found.ledger.rows[1].peak_bytes, 20);
	assert_int_equal(s.found.ledger.rows[2].peak_bytes, 120);
	close_scene(&s);
}

static void a_context_that_ends_leaves_nothing(void **state)
{
	struct scene s;
	struct gp_memory_event *event;

	begin(&s);
	allocate(&s, 1, 100, 0x1000, 10);
	release(&s, 200, 0x1000);
	s.b.model = build_end(&s.b);
	event = &s.b.model->memory[1];
	s.b.model->calls[event->call].memory = GP_NONE;
	event->call = GP_NONE;
	assert_int_equal(gp_memory_sites_of(&s.b.model, 1, &s.devices, GP_MEMORY_ALL, &s.found), 0);
	assert_int_equal(row_of(&s, 1)->left_blocks, 0);
	assert_int_equal(row_of(&s, 1)->frees, 0);
	assert_int_equal(row_of(&s, 1)->ended_with_context, 1);
	close_scene(&s);
}

/* A kernel from 100 to 100000, then a free from start_ns on: how long the free waited. */
static uint64_t wait_of_free(uint64_t start_ns, uint64_t duration_ns)
{
	struct scene s;
	uint64_t waited = 0;

	begin(&s);
	build_call(&s.b, 100, BUILD_LAUNCH, 90, 5, 1);
	build_op(&s.b, GP_OP_KERNEL, 7, 100, 100000, 1);
	release(&s, start_ns + 10, 0x1000); /* which begins 10 before and takes 10 */
	s.b.model->calls[s.b.model->call_count - 1].duration_ns = duration_ns;
	end(&s, GP_MEMORY_ALL);
	for (uint32_t i = 0; i < s.found.call_count; i++)
		waited += s.found.calls[i].waited_ns;
	close_scene(&s);
	return waited;
}

static void a_free_waits_for_what_was_launched_before(void **state)
{
	assert_int_equal(wait_of_free(30000, 80000), 70000);
	assert_int_equal(wait_of_free(100000, 80000), 0); /* the GPU was done */
	assert_int_equal(wait_of_free(80, 200000), 0);    /* it was not launched yet */
	assert_int_equal(wait_of_free(90000, 80000), 0);  /* most of the call was something else */
	assert_int_equal(wait_of_free(95100, 5000), 0);   /* the clocks may differ by that */
}

static void a_call_that_ends_before_the_work_has_not_waited(void **state)
{
	struct scene s;

	begin(&s);
	build_call(&s.b, 100, BUILD_LAUNCH, 90, 5, 1);
	build_op(&s.b, GP_OP_KERNEL, 7, 100, 1000000, 1);
	release(&s, 310, 0x1000);
	end(&s, GP_MEMORY_ALL);
	assert_int_equal(s.found.calls[0].waits, 0);
	close_scene(&s);
}

static void processes_share_sites_and_peaks(void **state)
{
	struct scene a, b;
	struct gp_model *models[2];

	begin(&a);
	begin(&b);
	allocate(&a, 1, 100, 0x1000, 1000);
	release(&a, 200, 0x1000);
	allocate(&b, 1, 150, 0x1000, 10);
	models[0] = build_end(&a.b);
	models[1] = build_end(&b.b);
	assert_int_equal(gp_memory_sites_of(models, 2, &a.devices, GP_MEMORY_ALL, &a.found), 0);
	assert_int_equal(a.found.row_count, 1);
	assert_int_equal(a.found.rows[0].peak_bytes, 1010);
	assert_int_equal(a.found.rows[0].left_bytes, 10);
	close_scene(&a);
	gp_model_free(models[1]);
}

/*
 * Processes one after the other: what the first did not free is in neither the second's peak nor
 * its row's.
 */
static void what_an_ended_process_left_is_in_no_later_peak(void **state)
{
	struct scene a, b;
	struct gp_model *models[2];

	begin(&a);
	begin(&b);
	allocate(&a, 1, 50, 0x9000, 70);
	release(&a, 60, 0x9000);
	allocate(&a, 1, 100, 0x1000, 300);
	allocate(&b, 2, 5000, 0x1000, 200);
	allocate(&b, 1, 5100, 0x2000, 200);
	models[0] = build_end(&a.b);
	models[1] = build_end(&b.b);
	assert_int_equal(gp_memory_sites_of(models, 2, &a.devices, GP_MEMORY_ALL, &a.found), 0);
	assert_int_equal(a.found.ledger.rows[0].peak_bytes, 400);
	assert_int_equal(row_of(&a, 1)->peak_bytes, 200);
	assert_int_equal(row_of(&a, 1)->left_bytes, 500);
	assert_int_equal(row_of(&a, 2)->peak_bytes, 200);
	assert_int_equal(row_of(&a, 2)->left_blocks, 1);
	close_scene(&a);
	gp_model_free(models[1]);
}

struct watched {
	uint64_t now_bytes[4], unix_ns[4];
	uint32_t changes;
};

static void see(void *context, const struct gp_memory_change *change)
{
	struct watched *watched = context;
	uint64_t before = watched->changes > 0 ? watched->now_bytes[watched->changes - 1] : 0;

	assert_in_range(watched->changes, 0, 3);
	watched->unix_ns[watched->changes] = change->unix_ns;
	watched->now_bytes[watched->changes++] =
		change->is_free ? before - change->bytes : before + change->bytes;
}

static void every_change_is_told_also_what_goes_with_a_process(void **state)
{
	struct scene a, b;
	struct gp_model *models[2];
	struct watched watched = {0};
	const struct gp_memory_watcher watcher = {.see = see, .context = &watched};

	begin(&a);
	begin(&b);
	allocate(&a, 1, 100, 0x1000, 300);
	allocate(&b, 2, 5000, 0x1000, 200);
	release(&b, 5100, 0x1000);
	models[0] = build_end(&a.b);
	models[1] = build_end(&b.b);
	gp_memory_sites_watch(models, 2, &a.devices, &watcher, &a.found);
	assert_int_equal(watched.changes, 4);
	assert_int_equal(watched.now_bytes[0], 300);
	assert_int_equal(watched.now_bytes[1], 0);
	assert_int_equal(watched.now_bytes[2], 200);
	assert_int_equal(watched.now_bytes[3], 0);
	assert_int_equal(watched.unix_ns[0], BUILD_BASE_UNIX_NS + 100);
	assert_int_equal(watched.unix_ns[1], BUILD_BASE_UNIX_NS + 100); /* when it ended */
	assert_int_equal(watched.unix_ns[2], BUILD_BASE_UNIX_NS + 5000);
	assert_int_equal(watched.unix_ns[3], BUILD_BASE_UNIX_NS + 5100);
	close_scene(&a);
	gp_model_free(models[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_not_freed_is_left),
		cmocka_unit_test(only_what_is_left_can_be_had_alone),
		cmocka_unit_test(a_peak_is_one_moment_for_all_sites),
		cmocka_unit_test(parts_of_the_peak_add_up),
		cmocka_unit_test(temporary_is_what_is_freed_next),
		cmocka_unit_test(a_context_is_none_of_an_allocation_s_time),
		cmocka_unit_test(what_is_left_is_apart_from_what_is_freed),
		cmocka_unit_test(each_kind_of_memory_has_its_peak),
		cmocka_unit_test(every_change_is_told_also_what_goes_with_a_process),
		cmocka_unit_test(a_context_that_ends_leaves_nothing),
		cmocka_unit_test(a_free_waits_for_what_was_launched_before),
		cmocka_unit_test(a_call_that_ends_before_the_work_has_not_waited),
		cmocka_unit_test(processes_share_sites_and_peaks),
		cmocka_unit_test(what_an_ended_process_left_is_in_no_later_peak),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
