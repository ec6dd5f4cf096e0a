"""Entry point of the archive that the launcher runs with Python: becomes a zygote."""

from sandkeep_runtime import zygote

zygote.main()
