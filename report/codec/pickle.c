#include "report/codec/pickle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"

#define KEYS 256

static const struct gp_pickle_value nothing = {.kind = GP_PICKLE_NONE};

struct machine {
	struct gp_pickle *pickle;
	const uint8_t *at, *end;
	uint32_t value_capacity;
	uint32_t *stack, *marks, *memo; /* numbers of values; for marks: heights of the stack */
	uint32_t stack_count, mark_count, memo_count;
	uint32_t stack_capacity, mark_capacity, memo_capacity;
	const char *problem;
	bool stopped;
};

/*
 * An operation, and the bytes of the number that follows its code: a count, a value or a memo
 * index.
 */
struct operation {
	int (*run)(struct machine *m, uint64_t argument);
	uint8_t argument_bytes;
};

static int refuse(struct machine *m, const char *problem)
{
	m->problem = problem;
	return -EPROTO;
}

/* ---- the stack ---- */

static int push_number(struct machine *m, uint32_t value)
{
	gp_array_grow(&m->stack, &m->stack_capacity, m->stack_count, sizeof(*m->stack));
	m->stack[m->stack_count++] = value;
	return 0;
}

static int push(struct machine *m, struct gp_pickle_value value)
{
	struct gp_pickle *pickle = m->pickle;

	gp_array_grow(&pickle->values, &m->value_capacity, pickle->value_count,
		      sizeof(*pickle->values));
	pickle->values[pickle->value_count++] = value;
	return push_number(m, pickle->value_count - 1);
}

/* The number of values above the last mark, or on the whole stack. */
static uint32_t count_above_mark(const struct machine *m)
{
	return m->stack_count - (m->mark_count > 0 ? m->marks[m->mark_count - 1] : 0);
}

static void add_item(struct gp_pickle_value *list, uint32_t item)
{
	gp_array_grow(&list->items, &list->capacity, list->count, sizeof(*list->items));
	list->items[list->count++] = item;
}

/* Moves the top values of the stack into the container below them. */
static int move_items(struct machine *m, uint32_t count, enum gp_pickle_kind kind)
{
	struct gp_pickle_value *container;

	if (count_above_mark(m) < count + 1 || (kind == GP_PICKLE_DICT && count % 2 != 0))
		return refuse(m, "a container has too few items");
	container = &m->pickle->values[m->stack[m->stack_count - count - 1]];
	if (container->kind != kind)
		return refuse(m, "items have no container");
	for (uint32_t i = 0; i < count; i++)
		add_item(container, m->stack[m->stack_count - count + i]);
	m->stack_count -= count;
	return 0;
}

/* ---- operations: numbers and text ---- 142, */

static int take_none(struct machine *m, uint64_t argument)
{
	(void)argument;
	return push(m, nothing);
}

static int take_true(struct machine *m, uint64_t argument)
{
	(void)argument;
	return push(m, (struct gp_pickle_value){.kind = GP_PICKLE_WHOLE, .whole = 1});
}

static int take_false(struct machine *m, uint64_t argument)
{
	(void)argument;
	return push(m, (struct gp_pickle_value){.kind = GP_PICKLE_WHOLE});
}

static int take_small(struct machine *m, uint64_t argument)
{
	return push(m,
		    (struct gp_pickle_value){.kind = GP_PICKLE_WHOLE, .whole = (int64_t)argument});
}

static int take_int(struct machine *m, uint64_t argument)
{
	return push(m, (struct gp_pickle_value){.kind = GP_PICKLE_WHOLE,
						.whole = (int32_t)(uint32_t)argument});
}

static uint64_t read_little(const uint8_t *bytes, size_t count)
{
	uint64_t number = 0;

	for (size_t i = count; i-- > 0;)
		number = number << 8 | bytes[i];
	return number;
}

static int take_long(struct machine *m, uint64_t bytes)
{
	uint64_t number = 0;
	struct gp_pickle_value value = {.kind = GP_PICKLE_WHOLE};

	if (bytes > (size_t)(m->end - m->at))
		return refuse(m, "it ends within a number");
	if (bytes > 0 && bytes <= 8) {
		number = read_little(m->at, bytes);
		if (m->at[bytes - 1] & 0x80 && bytes < 8)
			number |= UINT64_MAX << (8 * bytes);
	}
	memcpy(&value.whole, &number, sizeof(number));
	m->at += bytes;
	return push(m, bytes <= 8 ? value : nothing);
}

/* The only big-endian number. */
static int take_real(struct machine *m, uint64_t argument)
{
	struct gp_pickle_value value = {.kind = GP_PICKLE_REAL};

	argument = __builtin_bswap64(argument);
	memcpy(&value.real, &argument, sizeof(argument));
	return push(m, value);
}

