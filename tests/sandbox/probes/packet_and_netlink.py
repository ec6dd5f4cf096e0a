"""Neither raw packets nor netlink."""

must_fail("AF_PACKET", lambda: socket.socket(17, socket.SOCK_RAW))
must_fail("AF_NETLINK", lambda: socket.socket(16, socket.SOCK_RAW))
must_fail("AF_VSOCK", lambda: socket.socket(40, socket.SOCK_STREAM))
must_fail("AF_KEY", lambda: socket.socket(15, socket.SOCK_RAW))
must_fail("AF_XDP", lambda: socket.socket(44, socket.SOCK_RAW))
must_fail("AF_RXRPC", lambda: socket.socket(33, socket.SOCK_DGRAM))
must_fail("AF_TIPC", lambda: socket.socket(30, socket.SOCK_SEQPACKET))
