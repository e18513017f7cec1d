"""A program without a GPU: gpuprof must leave no files and print nothing on standard output."""
print(sum(i * i for i in range(100000)))
