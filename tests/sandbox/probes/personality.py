"""The personality that weakens memory layout cannot be set."""

refused("ADDR_NO_RANDOMIZE", 135, 0x0040000)
refused("READ_IMPLIES_EXEC", 135, 0x0400000)
refused("MMAP_PAGE_ZERO", 135, 0x0100000)
