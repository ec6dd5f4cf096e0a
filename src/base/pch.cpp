// Gives the precompiled header a source file to belong to.
