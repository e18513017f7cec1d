#include "report/base/kway_merge.h"

#include <errno.h>
#include <stdlib.h>

int gp_kway_merge_open(struct gp_kway_merge *merge, size_t sequences)
{
	*merge = (struct gp_kway_merge){.heads = calloc(sequences + 1, sizeof(*merge->heads))};
	return merge->heads ? 0 : -ENOMEM;
}

void gp_kway_merge_close(struct gp_kway_merge *merge)
{
	free(merge->heads);
	*merge = (struct gp_kway_merge){0};
}

static bool is_before(const struct gp_kway_merge_head *a, const struct gp_kway_merge_head *b)
{
	return a->number < b->number || (a->number == b->number && a->sequence < b->sequence);
}

void gp_kway_merge_put(struct gp_kway_merge *merge, size_t sequence, uint64_t number)
{
	struct gp_kway_merge_head head = {number, sequence};
	size_t at = merge->count++;

	for (; at > 0 && is_before(&head, &merge->heads[(at - 1) / 2]); at = (at - 1) / 2)
		merge->heads[at] = merge->heads[(at - 1) / 2];
	merge->heads[at] = head;
}

static size_t lower_child(const struct gp_kway_merge *merge, size_t at)
{
	size_t child = 2 * at + 1;

	return child + 1 < merge->count && is_before(&merge->heads[child + 1], &merge->heads[child])
		       ? child + 1
		       : child;
}

/* Replaces the lowest head and restores the heap. */
static void sink(struct gp_kway_merge *merge, struct gp_kway_merge_head head)
{
	size_t at = 0;

	for (size_t child; (child = lower_child(merge, at)) < merge->count; at = child) {
		if (!is_before(&merge->heads[child], &head))
			break;
		merge->heads[at] = merge->heads[child];
	}
	merge->heads[at] = head;
}

bool gp_kway_merge_take(struct gp_kway_merge *merge, struct gp_kway_merge_head *head)
{
	if (merge->count == 0)
		return false;
	*head = merge->heads[0];
	merge->count--;
	sink(merge, merge->heads[merge->count]);
	return true;
}

void gp_kway_merge_replace(struct gp_kway_merge *merge, uint64_t number)
{
	sink(merge, (struct gp_kway_merge_head){number, merge->heads[0].sequence});
}
