# Completion of gpuprof and gpuprof-run for fish.
# FISH
