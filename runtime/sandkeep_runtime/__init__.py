"""Python code that runs inside a sandbox: the zygote, and the kernel of each session forked from it."""
