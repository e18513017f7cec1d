/*
 * rules: the rules of advice, each in a file of its own with its limits and texts; struct gp_rule is
 * in report/advice/advice.h, their order in report/advice/advice.c.
 *
 * A new rule is a file here, a line here and in advice.c, and two programs in tests/rules/: one that
 * it reports, and one that it does not.
 */
#ifndef REPORT_ADVICE_RULES_RULES_H
#define REPORT_ADVICE_RULES_RULES_H

#include "report/advice/advice.h"

extern const struct gp_rule gp_rule_failed_calls;
extern const struct gp_rule gp_rule_alloc_in_loop;
extern const struct gp_rule gp_rule_pageable_async;
extern const struct gp_rule gp_rule_hidden_wait;
extern const struct gp_rule gp_rule_sync_copy;
extern const struct gp_rule gp_rule_sync_memset;
extern const struct gp_rule gp_rule_sync_in_loop;
extern const struct gp_rule gp_rule_sync_calls;
extern const struct gp_rule gp_rule_tiny_copies;
extern const struct gp_rule gp_rule_slow_steps;
extern const struct gp_rule gp_rule_data_loading;
extern const struct gp_rule gp_rule_first_use;
extern const struct gp_rule gp_rule_jit_compile;
extern const struct gp_rule gp_rule_graph_launch;
extern const struct gp_rule gp_rule_short_kernels;
extern const struct gp_rule gp_rule_gpu_gaps;
extern const struct gp_rule gp_rule_host_gaps;
extern const struct gp_rule gp_rule_low_utilization;
extern const struct gp_rule gp_rule_idle_rest;
extern const struct gp_rule gp_rule_repeated_copy;
extern const struct gp_rule gp_rule_unified_faults;
extern const struct gp_rule gp_rule_default_stream;
extern const struct gp_rule gp_rule_low_occupancy;
extern const struct gp_rule gp_rule_few_blocks;
extern const struct gp_rule gp_rule_uncoalesced;
extern const struct gp_rule gp_rule_bank_conflicts;
extern const struct gp_rule gp_rule_local_memory;
extern const struct gp_rule gp_rule_old_tensor_path;
extern const struct gp_rule gp_rule_growing_copies;
extern const struct gp_rule gp_rule_layout_changes;
extern const struct gp_rule gp_rule_full_precision;
extern const struct gp_rule gp_rule_unfused_attention;
extern const struct gp_rule gp_rule_repeated_sort;
extern const struct gp_rule gp_rule_unfused_kernels;
extern const struct gp_rule gp_rule_late_rank;
extern const struct gp_rule gp_rule_rank_imbalance;
extern const struct gp_rule gp_rule_exposed_comm;
extern const struct gp_rule gp_rule_lowered_clocks;
extern const struct gp_rule gp_rule_leaked_memory;
extern const struct gp_rule gp_rule_start_up;
extern const struct gp_rule gp_rule_wind_down;

/* The failed calls in the cases of failed-calls, whatever their number. */
uint64_t gp_failed_calls_count(const struct gp_advisor *advisor);

#endif
