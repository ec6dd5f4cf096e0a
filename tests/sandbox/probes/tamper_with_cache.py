"""The cache of fonts that sessions share is read-only."""

for path in ("/var/cache/sandkeep/matplotlib/matplotlibrc", "/var/cache/sandkeep/evil"):
    must_fail(path, lambda: open(path, "w"))
must_fail("replace", lambda: os.remove("/var/cache/sandkeep/matplotlib/matplotlibrc"))
must_fail("through the link", lambda: open(os.environ["MPLCONFIGDIR"] + "/matplotlibrc", "a"))