static int take_text(struct machine *m, uint64_t bytes)
{
	struct gp_pickle_value value = {.kind = GP_PICKLE_TEXT, .text = (const char *)m->at};

	if (bytes > (size_t)(m->end - m->at) || bytes > UINT32_MAX)
		return refuse(m, "it ends within a text");
	value.count = (uint32_t)bytes;
	m->at += bytes;
	return push(m, value);
}

/* ---- operations: containers ---- */

static int take_list(struct machine *m, uint64_t argument)
{
	(void)argument;
	return push(m, (struct gp_pickle_value){.kind = GP_PICKLE_LIST});
}

static int take_dict(struct machine *m, uint64_t argument)
{
	(void)argument;
	return push(m, (struct gp_pickle_value){.kind = GP_PICKLE_DICT});
}

static int take_mark(struct machine *m, uint64_t argument)
{
	gp_array_grow(&m->marks, &m->mark_capacity, m->mark_count, sizeof(*m->marks));
	(void)argument;
	m->marks[m->mark_count++] = m->stack_count;
	return 0;
}

/* Removes the last mark; *count is the number of values above it. */
static int drop_mark(struct machine *m, uint32_t *count)
{
	if (m->mark_count == 0)
		return refuse(m, "a mark is missing");
	*count = count_above_mark(m);
	m->mark_count--;
	return 0;
}

static int append_one(struct machine *m, uint64_t argument)
{
	(void)argument;
	return move_items(m, 1, GP_PICKLE_LIST);
}

static int append_all(struct machine *m, uint64_t argument)
{
	uint32_t count = 0;
	int result = drop_mark(m, &count);

	(void)argument;
	return result < 0 ? result : move_items(m, count, GP_PICKLE_LIST);
}

static int set_one(struct machine *m, uint64_t argument)
{
	(void)argument;
	return move_items(m, 2, GP_PICKLE_DICT);
}

static int set_all(struct machine *m, uint64_t argument)
{
	uint32_t count = 0;
	int result = drop_mark(m, &count);

	(void)argument;
	return result < 0 ? result : move_items(m, count, GP_PICKLE_DICT);
}

/* Makes a tuple of the top values: a list that is put below them and takes them. */
static int make_tuple(struct machine *m, uint64_t count)
{
	int result;

	if (count_above_mark(m) < count)
		return refuse(m, "a tuple has too few items");
	result = take_list(m, 0);
	if (result < 0)
		return result;
	memmove(&m->stack[m->stack_count - count], &m->stack[m->stack_count - 1 - count],
		count * sizeof(*m->stack));
	m->stack[m->stack_count - 1 - count] = m->pickle->value_count - 1;
	return move_items(m, (uint32_t)count, GP_PICKLE_LIST);
}

static int tuple_of_one(struct machine *m, uint64_t argument)
{
	(void)argument;
	return make_tuple(m, 1);
}

static int tuple_of_two(struct machine *m, uint64_t argument)
{
	(void)argument;
	return make_tuple(m, 2);
}

static int tuple_of_three(struct machine *m, uint64_t argument)
{
	(void)argument;
	return make_tuple(m, 3);
}

static int tuple_of_all(struct machine *m, uint64_t argument)
{
	uint32_t count = 0;
	int result = drop_mark(m, &count);

	(void)argument;
	return result < 0 ? result : make_tuple(m, count);
}

/* ---- operations: the memo ---- */

static int put_memo(struct machine *m, uint64_t place)
{
	int result = 0;

	if (count_above_mark(m) == 0 || place > m->memo_count)
		return refuse(m, "it stores a missing value");
	if (place == m->memo_count)
		result = gp_array_grow(&m->memo, &m->memo_capacity, m->memo_count++,
				       sizeof(*m->memo));
	if (result == 0)
		m->memo[place] = m->stack[m->stack_count - 1];
	return result;
}

static int memoize(struct machine *m, uint64_t argument)
{
	(void)argument;
	return put_memo(m, m->memo_count);
}

static int get_memo(struct machine *m, uint64_t place)
{
	return place < m->memo_count ? push_number(m, m->memo[place])
				     : refuse(m, "it reads a missing value");
}

static int pass(struct machine *m, uint64_t argument)
{
	(void)m;
	(void)argument;
	return 0;
}

static int stop(struct machine *m, uint64_t argument)
{
	(void)argument;
	if (m->stack_count != 1)
		return refuse(m, "it does not hold exactly one value");
	m->pickle->root = m->stack[0];
	m->stopped = true;
	return 0;
}

