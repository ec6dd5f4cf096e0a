// Lists of more than one page: everything comes once, in order, and the last page says that it is the last.
import assert from "node:assert/strict";
import { all, answer, client, exec } from "./openai.mjs";

const { id } = await client.containers.create({ name: "many files" });
const ran = await exec(id, "import os\nfor i in range(250):\n    with open(f'{i:03}.txt', 'w') as out: out.write(str(i))\nos.makedirs('deep/er')\n_ = open('deep/er/file.txt', 'w').write('deep')");
assert.equal(ran.files.length, 251);
const expected = [...Array(250).keys()].map((i) => `/mnt/data/${String(i).padStart(3, "0")}.txt`).concat("/mnt/data/deep/er/file.txt");

for (const query of [{}, { limit: 100 }, { limit: 7, order: "asc" }, { limit: 1, order: "desc" }, { limit: 100, order: "asc" }]) {
  const found = await all(client.containers.files.list(id, query));
  assert.deepEqual(found.map((f) => f.path).sort(), expected, JSON.stringify(query));
  const ids = found.map((f) => f.id);
  const sorted = [...ids].sort();
  assert.deepEqual(ids, query.order === "asc" ? sorted : sorted.reverse());
}
const page = await client.get(`/containers/${id}/files?limit=100`);
assert.deepEqual([page.object, page.data.length, page.has_more, page.first_id, page.last_id],
  ["list", 100, true, page.data[0].id, page.data[99].id]);
const last = await client.containers.files.list(id, { limit: 100, after: (await all(client.containers.files.list(id, { limit: 100 })))[199].id });
assert.deepEqual([last.data.length, last.has_more], [51, false]);

const outputs = await all(client.files.list({ purpose: "assistants_output", limit: 60 }));
const mine = outputs.filter((f) => ran.files.some((kept) => kept.id.slice(6) === f.id.slice(5)));
assert.equal(mine.length, 251);
await client.containers.delete(id);

const made = [];
for (let i = 0; i < 25; ++i) made.push((await client.containers.create({ name: i % 5 === 0 ? "every fifth" : "paged" })).id);
const newest = (await all(client.containers.list({ limit: 10 }))).map((c) => c.id).filter((c) => made.includes(c));
assert.deepEqual(newest, [...made].reverse());
const oldest = (await all(client.containers.list({ limit: 4, order: "asc" }))).map((c) => c.id).filter((c) => made.includes(c));
assert.deepEqual(oldest, made);
assert.deepEqual((await all(client.containers.list({ limit: 2, name: "every fifth" }))).map((c) => c.id), made.filter((_, i) => i % 5 === 0).reverse());
for (const one of made) await client.containers.delete(one);
answer();
