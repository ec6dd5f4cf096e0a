// Drives @modelcontextprotocol/client (2.x) in the modern era: stateless requests, discovery, listening.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const { scenario, mode = 'auto' } = JSON.parse(process.env.ARGUMENTS);
const url = new URL(process.env.SANDKEEP_URL + '/mcp');
const requestInit = { headers: { Authorization: `Bearer ${process.env.SANDKEEP_KEY}` } };

async function connect() {
  const client = new Client({ name: 'client2-test', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return client;
}
const until = async (condition) => { while (!condition()) await new Promise((done) => setTimeout(done, 20)); };

const scenarios = {
  async basics() {
    const client = await connect();
    const { tools } = await client.listTools();
    const progress = [];
    const run = await client.callTool({ name: 'run_python', arguments: { code: 'print("hello", flush=True)\n1 + 1' } },
      { onprogress: (step) => progress.push(step) });
    const written = await client.callTool({ name: 'write_file', arguments: { path: 'data/modern.txt', text: 'modern' } });
    const link = written.content.find((block) => block.type === 'resource_link');
    const read = await client.readResource({ uri: link.uri });
    const unknown = await client.callTool({ name: 'no_such_tool', arguments: {} }).catch((error) => error.code);
    const version = client.getNegotiatedProtocolVersion?.();
    await client.close();
    return { tools: tools.map((tool) => tool.name), run, progress, read, unknown, version };
  },

  async listening() {
    const client = await connect();
    await client.callTool({ name: 'write_file', arguments: { path: 'data/listened.txt', text: 'one' } });
    const { resources } = await client.listResources();
    const uri = resources.find((resource) => resource.title === 'data/listened.txt').uri;
    const seen = [];
    client.setNotificationHandler('notifications/resources/updated', (message) => { seen.push(message.params.uri); });
    const subscription = await client.listen({ resourceSubscriptions: [uri] });
    await client.callTool({ name: 'write_file', arguments: { path: 'data/listened.txt', text: 'two' } });
    await until(() => seen.length > 0);
    await subscription.close();
    await client.close();
    return { uri, seen };
  },

  async cancellation() {
    const client = await connect();
    const controller = new AbortController();
    const ended = await client.callTool({ name: 'run_python', arguments: { session: 'modern cancel',
      code: 'import time\nprint("begun", flush=True)\ntime.sleep(600)' } },
    { signal: controller.signal, onprogress: (step) => { if (step.message?.includes('begun')) controller.abort('enough'); } })
      .then(() => 'answered', (error) => String(error));
    const next = await client.callTool({ name: 'run_python', arguments: { session: 'modern cancel', code: '"still here"' } });
    await client.close();
    return { ended, next };
  },
};

console.log(JSON.stringify(await scenarios[scenario]()));
process.exit(0);
