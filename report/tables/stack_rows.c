#include "report/tables/stack_rows.h"

#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/symbols/code_owner.h"
#include "report/base/text/format.h"
#include "report/base/text/text.h"

#define LEAST_SHARE   100u /* a row has at least 1 / LEAST_SHARE of the whole */
#define TEXT_BYTES    4096u
#define TEXT_COLUMNS  120u
#define LABEL_COLUMNS 48u
#define LEAST_TEXT    50u /* columns of text, at any indentation */
#define MOST_LEVELS   40u /* deeper rows are not indented further */
#define ARROW_COLUMNS 3u

/* A node, with the sums of its callees. */
struct entry {
	uint32_t node, parent;
	uint64_t value, count;
};

/* A function in a chain, and how often it called itself. */
struct link {
	uint32_t node, times;
	bool shown;
};

/* The sum of hidden nodes. */
struct rest {
	uint64_t nodes, value, count;
};

/* A pending row: a node, or a rest. */
struct item {
	uint32_t entry; /* GP_NONE: it is the rest */
	uint32_t level;
	struct rest rest;
};

struct rows {
	const struct gp_stack_profile *profile;
	enum gp_stack_order order;
	enum gp_stack_metric value, counted;
	bool all;              /* also rows below LEAST_SHARE */
	struct entry *entries; /* by parent, then by value and count */
	/* first entry with that parent node; [node_count] = entries without a parent */
	uint32_t *first;
	uint64_t total;
	struct item *items; /* a stack */
	struct link *links; /* of the current chain */
	uint32_t count, item_count, item_capacity, link_capacity;
	void (*put)(void *context, const struct gp_stack_row *row);
	void *context;
};

/* ---- sums ---- */

static int compare_entries(const void *a, const void *b, const void *context)
{
	const struct entry *left = a, *right = b;

	(void)context;
	if (left->parent != right->parent)
		return left->parent < right->parent ? -1 : 1;
	if (left->value != right->value)
		return left->value < right->value ? 1 : -1;
	return (left->count < right->count) - (left->count > right->count);
}

/* Parents precede their children, so adding from last to first propagates all sums. */
static void add_up(struct rows *rows)
{
	const struct gp_call_tree *tree = &rows->profile->tree;

	for (uint32_t i = 0; i < rows->count; i++)
		rows->entries[i] = (struct entry){
			.node = i,
			.parent = tree->nodes[i].parent,
			.value = gp_stack_profile_value(rows->profile, i, rows->value),
			.count = gp_stack_profile_value(rows->profile, i, rows->counted),
		};
	for (uint32_t i = rows->count; i-- > 0;) {
		uint32_t parent = rows->entries[i].parent;

		if (parent == GP_NONE)
			continue;
		rows->entries[parent].value += rows->entries[i].value;
		rows->entries[parent].count += rows->entries[i].count;
	}
}

static void prepare(struct rows *rows)
{
	rows->count = rows->profile->tree.node_count;
	rows->entries = calloc((size_t)rows->count + 1, sizeof(*rows->entries));
	rows->first = malloc(((size_t)rows->count + 1) * sizeof(*rows->first));
	add_up(rows);
	gp_array_sort(rows->entries, rows->count, sizeof(*rows->entries), compare_entries, NULL);
	for (uint32_t i = 0; i <= rows->count; i++)
		rows->first[i] = GP_NONE;
	for (uint32_t i = rows->count; i-- > 0;) {
		uint32_t parent = rows->entries[i].parent;

		rows->first[parent != GP_NONE ? parent : rows->count] = i;
	}
}

/* ---- shown and hidden nodes ---- */

static bool is_shown(const struct rows *rows, const struct entry *entry)
{
	return rows->all || (entry->value > 0 && entry->value >= rows->total / LEAST_SHARE);
}

/* Whether a node has a value or count here: the tree may also hold other measures. */
static bool is_there(const struct entry *entry)
{
	return entry->value + entry->count > 0;
}

/* The number of a node's children that are shown (the first ones); the others are added to rest. */
static uint32_t count_children(const struct rows *rows, uint32_t first, struct rest *rest)
{
	uint32_t shown = 0;

	for (uint32_t i = first;
	     first != GP_NONE && i < rows->count && is_there(&rows->entries[i]) &&
	     rows->entries[i].parent == rows->entries[first].parent;
	     i++) {
		if (is_shown(rows, &rows->entries[i])) {
			shown++;
			continue;
		}
		rest->nodes++;
		rest->value += rows->entries[i].value;
		rest->count += rows->entries[i].count;
	}
	return shown;
}

