// 200 MB in parts, several at once, and back.
import assert from "node:assert/strict";
import { createHash, randomFillSync } from "node:crypto";
import { answer, client, toFile } from "./openai.mjs";

const parts = Array.from({ length: 10 }, () => randomFillSync(Buffer.allocUnsafe(20_000_000)));
const md5 = createHash("md5"), sha256 = createHash("sha256");
for (const part of parts) { md5.update(part); sha256.update(part); }
const upload = await client.uploads.create({ bytes: 200_000_000, filename: "big.bin", mime_type: "application/octet-stream", purpose: "user_data" });
const ids = Array(parts.length);
const queue = [...parts.keys()].reverse();
await Promise.all([1, 2, 3, 4].map(async () => {
  for (let i; (i = queue.pop()) !== undefined;) ids[i] = (await client.uploads.parts.create(upload.id, { data: await toFile(parts[i]) })).id;
}));
const done = await client.uploads.complete(upload.id, { part_ids: ids, md5: md5.digest("hex") });
assert.deepEqual([done.status, done.file.bytes], ["completed", 200_000_000]);

const back = createHash("sha256");
for await (const piece of (await client.files.content(done.file.id)).body) back.update(piece);
const hash = back.digest("hex");
assert.equal(hash, sha256.digest("hex"));
answer({ sha256: hash, id: done.file.id });
