"""fanotify is refused."""

refused("fanotify_init", 300, 0, 0)
refused("fanotify_init unprivileged", 300, 0x200, 0)
