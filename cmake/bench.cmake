# Benchmark programs, built only when asked for.
add_executable(bench_blob_write EXCLUDE_FROM_ALL bench/blob_write.cpp)
target_precompile_headers(bench_blob_write REUSE_FROM sk_pch)
target_link_libraries(bench_blob_write PRIVATE sk_blobs)
# The peers and clients of bench/run. It uses none of the server's own code, so that it cannot share its mistakes.
add_executable(bench_peer EXCLUDE_FROM_ALL bench/peer.cpp)
target_link_libraries(bench_peer PRIVATE PkgConfig::OPENSSL sk_sqlite)
