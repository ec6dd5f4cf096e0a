// What the scripts of this folder share: the client that the test asked for, pointed at its server.
import assert from "node:assert/strict";

export const wanted = JSON.parse(process.env.ARGUMENTS);

const library = await import(wanted.client);
export const { toFile } = library;
export const OpenAI = library.default;
export const client = new OpenAI({
  baseURL: process.env.SANDKEEP_URL + (wanted.base ?? "/v1"),
  apiKey: process.env.SANDKEEP_KEY,
});

// Ours: OpenAI's client has no method for it, but takes any path.
export const exec = (container, code, more = {}) => client.post(`/containers/${container}/exec`, { body: { code, ...more } });

export const text = async (response) => Buffer.from(await response.arrayBuffer()).toString("utf8");

export const all = async (page) => {
  const items = [];
  for await (const item of page) items.push(item);
  return items;
};

export const refused = async (promise, status, check = () => {}) => {
  const error = await promise.then(() => assert.fail("it was not refused"), (e) => e);
  assert.equal(error.status, status, String(error.stack));
  check(error);
  return error;
};

export const answer = (value) => console.log(JSON.stringify(value ?? null));
