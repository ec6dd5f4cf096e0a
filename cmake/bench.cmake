# Benchmark programs, built only when asked for.
add_executable(bench_blob_write EXCLUDE_FROM_ALL bench/blob_write.cpp)
target_precompile_headers(bench_blob_write REUSE_FROM sk_pch)
target_link_libraries(bench_blob_write PRIVATE sk_blobs)