/* ---- the machine ---- */

static const struct operation operations[256] = {
	['N'] = {take_none, 0},     [0x88] = {take_true, 0},      [0x89] = {take_false, 0},
	['K'] = {take_small, 1},    ['M'] = {take_small, 2},      ['J'] = {take_int, 4},
	[0x8a] = {take_long, 1},    [0x8b] = {take_long, 4},      ['G'] = {take_real, 8},
	[0x8c] = {take_text, 1},    ['X'] = {take_text, 4},       [0x8d] = {take_text, 8},
	[']'] = {take_list, 0},     [')'] = {take_list, 0},       ['}'] = {take_dict, 0},
	['('] = {take_mark, 0},     ['a'] = {append_one, 0},      ['e'] = {append_all, 0},
	['s'] = {set_one, 0},       ['u'] = {set_all, 0},         [0x85] = {tuple_of_one, 0},
	[0x86] = {tuple_of_two, 0}, [0x87] = {tuple_of_three, 0}, ['t'] = {tuple_of_all, 0},
	['q'] = {put_memo, 1},      ['r'] = {put_memo, 4},        [0x94] = {memoize, 0},
	['h'] = {get_memo, 1},      ['j'] = {get_memo, 4},        [0x95] = {pass, 8}, /* frame */
	[0x80] = {pass, 1},                                                           /* protocol */
	['.'] = {stop, 0},
};

static int step(struct machine *m)
{
	const struct operation *operation;
	uint64_t argument;

	if (m->at == m->end)
		return refuse(m, "it ends too early");
	operation = &operations[*m->at++];
	if (!operation->run)
		return refuse(m, "it is not a pickle, or it contains code");
	if (operation->argument_bytes > (size_t)(m->end - m->at))
		return refuse(m, "it ends too early");
	argument = read_little(m->at, operation->argument_bytes);
	m->at += operation->argument_bytes;
	return operation->run(m, argument);
}

int gp_pickle_read(struct gp_pickle *pickle, const void *bytes, size_t byte_count,
		   const char **problem)
{
	struct machine m = {.pickle = pickle, .at = bytes, .problem = "", .stopped = false};
	int result = 0;

	*pickle = (struct gp_pickle){0};
	m.end = m.at + byte_count;
	while (result == 0 && !m.stopped)
		result = step(&m);
	free(m.stack);
	free(m.marks);
	free(m.memo);
	*problem = m.problem;
	return result;
}

void gp_pickle_free(struct gp_pickle *pickle)
{
	for (uint32_t i = 0; i < pickle->value_count; i++)
		if (pickle->values[i].kind == GP_PICKLE_LIST ||
		    pickle->values[i].kind == GP_PICKLE_DICT)
			free(pickle->values[i].items);
	free(pickle->values);
	*pickle = (struct gp_pickle){0};
}

/* ---- values ---- */

const struct gp_pickle_value *gp_pickle_root(const struct gp_pickle *pickle)
{
	return pickle->root < pickle->value_count ? &pickle->values[pickle->root] : &nothing;
}

bool gp_pickle_is(const struct gp_pickle_value *value, const char *text)
{
	return value->kind == GP_PICKLE_TEXT && value->count == strlen(text) &&
	       memcmp(value->text, text, value->count) == 0;
}

/*
 * As in Python, the last of equal keys counts. Dictionaries with fixed keys are small; in a huge
 * one only the last KEYS entries are searched, as many others may share it.
 */
const struct gp_pickle_value *gp_pickle_get(const struct gp_pickle *pickle,
					    const struct gp_pickle_value *dict, const char *key)
{
	uint32_t count = dict->kind == GP_PICKLE_DICT ? dict->count : 0;
	uint32_t least = count > 2 * KEYS ? count - 2 * KEYS : 0;

	for (uint32_t i = count; i > least; i -= 2)
		if (gp_pickle_is(&pickle->values[dict->items[i - 2]], key))
			return &pickle->values[dict->items[i - 1]];
	return &nothing;
}

const struct gp_pickle_value *gp_pickle_at(const struct gp_pickle *pickle,
					   const struct gp_pickle_value *list, uint32_t index)
{
	return list->kind == GP_PICKLE_LIST && index < list->count
		       ? &pickle->values[list->items[index]]
		       : &nothing;
}

uint64_t gp_pickle_number(const struct gp_pickle_value *value)
{
	return value->kind == GP_PICKLE_WHOLE && value->whole > 0 ? (uint64_t)value->whole : 0;
}
