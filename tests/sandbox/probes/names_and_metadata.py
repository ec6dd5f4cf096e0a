"""Neither names nor cloud metadata can be reached."""

import urllib.request
for host in ("example.com", "metadata.google.internal", "host.docker.internal"):
    must_fail(host, lambda: socket.getaddrinfo(host, 80))
for url in ("http://169.254.169.254/latest/meta-data/", "http://127.0.0.1:8420/", "http://1.1.1.1/", "http://[::1]/"):
    must_fail(url, lambda: urllib.request.urlopen(url, timeout=3).read())
