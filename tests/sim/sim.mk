# The simulated device: libcuda.so.1, libcudart.so.13, libcupti.so.13 and libnvidia-ml.so.1 in
# $(O)/sim, on a common libgpusim.so; sample programs in $(O)/programs; the device's own tests. Part
# of the root Makefile. Also usable alone: make -f tests/sim/sim.mk

O         ?= build
CUDA_HOME ?= /usr/local/cuda
NVCC      ?= $(CUDA_HOME)/bin/nvcc
WARNINGS  ?= -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
say       ?= @printf '  %-5s %s\n' $(1) '$(patsubst $(O)/%,%,$@)'
Q         ?= @

.PHONY: sim programs
sim:

SIM     := $(O)/sim
SIM_GEN := $(SIM)/gen

# No sanitizers here: programs without sanitizers load these libraries.
SIM_CFLAGS  := -std=c11 -D_GNU_SOURCE $(WARNINGS) -O2 -g -fPIC -I. -isystem $(CUDA_HOME)/include \
	-isystem $(CUDA_HOME)/extras/CUPTI/include -I$(SIM_GEN) -MMD -MP
SIM_LDFLAGS := -shared -Wl,-rpath,'$$ORIGIN' -Wl,-z,defs -L$(SIM)

SIM_CORE   := config clock meeting process call device stream event hostfunc memory graph capture errors
SIM_CUDA   := cuda_api cuda_init cuda_context cuda_memory cuda_copy cuda_stream cuda_module cuda_launch cuda_graph cuda_pool cuda_managed cuda_array cuda_ipc
SIM_CUDART := rt_api rt_init rt_register rt_device rt_memory rt_array rt_copy rt_stream rt_graph
SIM_CUPTI  := cupti_callback cupti_activity cupti_buffer cupti_record cupti_meta cupti_unified cupti_info cupti_calls cupti_clock cupti_profiler cupti_range_profiler cupti_pc_sampling cupti_unsupported
SIM_OBJECT  = $(patsubst %,$(SIM)/obj/%.o,$(1))

# ---- tables out of the CUDA headers ----
SIM_TABLES := $(addprefix $(SIM_GEN)/,sim_rt_impl.h sim_drv_impl.h sim_rt_wrappers.inc \
	sim_drv_wrappers.inc sim_rt_names.inc sim_drv_names.inc sim_versions.inc)
SIM_AWK     = awk -v domain=$(1) -v out=$(2) -f tests/sim/gen.awk

$(SIM_GEN)/sim_rt_%.h $(SIM_GEN)/sim_rt_%.inc: tests/sim/gen.awk
	@mkdir -p $(@D)
	$(Q)$(call SIM_AWK,rt,$*) $(CUDA_HOME)/include/cupti_runtime_cbid.h \
		$(CUDA_HOME)/include/generated_cuda_runtime_api_meta.h >$@

$(SIM_GEN)/sim_drv_%.h $(SIM_GEN)/sim_drv_%.inc: tests/sim/gen.awk
	@mkdir -p $(@D)
	$(Q)$(call SIM_AWK,drv,$*) $(CUDA_HOME)/include/cupti_driver_cbid.h \
		$(CUDA_HOME)/include/generated_cuda_meta.h >$@

$(SIM_GEN)/sim_versions.inc: tests/sim/gen.awk
	@mkdir -p $(@D)
	$(Q)$(call SIM_AWK,drv,versions) /dev/null $(CUDA_HOME)/include/cudaTypedefs.h >$@

# ---- libraries ----
$(SIM)/obj/%.o: tests/sim/%.c | $(SIM_TABLES)
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(SIM_CFLAGS) -c -o $@ $<
$(SIM)/obj/cupti_profiler.o $(SIM)/obj/cupti_range_profiler.o: SIM_CFLAGS += -Iinclude -Itests/sim/cxx
$(SIM)/obj/cuda_api.o: $(SIM_GEN)/sim_drv_wrappers.inc
$(SIM)/obj/rt_api.o: $(SIM_GEN)/sim_rt_wrappers.inc

