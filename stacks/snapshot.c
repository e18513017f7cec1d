#include "stacks/snapshot.h"

#include <string.h>
#include <sys/uio.h>

#include "collector/sys.h"

static struct iovec piece(uint64_t address, size_t bytes)
{
	return (struct iovec){(void *)(uintptr_t)address, bytes};
}

static uint32_t process;

void gp_snapshot_begin(void)
{
	process = gp_sys_process_id();
}

#define WORD_READS  (GP_SNAPSHOT_COPIES + 1) /* reads of the words */
#define MOST_PIECES (WORD_READS * GP_SNAPSHOT_WORDS + GP_SNAPSHOT_COPIES * GP_SNAPSHOT_PAGES)

struct pieces {
	struct iovec into[MOST_PIECES], from[MOST_PIECES];
	uint32_t count;
	uint64_t words[WORD_READS][GP_SNAPSHOT_WORDS];
};

static void add_piece(struct pieces *pieces, void *into, uint64_t from, size_t bytes)
{
	pieces->into[pieces->count] = (struct iovec){into, bytes};
	pieces->from[pieces->count] = piece(from, bytes);
	pieces->count++;
}

static void add_words(struct pieces *pieces, uint32_t at, const uint64_t *addresses, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		add_piece(pieces, &pieces->words[at][i], addresses[i], sizeof(uint64_t));
}

enum gp_snapshot_result gp_snapshot_take(struct gp_snapshot *snapshot, const uint64_t *addresses,
					 uint32_t count)
{
	struct pieces pieces;
	uint32_t pages = snapshot->count;

	pieces.count = 0;
	add_words(&pieces, 0, addresses, count);
	for (uint32_t copy = 0; copy < GP_SNAPSHOT_COPIES; copy++) {
		for (uint32_t i = 0; i < pages; i++)
			add_piece(&pieces, snapshot->data[copy * GP_SNAPSHOT_PAGES + i],
				  snapshot->pages[i], GP_SNAPSHOT_PAGE_BYTES);
		add_words(&pieces, copy + 1, addresses, count);
	}
	memset(snapshot->was_read, 0, pages * sizeof(snapshot->was_read[0]));
	snapshot->held = pages;
	snapshot->latest = 0;
	snapshot->has_moved = false;
	if (gp_sys_copy_own(process, pieces.into, pieces.from, pieces.count) != 0)
		return GP_SNAPSHOT_UNMAPPED;
	memcpy(snapshot->words, pieces.words[0], sizeof(snapshot->words));
	for (uint32_t i = 1; i < WORD_READS; i++)
		if (memcmp(snapshot->words, pieces.words[i], count * sizeof(uint64_t)) != 0)
			return GP_SNAPSHOT_MOVED;
	return GP_SNAPSHOT_TAKEN;
}

bool gp_snapshot_now(uint64_t address, void *into, size_t bytes)
{
	struct iovec to = {into, bytes}, from = piece(address, bytes);

	return gp_sys_copy_own(process, &to, &from, 1) == 0;
}

bool gp_snapshot_pieces_now(const struct gp_snapshot_piece *pieces, uint32_t count)
{
	struct iovec into[GP_SNAPSHOT_PIECES], from[GP_SNAPSHOT_PIECES];

	for (uint32_t i = 0; i < count; i++) {
		into[i] = (struct iovec){pieces[i].into, pieces[i].bytes};
		from[i] = piece(pieces[i].address, pieces[i].bytes);
	}
	return gp_sys_copy_own(process, into, from, count) == 0;
}

static bool add_page(struct gp_snapshot *snapshot, uint64_t page)
{
	if (snapshot->count == GP_SNAPSHOT_PAGES ||
	    !gp_snapshot_now(page, snapshot->data[snapshot->count], GP_SNAPSHOT_PAGE_BYTES))
		return false;
	snapshot->latest = snapshot->count;
	snapshot->pages[snapshot->count++] = page;
	return true;
}

static bool find_page(struct gp_snapshot *snapshot, uint64_t page)
{
	if (snapshot->latest < snapshot->count && snapshot->pages[snapshot->latest] == page)
		return true;
	for (uint32_t i = 0; i < snapshot->count; i++)
		if (snapshot->pages[i] == page) {
			snapshot->latest = i;
			return true;
		}
	return add_page(snapshot, page);
}

/* For the page that was read last. */
static bool is_other_again(const struct gp_snapshot *snapshot, size_t offset, size_t bytes)
{
	uint32_t page = snapshot->latest;

	return page < snapshot->held &&
	       memcmp(snapshot->data[page] + offset,
		      snapshot->data[GP_SNAPSHOT_PAGES + page] + offset, bytes) != 0;
}

bool gp_snapshot_read(struct gp_snapshot *snapshot, uint64_t address, void *into, size_t bytes)
{
	uint8_t *at = into;

	while (bytes > 0) {
		size_t offset = address % GP_SNAPSHOT_PAGE_BYTES;
		size_t part = GP_SNAPSHOT_PAGE_BYTES - offset < bytes
				      ? GP_SNAPSHOT_PAGE_BYTES - offset
				      : bytes;

		if (!find_page(snapshot, address - offset))
			return false;
		snapshot->was_read[snapshot->latest] = true;
		memcpy(at, snapshot->data[snapshot->latest] + offset, part);
		snapshot->has_moved |= is_other_again(snapshot, offset, part);
		address += part;
		at += part;
		bytes -= part;
	}
	return true;
}

bool gp_snapshot_is_whole(const struct gp_snapshot *snapshot)
{
	return snapshot->held == snapshot->count && !snapshot->has_moved;
}

void gp_snapshot_keep_read(struct gp_snapshot *snapshot)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < snapshot->count; i++)
		if (snapshot->was_read[i])
			snapshot->pages[kept++] = snapshot->pages[i];
	snapshot->count = kept;
}
