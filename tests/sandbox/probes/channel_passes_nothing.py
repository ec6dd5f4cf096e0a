"""The channel to the server accepts no descriptors that the server would use, and gives none."""

import array
channel = socket.socket(fileno=os.dup(3))
must_fail("peer's credentials are not root's", lambda: (_ for _ in ()).throw(OSError(1, "x"))
          if struct.unpack("3i", channel.getsockopt(socket.SOL_SOCKET, 17, 12))[0] not in (1,) else "pid 1")
channel.setblocking(False)
must_fail("nothing to receive", lambda: channel.recvmsg(1, socket.CMSG_SPACE(64)))
channel.detach()