static void push(struct rows *rows, struct item item)
{
	gp_array_grow(&rows->items, &rows->item_capacity, rows->item_count, sizeof(*rows->items));
	rows->items[rows->item_count++] = item;
}

/* Push in reverse order: the last one pushed is the first row. */
static void push_children(struct rows *rows, uint32_t first, uint32_t shown, uint32_t level,
			  const struct rest *rest)
{
	if (rest->nodes > 0)
		push(rows, (struct item){GP_NONE, level, *rest});
	while (shown-- > 0)
		push(rows, (struct item){.entry = first + shown, .level = level});
}

/* ---- text ---- */

struct text {
	char bytes[TEXT_BYTES];
	size_t used;
};

static void append(struct text *text, const char *words)
{
	int length = snprintf(text->bytes + text->used, TEXT_BYTES - text->used, "%s", words);

	text->used += (size_t)length < TEXT_BYTES - text->used ? (size_t)length
							       : TEXT_BYTES - text->used - 1;
}

static void indent(struct text *text, uint32_t level)
{
	text->bytes[0] = '\0';
	text->used = 0;
	for (uint32_t i = 0; i < level && i < MOST_LEVELS; i++)
		append(text, "  ");
}

/* The functions of a chain, innermost first; a recursive one once. */
static uint32_t find_links(struct rows *rows, uint32_t top, uint32_t last)
{
	const struct gp_call_node *nodes = rows->profile->tree.nodes;
	uint32_t count = 0;

	for (uint32_t node = last;; node = nodes[node].parent) {
		if (count > 0 && nodes[node].site == nodes[rows->links[count - 1].node].site) {
			rows->links[count - 1].times++;
		} else {

			gp_array_grow(&rows->links, &rows->link_capacity, count,
				      sizeof(*rows->links));
			rows->links[count++] = (struct link){.node = node, .times = 1};
		}
		if (node == top)
			return count;
	}
}

/*
 * A function's label, escaped for a terminal and shortened in its middle.  Free it; NULL: no
 * memory.
 */
static char *label_of(const struct rows *rows, uint32_t link)
{
	const struct link *of = &rows->links[link];
	char label[GP_SITE_LABEL_BYTES + 24], *escaped, *fitting;
	size_t used;

	gp_site_label(gp_call_tree_site(&rows->profile->tree, of->node), label);
	used = strlen(label);
	if (of->times > 1)
		snprintf(label + used, sizeof(label) - used, " x%u", of->times);
	escaped = gp_text_escape(label);
	fitting = gp_text_fit(escaped, LABEL_COLUMNS);
	free(escaped);
	return fitting;
}

static void append_label(struct rows *rows, struct text *text, uint32_t link)
{
	char *label = label_of(rows, link);

	append(text, label);
	free(label);
}

/* Lower ranks are more useful to the reader. */
static uint32_t rank_of(const struct rows *rows, uint32_t link)
{
	const struct gp_place *site =
		gp_call_tree_site(&rows->profile->tree, rows->links[link].node);

	return site->kind >= GP_SITE_CALL ? GP_CODE_OWN : gp_code_owner_of_place(site);
}

/* Show one more link if there is room; returns whether there was. */
static bool show(struct rows *rows, uint32_t link, size_t *columns)
{
	char *label = label_of(rows, link);
	size_t width = gp_text_columns(label) + ARROW_COLUMNS;

	free(label);
	if (width > *columns)
		return false;
	*columns -= width;
	rows->links[link].shown = true;
	return true;
}

/* The index of the i-th link from the innermost function. */
static uint32_t inner(const struct rows *rows, uint32_t i, uint32_t count)
{
	return rows->order == GP_STACK_CALLERS_FIRST ? i : count - 1 - i;
}

/*
 * Choose the links that fit into that many columns: the innermost function; the first of the row,
 * which tells it from its siblings, unless its owner is unknown; then the user's own functions,
 * those of frameworks, and others, each from the innermost outwards.
 */
