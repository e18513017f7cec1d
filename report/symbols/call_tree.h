/*
 * call_tree: the call stacks of all processes in one tree of functions, for everything that gathers
 * by stack.
 *
 * A site is a function, or a line of a function; a node is a site that was called by its parent's.
 * Node 0 stands for calls without a stack.  Parents come before their children, so that one pass
 * from the last node to the first sums up values over callers:
 *
 *	gp_call_tree_open(&tree, false);
 *	for each model:
 *		gp_call_tree_use(&tree, model);
 *		for each operation:
 *			values[gp_call_tree_find(&tree, gp_model_op_stack(model, op))] += ...;
 *	gp_call_tree_use(&tree, NULL);
 *
 * Frames of CUDA's own libraries and of the profiler are left out, also where the CUDA runtime is
 * linked into the program.
 *
 * Models come one after the other and may be freed in between; the tree keeps its own copies.
 * Stacks may be deeper than the program's own stack can recurse: go by parents.
 */
#ifndef REPORT_SYMBOLS_CALL_TREE_H
#define REPORT_SYMBOLS_CALL_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/base/hash_map.h"
#include "report/model/model.h"
#include "report/symbols/symbols.h"

#define GP_CALL_TREE_NO_STACK 0u

struct gp_call_node {
	uint32_t parent; /* below its own number, or GP_NONE */
	uint32_t site;
};

struct gp_call_tree {
	struct gp_place *sites; /* line 0 in a tree without lines */
	struct gp_call_node *nodes;
	uint32_t site_count, node_count;

	bool has_lines;
	struct gp_symbols *symbols;
	/* the present one, and what its frames are here: GP_NONE = not looked up */
	const struct gp_model *model;
	uint32_t *nodes_of_frames;
	uint32_t *path;
	uint32_t site_capacity, node_capacity, path_capacity;
	struct gp_hash_map index_of_sites, index_of_nodes;
	int error; /* 0 or the first -errno: -ENOMEM, -EOVERFLOW */
};

/*
 * with_lines: calls from several lines of a function are kept apart.  Returns 0 or -ENOMEM; to be
 * closed in either case.
 */
int gp_call_tree_open(struct gp_call_tree *tree, bool with_lines);
void gp_call_tree_close(struct gp_call_tree *tree);

/*
 * What follows is of that model, until the next call of this; NULL = of none.  Returns 0 or
 * -ENOMEM.
 */
int gp_call_tree_use(struct gp_call_tree *tree, const struct gp_model *model);

/*
 * The node of a stack (an index in frames, or GP_NONE); GP_CALL_TREE_NO_STACK where there is no
 * memory, and error says so.
 */
uint32_t gp_call_tree_find(struct gp_call_tree *tree, uint32_t frame);

/*
 * The node of something that the parent's code did (parent: a node): a call of CUDA, or a kernel.
 * place.kind is one of these; its texts are copied.  GP_CALL_TREE_NO_STACK where there is no
 * memory, and error says so.
 */
enum gp_call_tree_leaf { GP_SITE_CALL = 0x100, GP_SITE_OPERATION };
uint32_t gp_call_tree_add(struct gp_call_tree *tree, uint32_t parent, const struct gp_place *place);

/* The site of a node. */
const struct gp_place *gp_call_tree_site(const struct gp_call_tree *tree, uint32_t node);

/*
 * The nodes from the outermost caller to that node, their number in *length; good until the next
 * call.  NULL if there is no memory, and error says so.
 */
const uint32_t *gp_call_tree_path(struct gp_call_tree *tree, uint32_t node, uint32_t *length);

#define GP_SITE_LABEL_BYTES 512

/*
 * What people call a site: its function and, of Python's or in a tree with lines, the file's name
 * and the line.
 */
const char *gp_site_label(const struct gp_place *site, char label[GP_SITE_LABEL_BYTES]);

#endif