SIM_LINK = $(Q)$(CC) $(SIM_LDFLAGS) -Wl,-soname,$(@F) -o $@ $(filter %.o,$^)

$(SIM)/libgpusim.so: $(call SIM_OBJECT,$(SIM_CORE))
	$(call say,LD)
	$(SIM_LINK) -lpthread

$(SIM)/libcuda.so.1: $(call SIM_OBJECT,$(SIM_CUDA)) tests/sim/libcuda.map | $(SIM)/libgpusim.so
	$(call say,LD)
	$(SIM_LINK) -Wl,--version-script=tests/sim/libcuda.map -lgpusim -ldl

$(SIM)/libcudart.so.13: $(call SIM_OBJECT,$(SIM_CUDART)) tests/sim/libcudart.map | $(SIM)/libcuda.so
	$(call say,LD)
	$(SIM_LINK) -Wl,--version-script=tests/sim/libcudart.map -lcuda -lgpusim

# Linked with -Bsymbolic, like the real one: its own calls reach its own functions, whatever is
# preloaded. Two more folders have a libcupti for tests of clients that look functions up: one
# without the functions that came after CUPTI 11.8, one without a function that every version has.
$(SIM)/libcupti.so.13: tests/sim/libcupti.map
$(SIM)/old/libcupti.so.13: tests/sim/libcupti_old.map
$(SIM)/broken/libcupti.so.13: tests/sim/libcupti_broken.map
$(addprefix $(SIM)/,libcupti.so.13 old/libcupti.so.13 broken/libcupti.so.13): \
		$(call SIM_OBJECT,$(SIM_CUPTI)) | $(SIM)/libgpusim.so
	@mkdir -p $(@D)
	$(call say,LD)
	$(SIM_LINK) -Wl,-rpath,'$$ORIGIN/..' -Wl,-Bsymbolic -Wl,--version-script=$(filter %.map,$^) -lgpusim

$(SIM)/libnvidia-ml.so.1: $(SIM)/obj/nvml.o tests/sim/libnvidia-ml.map | $(SIM)/libgpusim.so
	$(call say,LD)
	$(SIM_LINK) -Wl,--version-script=tests/sim/libnvidia-ml.map -lgpusim

# libcupti loads it from its folder; here it has nothing to do.
$(SIM)/libnvperf_host.so:
	$(call say,LD)
	$(SIM_LINK)

$(SIM)/libcuda.so: $(SIM)/libcuda.so.1
$(SIM)/libcudart.so: $(SIM)/libcudart.so.13
$(SIM)/libcupti.so: $(SIM)/libcupti.so.13
$(addprefix $(SIM)/,libcuda.so libcudart.so libcupti.so):
	$(Q)ln -sf $(<F) $@

sim: $(addprefix $(SIM)/,libcuda.so libcudart.so libcupti.so libnvidia-ml.so.1 libnvperf_host.so old/libcupti.so.13 broken/libcupti.so.13)

