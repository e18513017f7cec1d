"""No GPU at all: nothing must be left behind, nothing printed."""
print(sum(i * i for i in range(100000)))
