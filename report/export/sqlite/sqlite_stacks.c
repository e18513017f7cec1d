#include <stdlib.h>

#include "report/symbols/call_tree.h"
#include "report/export/sqlite/sqlite_writer.h"

/*
 * The most rows: if all stacks differ, the file would grow without limit.  Later calls have no stack,
 * and are counted.
 */
#define MOST_ROWS (4u << 20)

/* One function of a stack: depth 0 is the innermost. */
static void put_place(struct gp_sqlite_export *e, uint64_t chain, const struct gp_place *place,
		      const struct gp_frame *frame, uint64_t depth)
{
	bool is_native = frame->kind != GP_FRAME_PYTHON;
	char label[GP_SITE_LABEL_BYTES];
	const struct gp_value values[] = {
		gp_value_whole(chain),
		/* a launch stub has the name of its kernel */
		gp_sqlite_string(e->db,
				 place->is_stub ? place->function : gp_site_label(place, label)),
		gp_sqlite_string(e->db, is_native ? place->module : place->file),
		gp_value_none(),
		is_native ? gp_value_whole(frame->address) : gp_value_none(),
		gp_value_whole(depth),
	};

	GP_SQLITE_PUT(e, GP_SQLITE_CALLCHAIN, values);
	e->stacks.rows++;
}

static void put_stack(struct gp_sqlite_export *e, uint64_t chain, uint32_t stack)
{
	uint64_t depth = 0;

	for (uint32_t at = stack; at != GP_NONE; at = e->model->frames[at].parent) {
		size_t count;
		const struct gp_place *places =
			gp_symbols_find(e->stacks.symbols, e->model, at, &count);

		for (size_t i = 0; i < count; i++)
			put_place(e, chain, &places[i], &e->model->frames[at], depth++);
	}
}

struct gp_value gp_sqlite_stack(struct gp_sqlite_export *e, uint32_t stack)
{
	uint64_t chain = e->stacks.first + stack + 1;

	if (stack == GP_NONE)
		return gp_value_none();
	if (!e->stacks.is_written[stack]) {
		if (e->stacks.rows >= MOST_ROWS) {
			e->stacks.left_out++;
			return gp_value_none();
		}
		e->stacks.is_written[stack] = true;
		put_stack(e, chain, stack);
	}
	return gp_value_whole(chain);
}

bool gp_sqlite_begin_stacks(struct gp_sqlite_export *e)
{
	e->stacks.frames = e->model->frame_count;
	e->stacks.symbols = gp_symbols_new();
	e->stacks.is_written =
		calloc((size_t)e->model->frame_count + 1, sizeof(*e->stacks.is_written));
	return e->stacks.is_written;
}

void gp_sqlite_end_stacks(struct gp_sqlite_export *e, FILE *messages)
{
	if (messages && e->stacks.symbols)
		gp_symbols_explain(e->stacks.symbols, messages);
	gp_symbols_free(e->stacks.symbols);
	free(e->stacks.is_written);
	e->stacks.symbols = NULL;
	e->stacks.is_written = NULL;
	e->stacks.first += e->stacks.frames;
}
