"""The network namespace has only a loopback that is down."""

lines = [line.split(":")[0].strip() for line in open("/proc/self/net/dev") if ":" in line]
(held if lines == ["lo"] else escaped)(f"interfaces {lines}")
routes = open("/proc/self/net/route").read().splitlines()[1:]
(held if routes == [] else escaped)(f"routes {routes}")
