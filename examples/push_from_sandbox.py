"""Pushed from inside: code in a session. Whatever it writes below /mnt/data is kept when the cell ends; `import sandkeep` is for those who
cannot wait for that, or want the link."""

import sandkeep

with open("progress.txt", "w") as out:
    out.write("half of it is done\n")
kept = sandkeep.keep("progress.txt")       # on disk now, also if the next line never ends
print("kept", kept["path"])

with open("progress.txt", "w") as out:
    out.write("all of it is done\n")
print("link", sandkeep.link("progress.txt"))
print("versions", len(sandkeep.versions("progress.txt")))
