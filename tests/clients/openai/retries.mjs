// Retries that the client makes by itself, after a time-out or a broken connection.
import assert from "node:assert/strict";
import { answer, client, exec, wanted } from "./openai.mjs";

const patient = { maxRetries: 12 };
const run = (container, code, options) => client.post(`/containers/${container}/exec`, { body: { code }, ...patient, ...options });
const logs = (ran) => ran.outputs.map((output) => output.logs ?? "").join("");

const scenarios = {
  // The code takes longer than the client waits: some of its attempts meet the run, and one finds its record.
  async patience() {
    const { id } = await client.containers.create({ name: "patience" });
    await exec(id, "x = 1");
    const code = "open('runs.txt', 'a').write('run ')\nimport time; time.sleep(4)\nprint('done')";
    let attempts = 0;
    const counting = client.withOptions({ timeout: 1500, ...patient, fetch: (url, init) => { attempts += 1; return fetch(url, init); } });
    const ran = await counting.post(`/containers/${id}/exec`, { body: { code } });
    assert.equal(ran.status, "completed");
    assert.match(logs(ran), /done/);
    assert.ok(attempts > 1);
    assert.match(logs(await exec(id, "print(open('runs.txt').read())")), /^run \n/);
    // The same code again is another request.
    const second = await run(id, code);
    assert.notEqual(second.id, ran.id);
    assert.match(logs(await exec(id, "print(open('runs.txt').read())")), /^run run \n/);
    await client.containers.delete(id);
    answer({ attempts });
  },

  // The server dies while the code runs; the test starts it again.
  async killed() {
    answer(await run(wanted.container, wanted.code, wanted.named ? { headers: { "Idempotency-Key": wanted.named } } : {}));
  },

  // An attempt that never reached the code is no reason to answer with an earlier run of the same code.
  async lost() {
    const { id } = await client.containers.create({ name: "lost" });
    const code = "open('runs.txt', 'a').write('run ')";
    const first = await exec(id, code);
    let failed = false;
    const unlucky = client.withOptions({ ...patient, fetch: (url, init) => {
      if (failed) return fetch(url, init);
      failed = true;
      throw new TypeError("the connection was refused");
    } });
    const second = await unlucky.post(`/containers/${id}/exec`, { body: { code } });
    assert.ok(failed);
    assert.notEqual(second.id, first.id);
    assert.match(logs(await exec(id, "print(open('runs.txt').read())")), /^run run \n/);
    await client.containers.delete(id);
    answer();
  },
};

await scenarios[wanted.scenario]();
