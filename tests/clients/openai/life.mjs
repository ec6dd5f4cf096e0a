// Expiry and waking; ids after an overwrite, a rename and a deletion.
import assert from "node:assert/strict";
import { all, answer, client, exec, refused, text, wanted } from "./openai.mjs";

const content = async (container, file) => text(await client.containers.files.content.retrieve(file, { container_id: container }));

const scenarios = {
  async overwrite() {
    const { id } = await client.containers.create({ name: "overwritten" });
    const ids = [];
    for (const word of ["first", "second", "third"])
      ids.push((await exec(id, `_ = open('report.txt', 'w').write('${word}')`)).files[0].id);
    assert.equal(new Set(ids).size, 3);
    assert.deepEqual((await all(client.containers.files.list(id))).map((f) => f.id), [ids[2]]);
    const old = async () => {
      for (const [i, word] of ["first", "second", "third"].entries()) {
        assert.equal(await content(id, ids[i]), word);
        assert.equal(await text(await client.files.content("file-" + ids[i].slice(6))), word);
        assert.equal((await client.files.retrieve("file-" + ids[i].slice(6))).purpose, "assistants_output");
      }
    };
    await old();
    await exec(id, "import os; os.makedirs('archive'); os.rename('report.txt', 'archive/2026.txt')");
    await old();
    assert.equal((await client.containers.files.retrieve(ids[0], { container_id: id })).path, "/mnt/data/archive/2026.txt");
    await exec(id, "os.remove('archive/2026.txt')");
    await old();
    assert.deepEqual(await all(client.containers.files.list(id)), []);
    await client.containers.delete(id);
    await old();
    await refused(client.containers.files.list(id), 404);
    answer({ container: id, ids });
  },

  // Deleting an old id takes that id away and no other; deleting the newest trashes the file.
  async deletion() {
    const { id } = await client.containers.create({ name: "deleted" });
    const first = (await exec(id, "_ = open('a.txt', 'w').write('one')")).files[0];
    const second = (await exec(id, "_ = open('a.txt', 'w').write('two')")).files[0];
    await client.containers.files.delete(first.id, { container_id: id });
    await refused(client.containers.files.retrieve(first.id, { container_id: id }), 404);
    await refused(client.files.retrieve("file-" + first.id.slice(6)), 404);
    assert.equal(await content(id, second.id), "two");
    assert.equal((await exec(id, "print(open('a.txt').read())")).outputs[0].logs, "two\n");
    await client.files.delete("file-" + second.id.slice(6));
    await refused(client.containers.files.retrieve(second.id, { container_id: id }), 404);
    await refused(client.files.delete("file-" + second.id.slice(6)), 404);
    assert.equal((await exec(id, "import os; print(os.listdir('.'))")).outputs[0].logs, "[]\n");
    answer({ links: [first.link, second.link], container: id });
  },

  async expiry() {
    const { id } = await client.containers.create({ name: "expiring" });
    const made = await exec(id, "x = 1; _ = open('kept.txt', 'w').write('still here')");
    let now;
    do {
      await new Promise((resolve) => setTimeout(resolve, 250));
      now = await client.containers.retrieve(id);
    } while (now.status === "running");
    assert.equal(now.status, "expired");
    assert.equal((await client.containers.list({ name: "expiring" })).data[0].status, "expired");
    assert.deepEqual((await all(client.containers.files.list(id))).map((f) => f.id), [made.files[0].id]);
    assert.equal(await content(id, made.files[0].id), "still here");
    const woken = await exec(id, "print(open('kept.txt').read(), 'x' in globals())");
    assert.deepEqual([woken.woke, woken.outputs[0].logs], [true, "still here False\n"]);
    assert.equal((await client.containers.retrieve(id)).status, "running");
    assert.equal(await content(id, made.files[0].id), "still here");
    answer();
  },
};

await scenarios[wanted.scenario]();
