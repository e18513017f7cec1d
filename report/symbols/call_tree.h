/*
 * call_tree: the call stacks of all processes as one tree of functions, for all analyses by stack.
 *
 * A site is a function, or a line of a function. A node is a site called by its parent's site. Node
 * 0 stands for calls without a stack. Parents come before their children, so one pass from the last
 * node to the first sums up values over callers:
 *
 * 	gp_call_tree_open(&tree, false);
 * 	for each model:
 * 		gp_call_tree_use(&tree, model);
 * 		for each operation:
 * 			values[gp_call_tree_find(&tree, gp_model_op_stack(model, op))] += ...;
 * 	gp_call_tree_use(&tree, NULL);
 *
 * Frames of CUDA's libraries and of the profiler are left out, also if the CUDA runtime is linked
 * into the program.
 *
 * Models come one after the other and may be freed in between: the tree has its own copies. Stacks
 * may be deeper than a recursion in this program can go: follow `parent`.
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
	uint32_t parent; /* less than its own index, or GP_NONE */
	uint32_t site;
};

struct gp_call_tree {
	struct gp_place *sites; /* line 0 in a tree without lines */
	struct gp_call_node *nodes;
	uint32_t site_count, node_count;

	bool has_lines;
	struct gp_symbols *symbols;
	/* the current model, and the node of each frame; GP_NONE = not looked up */
	const struct gp_model *model;
	uint32_t *nodes_of_frames;
	uint32_t *path;
	uint32_t site_capacity, node_capacity, path_capacity;
	struct gp_hash_map index_of_sites, index_of_nodes;
	int error; /* 0 or the first -errno: -ENOMEM, -EOVERFLOW */
};

/*
 * with_lines: lines of a function are separate sites. Returns 0 or -ENOMEM. Call
 * gp_call_tree_close() in both cases.
 */
int gp_call_tree_open(struct gp_call_tree *tree, bool with_lines);
void gp_call_tree_close(struct gp_call_tree *tree);

/* Sets the model for the next calls; NULL = none. Returns 0 or -ENOMEM. */
int gp_call_tree_use(struct gp_call_tree *tree, const struct gp_model *model);

/*
 * The node of a stack (an index in frames, or GP_NONE). Without memory returns
 * GP_CALL_TREE_NO_STACK and sets error.
 */
uint32_t gp_call_tree_find(struct gp_call_tree *tree, uint32_t frame);

/*
 * Adds a leaf below a node: a CUDA call or an operation, as place.kind says. Copies the texts.
 * Without memory returns GP_CALL_TREE_NO_STACK and sets error.
 */
enum gp_call_tree_leaf { GP_SITE_CALL = 0x100, GP_SITE_OPERATION };
uint32_t gp_call_tree_add(struct gp_call_tree *tree, uint32_t parent, const struct gp_place *place);

/* The site of a node. */
const struct gp_place *gp_call_tree_site(const struct gp_call_tree *tree, uint32_t node);

/*
 * The nodes from the outermost caller to that node; *length is their number. Valid until the next
 * call.
 */
const uint32_t *gp_call_tree_path(struct gp_call_tree *tree, uint32_t node, uint32_t *length);

#define GP_SITE_LABEL_BYTES 512

/* The text of gp_place_put(); native functions have lines in a tree with lines only. */
static inline const char *gp_site_label(const struct gp_place *site,
					char label[GP_SITE_LABEL_BYTES])
{
	gp_place_put(site, true, label, GP_SITE_LABEL_BYTES);
	return label;
}

#endif
