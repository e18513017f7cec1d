/*
 * same_gpu: whether devices of two processes are one GPU.
 *
 * Two processes may number one GPU differently, and two GPUs alike (CUDA_VISIBLE_DEVICES, or two
 * machines): UUIDs decide. If one of them is not known, as in traces of torch.profiler, which have
 * neither UUID nor machine, equal numbers are one GPU, unless they are
 *
 *  - of machines that are known to be two, or
 *  - of two ranks that both work on them: a rank has its own GPU, which NCCL insists on.
 *
 * Ranks that do share a GPU are then shown on two, each with right figures; two GPUs taken for one
 * would have wrong figures. A GPU that a rank sees, but does not work on, is that of the rank that
 * does: all ranks of a machine list all of its GPUs.
 */
#ifndef REPORT_MODEL_SAME_GPU_H
#define REPORT_MODEL_SAME_GPU_H

#include <stdbool.h>
#include <stdint.h>

struct gp_model;

/* A device as a process sees it. */
struct gp_gpu {
	uint8_t uuid[16]; /* zeros: not known */
	uint16_t device_id;
	/* the model's, or kept; NULL: not known */
	char *boot, *host;
	char *rank; /* of a process that works on it */
};

/* Its texts are the model's. */
struct gp_gpu gp_gpu_of(const struct gp_model *model, uint16_t device_id);

bool gp_gpu_has_uuid(const struct gp_gpu *gpu);

/*
 * The difference to GPUs with the same number in other processes, as far as known: "GPU-1b2c3d4e"
 * (the beginning of the UUID, as nvidia-smi and CUDA_VISIBLE_DEVICES use it), "device 0 of rank 1",
 * "device 0 on node7"; else "".
 */
#define GP_GPU_WHICH_BYTES 96
void gp_gpu_which(const struct gp_gpu *gpu, char text[GP_GPU_WHICH_BYTES]);

bool gp_gpu_is_same(const struct gp_gpu *a, const struct gp_gpu *b);

/*
 * Make its texts its own, for they are to be there longer than the model.  Returns 0 or -ENOMEM;
 * gp_gpu_free() in either case.
 */
int gp_gpu_keep(struct gp_gpu *gpu);
void gp_gpu_free(struct gp_gpu *gpu);

/* Adds to a known GPU the rank that works on it, by another process's device. */
void gp_gpu_learn(struct gp_gpu *kept, const struct gp_gpu *same);

#endif
