// Every call of the API, each with its answer looked at field by field.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { all, answer, client, exec, OpenAI, refused, text, toFile, wanted } from "./openai.mjs";

const recent = (seconds) => Math.abs(Date.now() / 1000 - seconds) < 300;

const scenarios = {
  async containers() {
    const made = await client.containers.create({
      name: "the only one of its name", memory_limit: "1g", expires_after: { anchor: "last_active_at", minutes: 7 },
      network_policy: { type: "disabled" },
    });
    assert.match(made.id, /^cntr_[0-9a-f]{32}$/);
    assert.ok(recent(made.created_at) && recent(made.last_active_at));
    assert.deepEqual({ ...made, id: 0, created_at: 0, last_active_at: 0 }, {
      id: 0, object: "container", name: "the only one of its name", created_at: 0, status: "running", last_active_at: 0,
      expires_after: { anchor: "last_active_at", minutes: 7 }, memory_limit: "1g", network_policy: { type: "disabled" },
    });
    assert.deepEqual(await client.containers.retrieve(made.id), made);
    const listed = await client.containers.list({ name: made.name });
    assert.deepEqual(listed.data, [made]);
    assert.equal(listed.has_more, false);
    await client.containers.delete(made.id);
    await refused(client.containers.retrieve(made.id), 404, (e) => assert.ok(e instanceof OpenAI.NotFoundError));
    assert.deepEqual((await client.containers.list({ name: made.name })).data, []);
    await refused(client.containers.delete(made.id), 404);
  },

  async container_files() {
    const { id } = await client.containers.create({ name: "files" });
    const put = await client.containers.files.create(id, { file: await toFile(Buffer.from("a,b\n1,2\n"), "table.csv") });
    assert.match(put.id, /^cfile_[0-9a-f]{32}$/);
    assert.ok(recent(put.created_at));
    assert.deepEqual({ ...put, id: 0, created_at: 0, link: 0 },
      { id: 0, object: "container.file", container_id: id, created_at: 0, bytes: 8, path: "/mnt/data/table.csv", source: "user", link: 0 });
    const given = await client.files.create({ file: await toFile(Buffer.from("from the Files API"), "given.txt"), purpose: "user_data" });
    const copied = await client.containers.files.create(id, { file_id: given.id });
    assert.equal(copied.path, "/mnt/data/given.txt");
    const ran = await exec(id, "print(open('table.csv').read(), open('given.txt').read()); _ = open('out.txt', 'w').write('made')");
    assert.deepEqual(ran.outputs, [{ type: "logs", logs: "a,b\n1,2\n from the Files API\n" }]);
    const files = await all(client.containers.files.list(id));
    assert.deepEqual(files.map((f) => [f.path, f.source]),
      [["/mnt/data/out.txt", "assistant"], ["/mnt/data/given.txt", "user"], ["/mnt/data/table.csv", "user"]]);
    assert.deepEqual(await client.containers.files.retrieve(put.id, { container_id: id }), put);
    assert.equal(await text(await client.containers.files.content.retrieve(files[0].id, { container_id: id })), "made");
    await client.containers.files.delete(put.id, { container_id: id });
    await refused(client.containers.files.retrieve(put.id, { container_id: id }), 404);
    await refused(client.containers.files.content.retrieve(put.id, { container_id: id }), 404);
    assert.equal((await all(client.containers.files.list(id))).length, 2);
    const gone = await exec(id, "import os; print(sorted(os.listdir('.')))");
    assert.equal(gone.outputs[0].logs, "['given.txt', 'out.txt']\n");
    await refused(client.containers.files.create(id, { file_id: "file-" + "0".repeat(32) }), 404);
    await client.containers.delete(id);
  },

  async files() {
    for (const purpose of ["assistants", "batch", "fine-tune", "vision", "user_data", "evals"]) {
      const file = await client.files.create({ file: await toFile(Buffer.from(purpose), `${purpose}.txt`), purpose });
      assert.match(file.id, /^file-[0-9a-f]{32}$/);
      assert.ok(recent(file.created_at));
      assert.deepEqual({ ...file, id: 0, created_at: 0, link: 0 },
        { id: 0, object: "file", bytes: purpose.length, created_at: 0, filename: `${purpose}.txt`, purpose, status: "processed", link: 0 });
      assert.deepEqual(await client.files.retrieve(file.id), file);
      const listed = await all(client.files.list({ purpose }));
      assert.deepEqual(listed.find((f) => f.id === file.id), file);
      assert.ok(listed.every((f) => f.purpose === purpose));
      assert.equal(await text(await client.files.content(file.id)), purpose);
      assert.deepEqual(await client.files.delete(file.id), { id: file.id, object: "file", deleted: true });
      await refused(client.files.retrieve(file.id), 404);
      await refused(client.files.content(file.id), 404);
      assert.ok(!(await all(client.files.list({ purpose }))).some((f) => f.id === file.id));
    }
    const short = await client.files.create({
      file: await toFile(Buffer.from("x"), "short.txt"), purpose: "user_data", expires_after: { anchor: "created_at", seconds: 3600 },
    });
    assert.equal(short.expires_at, short.created_at + 3600);
    const [same, other] = await Promise.all(["one", "two"].map(async (content) =>
      client.files.create({ file: await toFile(Buffer.from(content), "same name.txt"), purpose: "user_data" })));
    assert.equal(await text(await client.files.content(same.id)), "one");
    assert.equal(await text(await client.files.content(other.id)), "two");
    const { id } = await client.containers.create({ name: "with files", file_ids: [same.id, other.id] });
    const read = await exec(id, "import os\nfor name in sorted(os.listdir('.')): print(name, open(name).read())");
    assert.equal(read.outputs[0].logs, "same name (2).txt two\nsame name.txt one\n");
    await client.containers.delete(id);
  },

  async uploads() {
    const parts = ["second half", "first half, "];
    const whole = parts[1] + parts[0];
    const begin = (bytes = whole.length) => client.uploads.create({ bytes, filename: "halves.txt", mime_type: "text/plain", purpose: "assistants" });
    const upload = await begin();
    assert.match(upload.id, /^upload_[0-9a-f]{32}$/);
    assert.equal(upload.expires_at, upload.created_at + 3600);
    assert.deepEqual([upload.object, upload.status, upload.bytes, upload.filename, upload.purpose],
      ["upload", "pending", whole.length, "halves.txt", "assistants"]);
    const sent = await Promise.all(parts.map(async (part) => client.uploads.parts.create(upload.id, { data: await toFile(Buffer.from(part)) })));
    for (const part of sent) {
      assert.match(part.id, /^part_[0-9a-f]{32}$/);
      assert.deepEqual([part.object, part.upload_id], ["upload.part", upload.id]);
    }
    const part_ids = [sent[1].id, sent[0].id];
    const md5 = createHash("md5").update(whole).digest("hex");
    await refused(client.uploads.complete(upload.id, { part_ids, md5: md5.replaceAll(/[0-9]/g, "a") }), 400, (e) => assert.equal(e.param, "md5"));
    await refused(client.uploads.complete(upload.id, { part_ids: [sent[0].id] }), 400, (e) => assert.equal(e.param, "part_ids"));
    const done = await client.uploads.complete(upload.id, { part_ids, md5 });
    assert.deepEqual([done.id, done.status, done.file.filename, done.file.bytes, done.file.purpose],
      [upload.id, "completed", "halves.txt", whole.length, "assistants"]);
    assert.equal(await text(await client.files.content(done.file.id)), whole);
    // A client that did not hear the answer asks again by itself.
    assert.equal((await client.uploads.complete(upload.id, { part_ids, md5 })).file.id, done.file.id);
    const other = await begin(3);
    await client.uploads.parts.create(other.id, { data: await toFile(Buffer.from("abc")) });
    assert.equal((await client.uploads.cancel(other.id)).status, "cancelled");
    await refused(client.uploads.parts.create(other.id, { data: await toFile(Buffer.from("abc")) }), 400);
    const many = await Promise.all(Array.from({ length: 40 }, async (_, i) => {
      const one = await begin(5);
      const { id } = await client.uploads.parts.create(one.id, { data: await toFile(Buffer.from(`no ${10 + i}`)) });
      return (await client.uploads.complete(one.id, { part_ids: [id] }, { maxRetries: 0 })).file.id;
    }));
    assert.equal(await text(await client.files.content(many[7])), "no 17");
    const empty = await begin(0);
    assert.equal((await client.uploads.complete(empty.id, { part_ids: [] })).file.bytes, 0);
  },

  async exec() {
    const { id } = await client.containers.create({ name: "exec" });
    const plot = await exec(id, "import matplotlib.pyplot as plt\nprint('before')\nplt.plot([1, 2]); plt.show()\n6 * 7");
    assert.match(plot.id, /^ci_[0-9a-f]{32}$/);
    assert.deepEqual([plot.object, plot.container_id, plot.status, plot.error, plot.not_kept], ["container.exec", id, "completed", null, []]);
    assert.deepEqual(plot.outputs.map((o) => o.type), ["logs", "image", "logs"]);
    assert.match(plot.outputs[1].url, /^data:image\/png;base64,iVBOR/);
    assert.equal(plot.outputs[2].logs, "42\n");
    assert.equal(plot.files.length, 1);
    const picture = Buffer.from(plot.outputs[1].url.split(",")[1], "base64");
    const kept = await client.containers.files.content.retrieve(plot.files[0].id, { container_id: id });
    assert.deepEqual(Buffer.from(await kept.arrayBuffer()), picture);
    const failed = await exec(id, "1 / 0");
    assert.deepEqual([failed.status, failed.error.name], ["completed", "ZeroDivisionError"]);
    assert.match(failed.outputs[0].logs, /division by zero/);
    const slow = await exec(id, "import time; time.sleep(60)", { timeout_s: 1 });
    assert.deepEqual([slow.status, slow.error.name], ["incomplete", "timeout"]);
    assert.equal((await exec(id, "echo $((6 * 7))", { language: "bash" })).outputs[0].logs, "42\n");
    await refused(exec(id, 7), 400, (e) => assert.equal(e.param, "code"));
    await client.containers.delete(id);
  },

  async names() {
    const names = ["with space.txt", "Café à la crème.csv", "数据 分析.csv", "🎉 party 🐍.txt", "a'b\"c.txt", "100% #1?&=+;.txt", "ü".repeat(127), "-rf"];
    const { id } = await client.containers.create({ name: "names 数据 🎉" });
    const made = [];
    for (const name of names) {
      const file = await client.containers.files.create(id, { file: await toFile(Buffer.from(`content of ${name}`), name) });
      assert.equal(file.path, `/mnt/data/${name}`);
      made.push(file.id);
    }
    const code = `import os\nnames = ${JSON.stringify(names)}\nassert set(names) == set(os.listdir('.')), os.listdir('.')\n` +
      "for name in names:\n    assert open(name).read() == f'content of {name}'\n    _ = open('made by code ' + name[:100], 'w').write(name)";
    const ran = await exec(id, code);
    assert.equal(ran.error, null);
    assert.deepEqual(new Set(ran.files.map((f) => f.path)), new Set(names.map((n) => "/mnt/data/made by code " + [...n].slice(0, 100).join(""))));
    for (const [i, name] of names.entries()) {
      const response = await client.containers.files.content.retrieve(made[i], { container_id: id });
      assert.equal(await text(response), `content of ${name}`);
      const disposition = response.headers.get("content-disposition");
      const spelled = /filename\*=UTF-8''([^;]+)/.exec(disposition);
      if (spelled) assert.equal(decodeURIComponent(spelled[1]), name);
      else assert.match(disposition, /filename=/);
      const file = await client.files.create({ file: await toFile(Buffer.from("x"), name), purpose: "user_data" });
      assert.equal((await client.files.retrieve(file.id)).filename, name);
    }
    await client.containers.delete(id);
  },
};

await scenarios[wanted.scenario]();
answer();
