"""The Python that runs inside a sandbox: the zygote, and the kernel that each session forked from it becomes."""
