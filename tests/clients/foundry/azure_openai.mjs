// AzureOpenAI, which sends `api-key` and an api-version, at the address of the resource.
import assert from "node:assert/strict";
import { AzureOpenAI } from "openai";

const client = new AzureOpenAI({ endpoint: process.env.SANDKEEP_URL, apiKey: process.env.SANDKEEP_KEY, apiVersion: "2025-04-01-preview" });
const made = await client.containers.create({ name: "azure" });
const put = await client.containers.files.create(made.id, { file: new File(["hello"], "a.txt") });
const content = await client.containers.files.content.retrieve(put.id, { container_id: made.id });
assert.equal(Buffer.from(await content.arrayBuffer()).toString(), "hello");
await client.containers.delete(made.id);
console.log(JSON.stringify("ok"));
