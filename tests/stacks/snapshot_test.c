/* snapshot: copies of memory that may be unmapped. */
#include "tests/unit.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "collector/sys.h"
#include "stacks/snapshot.h"

#define PAGE GP_SNAPSHOT_PAGE_BYTES

static uint8_t data[GP_SNAPSHOT_COPIES * GP_SNAPSHOT_PAGES][PAGE];
static struct gp_snapshot snapshot;

/* Maps `count` pages and unmaps the last one. */
static uint8_t *make_pages(uint32_t count)
{
	uint8_t *pages = mmap(NULL, (size_t)(count + 1) * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(pages != MAP_FAILED);
	assert_int_equal(munmap(pages + (size_t)count * PAGE, PAGE), 0);
	return pages;
}

static int set_up(void **state)
{
	memset(&snapshot, 0, sizeof(snapshot));
	snapshot.data = data;
	gp_snapshot_begin();
	*state = make_pages(GP_SNAPSHOT_PAGES + 1);
	return 0;
}

static int tear_down(void **state)
{
	return munmap(*state, (size_t)(GP_SNAPSHOT_PAGES + 1) * PAGE);
}

static void reads_mapped_memory_only(void **state)
{
	uint8_t *pages = *state, *end = pages + (size_t)(GP_SNAPSHOT_PAGES + 1) * PAGE;
	uint64_t word = 0;

	memset(end - 8, 7, 8);
	assert_true(gp_snapshot_now((uint64_t)end - 8, &word, 8));
	assert_true(word == 0x0707070707070707u);
	assert_false(gp_snapshot_now((uint64_t)end - 4, &word, 8));
	assert_false(gp_snapshot_now(0, &word, 8));
	assert_false(gp_snapshot_now(UINT64_MAX - 3, &word, 8));
	assert_false(gp_snapshot_read(&snapshot, (uint64_t)end, &word, 8));
	assert_false(gp_snapshot_read(&snapshot, UINT64_MAX - 3, &word, 8));
}

static void across_pages(void **state)
{
	uint8_t *pages = *state;
	uint64_t word;

	memcpy(pages + PAGE - 3, "\1\2\3\4\5\6\7\10", 8);
	assert_true(gp_snapshot_read(&snapshot, (uint64_t)pages + PAGE - 3, &word, 8));
	assert_true(word == 0x0807060504030201u);
	assert_int_equal(snapshot.count, 2);
}

/*
 * A page that is read later than the others is not consistent with them.  In the next snapshot it
 * is.
 */
static void consistent_only_if_taken_together(void **state)
{
	uint8_t *pages = *state;
	uint64_t head = 5, address = (uint64_t)&head, word;

	assert_int_equal(gp_snapshot_take(&snapshot, &address, 1), GP_SNAPSHOT_TAKEN);
	assert_int_equal(snapshot.words[0], 5);
	assert_true(gp_snapshot_read(&snapshot, (uint64_t)pages, &word, 8));
	assert_false(gp_snapshot_is_whole(&snapshot));
	assert_int_equal(gp_snapshot_take(&snapshot, &address, 1), GP_SNAPSHOT_TAKEN);
	assert_true(gp_snapshot_read(&snapshot, (uint64_t)pages + 8, &word, 8));
	assert_true(gp_snapshot_is_whole(&snapshot));
	/* the copy does not change with the memory */
	pages[16] = 9;
	assert_true(gp_snapshot_read(&snapshot, (uint64_t)pages + 16, &word, 8));
	assert_int_equal(word, 0);
	/* an unread page is not copied again */
	assert_int_equal(gp_snapshot_take(&snapshot, &address, 1), GP_SNAPSHOT_TAKEN);
	gp_snapshot_keep_read(&snapshot);
	assert_int_equal(snapshot.count, 0);
}

static void as_many_pages_as_fit(void **state)
{
	uint8_t *pages = *state;
	uint64_t word;

	for (uint32_t i = 0; i < GP_SNAPSHOT_PAGES; i++)
		assert_true(gp_snapshot_read(&snapshot, (uint64_t)pages + i * PAGE, &word, 8));
	assert_false(
		gp_snapshot_read(&snapshot, (uint64_t)pages + GP_SNAPSHOT_PAGES * PAGE, &word, 8));
	assert_true(gp_snapshot_read(&snapshot, (uint64_t)pages, &word, 8));
}

static void unmapped_pages(void **state)
{
	uint8_t *pages = make_pages(1);
	uint64_t head = 5, address = (uint64_t)&head, word;

	assert_true(gp_snapshot_read(&snapshot, (uint64_t)pages, &word, 8));
	assert_int_equal(munmap(pages, PAGE), 0);
	assert_int_equal(gp_snapshot_take(&snapshot, &address, 1), GP_SNAPSHOT_UNMAPPED);
}

/* A word changes between the copies of words and pages: the replaced system call changes it. */
static struct gp_sys real;
static uint64_t moving;

static long change_then_call(long number, long a, long b, long c, long d, long e, long f)
{
	long result = real.call(number, a, b, c, d, e, f);

	if (number == SYS_process_vm_readv) {
		moving++;
		gp_sys.call = real.call;
		/* the second read of the last word returns a changed value */
		memcpy(((const struct iovec *)b)[c - 1].iov_base, &moving, sizeof(moving));
	}
	return result;
}

static void a_changed_word_is_detected(void **state)
{
	uint8_t *pages = *state;
	uint64_t address = (uint64_t)&moving, word;

	assert_true(gp_snapshot_read(&snapshot, (uint64_t)pages, &word, 8));
	real = gp_sys;
	gp_sys.call = change_then_call;
	assert_int_equal(gp_snapshot_take(&snapshot, &address, 1), GP_SNAPSHOT_MOVED);
	gp_sys = real;
	assert_int_equal(gp_snapshot_take(&snapshot, &address, 1), GP_SNAPSHOT_TAKEN);
}

/* The second copy of the page differs from the first, while the words are unchanged. */
static long change_second_copy(long number, long a, long b, long c, long d, long e, long f)
{
	long result = real.call(number, a, b, c, d, e, f);
	const struct iovec *pieces = (const struct iovec *)b;

	if (number == SYS_process_vm_readv) {
		gp_sys.call = real.call;
		assert_int_equal(pieces[c - 2].iov_len, PAGE);
		*(uint8_t *)pieces[c - 2].iov_base ^= 1;
	}
	return result;
}

static void a_difference_of_the_second_copy_is_detected(void **state)
{
	uint8_t *pages = *state;
	uint64_t head = 5, address = (uint64_t)&head, word;

	assert_true(gp_snapshot_read(&snapshot, (uint64_t)pages, &word, 8));
	real = gp_sys;
	gp_sys.call = change_second_copy;
	assert_int_equal(gp_snapshot_take(&snapshot, &address, 1), GP_SNAPSHOT_TAKEN);
	gp_sys = real;
	assert_true(gp_snapshot_read(&snapshot, (uint64_t)pages + 8, &word, 8));
	assert_true(gp_snapshot_is_whole(&snapshot));
	assert_true(gp_snapshot_read(&snapshot, (uint64_t)pages, &word, 8));
	assert_int_equal(word, 0); /* reads return the first copy */
	assert_false(gp_snapshot_is_whole(&snapshot));
	/* the next snapshot starts over */
	assert_int_equal(gp_snapshot_take(&snapshot, &address, 1), GP_SNAPSHOT_TAKEN);
	assert_true(gp_snapshot_read(&snapshot, (uint64_t)pages, &word, 8));
	assert_true(gp_snapshot_is_whole(&snapshot));
}

static long forbid(long number, long a, long b, long c, long d, long e, long f)
{
	return number == SYS_process_vm_readv ? -EPERM : real.call(number, a, b, c, d, e, f);
}

static void not_under_a_seccomp_filter(void **state)
{
	uint64_t word, address = (uint64_t)&word;

	real = gp_sys;
	gp_sys.call = forbid;
	assert_false(gp_snapshot_now((uint64_t)*state, &word, 8));
	assert_int_equal(gp_snapshot_take(&snapshot, &address, 1), GP_SNAPSHOT_UNMAPPED);
	gp_sys = real;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_mapped_memory_only, set_up, tear_down),
		cmocka_unit_test_setup_teardown(across_pages, set_up, tear_down),
		cmocka_unit_test_setup_teardown(consistent_only_if_taken_together, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(as_many_pages_as_fit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(unmapped_pages, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_changed_word_is_detected, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_difference_of_the_second_copy_is_detected, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(not_under_a_seccomp_filter, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
