// Microsoft's client of Foundry projects, over TLS, with a credential that hands out our key as its token.
import assert from "node:assert/strict";
import { AIProjectClient } from "@azure/ai-projects";

const credential = { getToken: async () => ({ token: process.env.SANDKEEP_KEY, expiresOnTimestamp: Date.now() + 3_600_000 }) };
const endpoint = `${process.env.SANDKEEP_URL}/api/projects/my-project`;
const project = new AIProjectClient(endpoint, credential);
const text = async (response) => Buffer.from(await response.arrayBuffer()).toString("utf8");

const clients = [
  project.getOpenAIClient(),
  project.getOpenAIClient({ azureConfig: { agentName: "my-agent", allowPreview: true } }),
];
assert.ok(clients[0].baseURL.endsWith("/api/projects/my-project/openai/v1"));
assert.ok(clients[1].baseURL.endsWith("/api/projects/my-project/agents/my-agent/endpoint/protocols/openai"));
const seen = [];
for (const client of clients) {
  const made = await client.containers.create({ name: "foundry" });
  assert.equal(made.expires_after.minutes, 30);
  const file = new File(["Größe,数据\n1,2\n"], "数据 ü.csv");
  const put = await client.containers.files.create(made.id, { file });
  assert.equal(put.path, "/mnt/data/数据 ü.csv");
  const ran = await client.post(`/containers/${made.id}/exec`, { body: { code: "print(open('数据 ü.csv').read()); _ = open('out.txt', 'w').write('made')" } });
  assert.equal(ran.outputs[0].logs, "Größe,数据\n1,2\n\n");
  const files = [];
  for await (const one of client.containers.files.list(made.id)) files.push(one.path);
  assert.deepEqual(files, ["/mnt/data/out.txt", "/mnt/data/数据 ü.csv"]);
  assert.equal(await text(await client.containers.files.content.retrieve(ran.files[0].id, { container_id: made.id })), "made");
  const given = await client.files.create({ file: new File(["x"], "given.txt"), purpose: "assistants" });
  assert.equal(await text(await client.files.content(given.id)), "x");
  await client.files.delete(given.id);
  const missing = await client.containers.retrieve("cntr_" + "0".repeat(32)).catch((e) => e);
  assert.equal(missing.status, 404);
  seen.push({ container: made.id, file: ran.files[0].id });
}
// What one of them made, the other sees.
assert.equal((await clients[1].containers.retrieve(seen[0].container)).name, "foundry");
await clients[0].containers.delete(seen[1].container);

const stranger = new AIProjectClient(endpoint, { getToken: async () => ({ token: "wrong", expiresOnTimestamp: Date.now() + 3_600_000 }) });
const denied = await stranger.getOpenAIClient().containers.list().catch((e) => e);
assert.deepEqual([denied.status, denied.code], [401, "invalid_api_key"]);
console.log(JSON.stringify(seen[0]));
