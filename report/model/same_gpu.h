/*
 * same_gpu: whether devices of two processes are one GPU.
 *
 * Two processes may number one GPU differently, and two GPUs alike (CUDA_VISIBLE_DEVICES, or each
 * on a machine of its own): UUIDs tell. Where one of them is not known, as in traces of
 * torch.profiler, which have neither that nor the machine, equal numbers are one GPU, unless they
 * are
 *  - of machines that are known to be two, or
 *  - of ranks that are two, and work on them both: a rank has its GPU for itself, which NCCL
 *    insists on (it refuses two ranks on one device).  Ranks that do share a GPU are shown as on
 *    two then: so each has its own figures right, while two GPUs taken for one have the work of
 *    both at once, and none is right. A GPU that a rank does not work on, but sees, is that of
 *    whoever does: all ranks of a machine list all of its GPUs.
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
 * What tells it apart from those that other processes number alike, as far as that is known:
 * "GPU-1b2c3d4e" (of the UUID the beginning, by which nvidia-smi and CUDA_VISIBLE_DEVICES tell,
 * too), "device 0 of rank 1", "device 0 on node7"; else "".
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

/* What a device of another process, which is the same, tells of a kept one: who works on it. */
void gp_gpu_learn(struct gp_gpu *kept, const struct gp_gpu *same);

#endif
