"""Durability by order: reads the file operations that libfault.so recorded, and finds what a power cut could have lost although it was acknowledged.

The kernel keeps what a killed process wrote, so killing never shows a missing fsync. The order of operations does: at every moment this model knows which
bytes and which names a power cut may still lose. Before a rename the bytes of the file must be safe; before an answer, all bytes and all names.
"""

import os
import posixpath
import typing


class Operation(typing.NamedTuple):
    begin: int
    end: int
    thread: int
    name: str
    result: int
    path: str
    other: str


def read_record(path):
    operations = []
    with open(path, encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            begin, end, thread, name, result, at, other = line.rstrip("\n").split("\t")
            operations.append(Operation(int(begin), int(end), int(thread), name, int(result), at, other))
    return operations


class Rules:
    """What need not survive below a data folder, and what must not be deleted too early."""

    def __init__(self, data):
        self.data = os.path.realpath(data)
        self.catalog = f"{self.data}/catalog.db"
        self.log = f"{self.data}/catalog.db-wal"

    def bytes_may_be_lost(self, path):
        """Besides what may have no name: the database, whose pages are in the log until it was synced."""
        return path == self.catalog or self.name_may_be_lost(path)

    def name_may_be_lost(self, path):
        """Unfinished writes; the index of the log, which is made anew; the last seconds of the record of reads; the file that is locked and empty."""
        in_access = path.startswith(f"{self.data}/access/") and path.endswith(".open")
        return path.startswith(f"{self.data}/blobs/new/") or path.endswith("-shm") or in_access or path == f"{self.data}/lock"

    def is_blob(self, path):
        parts = posixpath.relpath(path, self.data).split("/")
        return len(parts) == 3 and parts[0] == "blobs" and parts[1] != "new"


class OrderChecker:
    """Plays a record back. `problems` are sentences."""

    def __init__(self, operations, data):
        self.rules = Rules(data)
        self.problems = []
        self.answers = 0
        self.renames = 0
        self.deleted_blobs = 0
        self._unsynced_bytes = {}  # path -> when the last write to it ended
        self._unsynced_names = {}  # path -> when the name appeared
        self._names = {}  # path -> when the name appeared, synced or not
        self._log_synced = 0  # when the last sync of the catalog's log began
        self._last_answer = 0
        moments = []
        for operation in operations:
            moments.append((operation.begin, 0, operation))
            moments.append((operation.end, 1, operation))
        for _, is_end, operation in sorted(moments, key=lambda moment: moment[:2]):
            (self._ends if is_end else self._begins)(operation)

    def finish(self):
        """The process has ended: from here on, everything counts as acknowledged."""
        self._check_all_safe("the end")
        return self

    def _problem(self, text):
        if text not in self.problems:
            self.problems.append(text)

    def _show(self, path):
        return posixpath.relpath(path, self.rules.data)

    def _check_all_safe(self, before):
        for path in self._unsynced_bytes:
            if not self.rules.bytes_may_be_lost(path):
                self._problem(f"{before}: the bytes of {self._show(path)} are not synced")
        for path in self._unsynced_names:
            if not self.rules.name_may_be_lost(path):
                self._problem(f"{before}: the directory of {self._show(path)} is not synced")

    def _begins(self, operation):
        if operation.name == "rename":
            self.renames += 1
            if operation.path in self._unsynced_bytes:
                self._problem(f"{self._show(operation.path)} is renamed before its bytes are synced")
        elif operation.name == "unlink" and self.rules.is_blob(operation.path) and operation.path in self._names:
            self._check_deleted_blob(operation.path)
        elif operation.name == "mark" or (operation.name == "answer" and 200 <= operation.result < 300):
            self.answers += 1
            self._check_all_safe("the answer" if operation.name == "answer" else operation.path)
            self._last_answer = operation.begin

    def _check_deleted_blob(self, path):
        self.deleted_blobs += 1
        packed = path + ".zst"
        if packed in self._names:
            if packed in self._unsynced_bytes:
                self._problem("a plain blob is deleted before the bytes of its compressed form are synced")
            if packed in self._unsynced_names:
                self._problem("a plain blob is deleted before the directory of its compressed form is synced")
            return
        # A file of this very request was never acknowledged. Another one goes only after its record.
        is_own = self._names[path] > self._last_answer
        record_is_gone = self._log_synced > self._last_answer and self.rules.log not in self._unsynced_bytes
        if self.rules.catalog in self._names and not is_own and not record_is_gone:
            self._problem("the file of a blob is deleted before its record")

    def _ends(self, operation):
        if operation.result < 0:
            return
        name, path, end = operation.name, operation.path, operation.end
        if name in ("write", "truncate", "allocate"):
            self._unsynced_bytes[path] = end
        elif name in ("create", "mkdir"):
            self._appears(path, end)
            if name == "create":
                self._unsynced_bytes[path] = end
        elif name == "link":
            self._appears(operation.other, end)
        elif name == "rename":
            self._unsynced_bytes.pop(operation.other, None)
            if path in self._unsynced_bytes:
                self._unsynced_bytes[operation.other] = self._unsynced_bytes.pop(path)
            self._disappears(path)
            self._appears(operation.other, end)
        elif name == "unlink":
            self._unsynced_bytes.pop(path, None)
            self._disappears(path)
        elif name in ("fsync", "fdatasync"):
            self._synced(operation, lambda file: file == path, lambda file: posixpath.dirname(file) == path)
        elif name == "syncfs":
            self._synced(operation, lambda _: True, lambda _: True)

    def _appears(self, path, when):
        self._names[path] = when
        self._unsynced_names[path] = when

    def _disappears(self, path):
        self._names.pop(path, None)
        self._unsynced_names.pop(path, None)

    def _synced(self, operation, has_its_bytes, has_its_name):
        """Only what ended before the sync began is safe."""
        if operation.path == self.rules.log:
            self._log_synced = operation.begin
        for unsynced, covers in ((self._unsynced_bytes, has_its_bytes), (self._unsynced_names, has_its_name)):
            for path in [path for path, when in unsynced.items() if covers(path) and when < operation.begin]:
                del unsynced[path]
