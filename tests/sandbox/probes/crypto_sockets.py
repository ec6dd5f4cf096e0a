"""AF_ALG is not there (CVE-2026-31431)."""

must_fail("AF_ALG", lambda: socket.socket(38, socket.SOCK_SEQPACKET))
