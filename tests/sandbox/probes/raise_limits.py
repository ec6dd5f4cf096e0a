"""Resource limits cannot be raised."""

import resource
for name in ("RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_CORE", "RLIMIT_MEMLOCK", "RLIMIT_NICE", "RLIMIT_RTPRIO", "RLIMIT_MSGQUEUE"):
    which = getattr(resource, name)
    soft, hard = resource.getrlimit(which)
    try:
        resource.setrlimit(which, (hard, resource.RLIM_INFINITY) if hard != resource.RLIM_INFINITY else (soft, hard))
        (held if hard == resource.RLIM_INFINITY and name == "RLIMIT_FSIZE" else escaped)(f"{name} raised from {hard}")
    except (ValueError, OSError) as error:
        held(f"{name} {hard}: {error}")
