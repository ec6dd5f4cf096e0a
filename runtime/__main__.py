"""What the launcher starts: Python runs this archive, and it becomes a zygote."""

from sandkeep_runtime import zygote

zygote.main()
