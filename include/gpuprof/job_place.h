/* job_place: the rank of a process in its job, by the launcher's environment variables. */
#ifndef GPUPROF_JOB_PLACE_H
#define GPUPROF_JOB_PLACE_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/option.h"

/* NULL: not set by a launcher. */
struct gp_job_place {
	const char *rank, *world_size, *local_rank;
	const char *job; /* the scheduler's id */
};

static inline const char *gp_job_variable(const char *name)
{
	const char *value = name != NULL ? getenv(name) : NULL;

	return value != NULL && value[0] != '\0' ? value : NULL;
}

/*
 * Takes the rank from the first launcher that set one, and the other values from all launchers that
 * set the same rank.  One launcher may have started another, as Slurm starts the agent of torchrun.
 */
static inline struct gp_job_place gp_job_place(void)
{
	static const struct {
		const char *rank, *world_size, *local_rank, *job;
		const char *needed; /* must be set, too: sbatch also sets a rank for its script */
	} launchers[] = {
		{"RANK", "WORLD_SIZE", "LOCAL_RANK", NULL,
		 NULL}, /* torchrun, DeepSpeed, Accelerate */
		{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", NULL,
		 NULL},
		{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK", NULL,
		 NULL},
		{"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK",
		 "LSB_JOBID", NULL},
		{"PALS_RANKID", NULL, "PALS_LOCAL_RANKID", "PBS_JOBID", NULL},
		{"FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", "FLUX_JOB_ID", NULL},
		{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", NULL, NULL}, /* MPICH, Intel MPI */
		{"PMIX_RANK", NULL, NULL, NULL, NULL},
		{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_JOB_ID",
		 "SLURM_STEP_ID"},
		{"JOB_COMPLETION_INDEX", NULL, NULL, NULL, NULL}, /* Kubernetes */
	};
	struct gp_job_place place = {NULL, NULL, NULL, NULL};

	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		const char *rank = gp_job_variable(launchers[i].rank);

		if (place.job == NULL)
			place.job = gp_job_variable(launchers[i].job);
		if (launchers[i].needed != NULL && gp_job_variable(launchers[i].needed) == NULL)
			continue;
		if (rank == NULL || (place.rank != NULL && strcmp(rank, place.rank) != 0))
			continue;
		place.rank = rank;
		if (place.world_size == NULL)
			place.world_size = gp_job_variable(launchers[i].world_size);
		if (place.local_rank == NULL)
			place.local_rank = gp_job_variable(launchers[i].local_rank);
	}
	return place;
}

/* The rank as a number of at most nine digits; -1 = none, or not such a number. */
static inline long gp_job_rank(void)
{
	const char *rank = gp_job_place().rank;

	if (rank == NULL || strlen(rank) > 9 || rank[strspn(rank, "0123456789")] != '\0')
		return -1;
	return strtol(rank, NULL, 10);
}

/* Whether --ranks includes this process; also true if the launcher sets no (local) rank. */
static inline bool gp_job_is_included(const char *ranks)
{
	long rank;

	if (ranks[0] == '\0') /* all ranks, as in most calls: the environment need not be read */
		return true;
	rank = gp_job_rank();
	if (rank >= 0 && strcmp(ranks, "node") == 0) {
		const char *local_rank = gp_job_place().local_rank;

		return local_rank == NULL || strcmp(local_rank, "0") == 0;
	}
	return rank < 0 || gp_option_ranks_have(ranks, (uint64_t)rank);
}

#endif