# ---- sample programs: the same sources run on a GPU ----
PROGRAMS   := $(patsubst tests/programs/%.cu,$(O)/programs/%,$(wildcard tests/programs/*.cu)) $(O)/programs/zoo
NVCC_FLAGS := -std=c++17 -O1 -cudart shared -Wno-deprecated-gpu-targets -Xcompiler -Wall,-Wextra

programs: sim $(PROGRAMS)

$(O)/programs/%: tests/programs/%.cu $(wildcard tests/programs/*.h)
	@mkdir -p $(@D)
	$(call say,NVCC)
	$(Q)$(NVCC) $(NVCC_FLAGS) $(PROGRAM_ARCH) -o $@ $< $(PROGRAM_LIBS)
# The program of `make demo`. The output names its source lines.
programs: $(O)/examples/heat
$(O)/examples/%: examples/%.cu
	@mkdir -p $(@D)
	$(call say,NVCC)
	$(Q)$(NVCC) $(NVCC_FLAGS) $(PROGRAM_ARCH) -g -o $@ $<
# The programs for the rules of advice. Tests search for their source lines.
RULES := $(patsubst tests/rules/%.cu,$(O)/rules/%,$(wildcard tests/rules/*.cu))
programs: $(RULES)
$(O)/rules/%: tests/rules/%.cu tests/rules/rule.h tests/programs/check.h | $(SIM)/libcuda.so
	@mkdir -p $(@D)
	$(call say,NVCC)
	$(Q)$(NVCC) $(NVCC_FLAGS) $(PROGRAM_ARCH) -g -I. -o $@ $< -L$(SIM) -lcuda
# This program loads its code repeatedly, which must not include compilation.
$(O)/rules/first-use: PROGRAM_ARCH := -arch=all-major
$(O)/programs/zoo: tests/gpu/zoo.cu
	@mkdir -p $(@D)
	$(call say,NVCC)
	$(Q)$(NVCC) $(NVCC_FLAGS) -arch=sm_90 -o $@ $<
# Code with line information, for tests of --stalls.
programs: $(O)/programs/waits.cubin
$(O)/tests/inject/cubin_lines_test: | $(O)/programs/waits.cubin
$(O)/programs/waits.cubin: tests/gpu/waits.cu tests/programs/check.h
	@mkdir -p $(@D)
	$(call say,NVCC)
	$(Q)$(NVCC) -std=c++17 -O1 -I. -lineinfo -cubin -arch=sm_90 -o $@ $<
# Clusters need code for compute capability 9.0.
$(O)/programs/cover $(O)/programs-static/cover: PROGRAM_ARCH := -gencode arch=compute_75,code=sm_75 \
	-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90]
# Tests search for its source lines.
$(O)/programs/leaks $(O)/programs-static/leaks: PROGRAM_ARCH := -g
$(O)/programs/driver: PROGRAM_LIBS := -L$(SIM) -lcuda
$(O)/programs/driver: | $(SIM)/libcuda.so
CUPTI_FOLDERS := -Xlinker -rpath,$(CUDA_HOME)/lib64:$(CUDA_HOME)/extras/CUPTI/lib64
$(O)/programs/client $(O)/programs-static/client: PROGRAM_LIBS := -L$(SIM) -lcupti $(CUPTI_FOLDERS)
$(O)/programs/lookup $(O)/programs-static/lookup: PROGRAM_LIBS := $(CUPTI_FOLDERS)
$(O)/programs/lookup $(O)/programs-static/lookup: tests/programs/client.cu
$(O)/programs/client $(O)/programs-static/client: | $(SIM)/libcupti.so

# ---- tests: plain programs on the simulated libraries ----
SIM_TESTS := $(patsubst %.c,$(O)/%,$(wildcard tests/sim/*_test.c))

$(SIM_TESTS): $(O)/tests/sim/%_test: tests/sim/%_test.c $(wildcard tests/sim/*.h) | sim
	@mkdir -p $(@D)
	$(call say,TEST)
	$(Q)$(CC) $(SIM_CFLAGS) -o $@ $< -L$(SIM) -Wl,-rpath,$(abspath $(SIM)) \
		-lcudart -lcuda -lcupti -lgpusim -lcmocka -lpthread

# An injection library that records what CUPTI reports, for the comparison with a real device.
SIM_RECORDER := $(O)/tests/sim/recorder.so
$(SIM_RECORDER): tests/sim/recorder.c
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(SIM_CFLAGS) -shared -o $@ $< -ldl -lpthread

.PHONY: sim-tests
sim-tests check-built: $(SIM_TESTS) $(SIM_RECORDER)
CHECKS += $(SIM_TESTS) tests/sim/parity_test.py

-include $(wildcard $(SIM)/obj/*.d)