static void choose_links(struct rows *rows, uint32_t count, size_t columns)
{
	uint32_t innermost = inner(rows, 0, count), first = count - 1;
	bool has_room = show(rows, innermost, &columns);

	rows->links[innermost].shown = true;
	if (has_room && !rows->links[first].shown && rank_of(rows, first) != GP_CODE_BENEATH)
		has_room = show(rows, first, &columns);
	for (uint32_t rank = GP_CODE_OWN; rank < GP_CODE_OWNERS; rank++)
		for (uint32_t i = 0; i < count && has_room; i++) {
			uint32_t link = inner(rows, i, count);

			if (!rows->links[link].shown && rank_of(rows, link) == rank)
				has_room = show(rows, link, &columns);
		}
}

static void append_left_out(struct text *text, const char *separator, uint32_t count)
{
	char words[64];

	if (count == 0)
		return;
	snprintf(words, sizeof(words), "%s(%s more)", separator, gp_format_count(count).text);
	append(text, words);
}

/* A chain: functions each of which called only the next one. */
static void put_chain(struct rows *rows, struct text *text, uint32_t top, uint32_t last)
{
	size_t columns =
		text->used + LEAST_TEXT < TEXT_COLUMNS ? TEXT_COLUMNS - text->used : LEAST_TEXT;
	const char *arrow = rows->order == GP_STACK_CALLERS_FIRST ? " > " : " < ", *separator = "";
	uint32_t count = find_links(rows, top, last), left_out = 0;

	choose_links(rows, count, columns);
	while (count-- > 0) {
		if (!rows->links[count].shown) {
			left_out++;
			continue;
		}
		append_left_out(text, separator, left_out);
		append(text, left_out > 0 ? arrow : separator);
		append_label(rows, text, count);
		separator = arrow;
		left_out = 0;
	}
	append_left_out(text, separator, left_out);
}

/* ---- rows ---- */

static void put_rest(struct rows *rows, const struct item *item)
{
	struct text text;
	char words[96];

	indent(&text, item->level);
	snprintf(words, sizeof(words), "(%s %s less than 1 %%)",
		 gp_format_count(item->rest.nodes).text,
		 item->rest.nodes == 1 ? "other with" : "others, each with");
	append(&text, words);
	rows->put(rows->context,
		  &(struct gp_stack_row){text.bytes, item->rest.value, item->rest.count});
}

/* The shown children of an entry; the hidden ones are added to rest. */
static uint32_t find_children(const struct rows *rows, const struct entry *entry, uint32_t *first,
			      struct rest *rest)
{
	*first = rows->first[entry->node];
	return count_children(rows, *first, rest);
}

/* Whether one callee has all of a node's value and count: then they share a row. */
static bool only_hands_on(const struct rows *rows, uint32_t node, uint32_t shown,
			  const struct rest *rest)
{
	return shown == 1 && rest->nodes == 0 &&
	       gp_stack_profile_value(rows->profile, node, rows->value) == 0 &&
	       gp_stack_profile_value(rows->profile, node, rows->counted) == 0;
}

static void put_item(struct rows *rows, const struct item *item)
{
	const struct entry *top = &rows->entries[item->entry], *at = top;
	struct rest rest = {0};
	uint32_t first, shown = find_children(rows, at, &first, &rest);
	struct text text;

	while (only_hands_on(rows, at->node, shown, &rest)) {
		at = &rows->entries[first];
		shown = find_children(rows, at, &first, &rest);
	}
	indent(&text, item->level);
	put_chain(rows, &text, top->node, at->node);
	rows->put(rows->context, &(struct gp_stack_row){text.bytes, top->value, top->count});
	push_children(rows, first, shown, item->level + 1, &rest);
}

static void put_all(struct rows *rows)
{
	struct rest rest = {0};
	uint32_t first = rows->first[rows->count];

	push_children(rows, first, count_children(rows, first, &rest), 0, &rest);
	while (rows->item_count > 0) {
		struct item item = rows->items[--rows->item_count];

		if (item.entry == GP_NONE)
			put_rest(rows, &item);
		else
			put_item(rows, &item);
	}
}

int gp_stack_rows(const struct gp_stack_profile *profile, enum gp_stack_order order,
		  enum gp_stack_metric value, enum gp_stack_metric count, bool all,
		  void (*put)(void *context, const struct gp_stack_row *row), void *context)
{
	struct rows rows = {.profile = profile,
			    .order = order,
			    .value = value,
			    .counted = count,
			    .all = all,
			    .total = profile->totals[value],
			    .put = put,
			    .context = context};

	if (profile->without_stack[value] == profile->totals[value])
		return 0;
	prepare(&rows);
	put_all(&rows);
	free(rows.entries);
	free(rows.first);
	free(rows.items);
	free(rows.links);
	return 0;
}
