// Drives @modelcontextprotocol/sdk (1.x): over HTTP, or over the bridge's standard input and output. Prints what it saw, as JSON.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ResourceUpdatedNotificationSchema, ResourceListChangedNotificationSchema, LoggingMessageNotificationSchema,
  CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';

const { scenario, over = 'http', binary, folder, code, path = '/mcp', calls } = JSON.parse(process.env.ARGUMENTS);
const url = new URL(process.env.SANDKEEP_URL + path);
const headers = { Authorization: `Bearer ${process.env.SANDKEEP_KEY}` };

async function connect(options = {}) {
  const client = new Client({ name: 'sdk-test', version: '1.0.0' }, { capabilities: {} });
  const transport = over === 'stdio'
    ? new StdioClientTransport({ command: binary, args: ['mcp', ...(folder ? ['--files', folder] : [])],
        env: { SANDKEEP_SERVER: process.env.SANDKEEP_URL, SANDKEEP_KEY: process.env.SANDKEEP_KEY, HOME: '/tmp', PATH: process.env.PATH } })
    : new StreamableHTTPClientTransport(url, { requestInit: { headers }, ...options });
  await client.connect(transport);
  return { client, transport };
}

const text = (result) => result.content.filter((block) => block.type === 'text').map((block) => block.text).join('\n');
const until = async (condition) => { while (!condition()) await new Promise((done) => setTimeout(done, 20)); };

const scenarios = {
  async story() {
    const { client, transport } = await connect();
    const call = async (name, args = {}) => {
      const result = await client.callTool({ name, arguments: args });
      if (result.isError) throw new Error(`${name}: ${text(result)}`);
      return result;
    };
    const name = `story ${over}`;
    const { tools } = await client.listTools();
    const workspace = (await call('create_workspace', { name })).structuredContent.id;
    await call('write_file', { workspace, path: 'data/sales.csv', text: 'month,amount\njan,3\nfeb,4\n' });
    const code = "import csv\nrows = list(csv.DictReader(open('/mnt/data/sales.csv')))\n"
      + "open('/mnt/data/total.txt', 'w').write(str(sum(int(r['amount']) for r in rows)))\nlen(rows)";
    const run = await call('run_python', { workspace, code });
    const found = (await call('search', { workspace, query: 'total' })).structuredContent.matches;
    const locked = (await call('lock', { workspace, action: 'acquire', path: 'data/total.txt', purpose: 'a check' })).structuredContent;
    const refused = await client.callTool({ name: 'write_file', arguments: { workspace, path: 'data/total.txt', text: '8' } });
    const changed = (await call('edit_file', { workspace, path: 'data/total.txt', lock_token: locked.lock_token,
      edits: [{ old: '7', new: 'seven' }] })).structuredContent;
    const versions = (await call('versions', { workspace, path: 'data/total.txt' })).structuredContent.versions;
    const restored = (await call('restore', { workspace, version: versions.at(-1).version_id, lock_token: locked.lock_token })).structuredContent;
    await call('lock', { workspace, action: 'release', lock_token: locked.lock_token });
    const read = (await call('read_file', { workspace, path: '/mnt/data/total.txt' })).structuredContent;
    const activity = (await call('activity', { workspace, limit: 50 })).structuredContent.events.map((event) => event.kind);
    await client.close();
    return { tools: tools.map((tool) => tool.name), run, found, refused, changed, versions, restored, read, activity,
      protocol: transport.protocolVersion ?? client.getServerVersion().name };
  },

  async sessions_last() {
    const { client } = await connect();
    const run = (args) => client.callTool({ name: 'run_python', arguments: args });
    await run({ code: 'x = 41' });
    const same = await run({ code: 'x + 1' });
    const other = await run({ code: 'x', session: 'another' });
    const shell = await client.callTool({ name: 'run_shell', arguments: { command: 'echo $((40 + 2)); exit 3' } });
    const again = await run({ code: 'x', session: same.structuredContent.session });
    await client.close();
    return { same, other, shell, again };
  },

  // After listTools, the client checks structured content against the tool's output schema, and throws if it does not match.
  async failures() {
    const { client } = await connect();
    const { tools } = await client.listTools();
    const seen = [];
    for (const { name } of tools)
      for (const args of [{ nonsense: 1 }, ...(calls[name] ?? [])])
        seen.push({ name, args, ...await client.callTool({ name, arguments: args }).catch((error) => ({ threw: error.message })) });
    await client.close();
    return seen;
  },

  async refused_key() {
    return { said: await connect().then(() => 'connected', (error) => error.message) };
  },

  async progress_and_logs() {
    const { client } = await connect();
    const logs = [], progress = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, (message) => { logs.push(message.params); });
    await client.setLoggingLevel('info');
    const result = await client.callTool({ name: 'run_python', arguments: {
      code: 'import time\nfor i in range(3):\n    print("step", i, flush=True)\n    time.sleep(0.3)' } },
    CallToolResultSchema, { onprogress: (step) => progress.push(step) });
    await client.close();
    return { result, progress, logs };
  },

  async cancellation() {
    const { client } = await connect();
    const code = 'import time\nprint("begun", flush=True)\ntime.sleep(600)';
    const controller = new AbortController();
    const outcome = client.callTool({ name: 'run_python', arguments: { code, session: 'cancelled' } }, CallToolResultSchema,
      { signal: controller.signal, onprogress: (step) => { if (step.message?.includes('begun')) controller.abort('enough'); } })
      .then(() => 'answered', (error) => String(error));
    const ended = await outcome;
    const next = await client.callTool({ name: 'run_python', arguments: { code: '"still here"', session: 'cancelled' } });
    await client.close();
    return { ended, next };
  },

  async resumption() {
    // The connection is cut by ourselves after the first event; the transport comes back with Last-Event-ID.
    let cut = 0, resumed = 0;
    const fetchAndCut = async (target, init) => {
      const answer = await fetch(target, init);
      if (init?.headers && new Headers(init.headers).get('last-event-id')) resumed += 1;
      const isRun = init?.method === 'POST' && String(init.body).includes('run_python');
      if (!isRun || !answer.body) return answer;
      const reader = answer.body.getReader();
      const body = new ReadableStream({
        async pull(controller) {
          const { value, done } = await reader.read();
          if (value) controller.enqueue(value);
          cut += 1;
          await reader.cancel().catch(() => {});
          controller.error(new Error('the connection was cut'));
        },
      });
      return new Response(body, { status: answer.status, headers: answer.headers });
    };
    const { client } = await connect({ fetch: fetchAndCut });
    const result = await client.callTool({ name: 'run_python', arguments: { code: 'import time\ntime.sleep(1.5)\n"after the cut"' } });
    await client.close();
    return { result, cut, resumed };
  },

  // The test kills the server while the first call runs, and starts it again.
  async restart() {
    const { client, transport } = await connect({ reconnectionOptions: {
      maxRetries: 1000, initialReconnectionDelay: 200, maxReconnectionDelay: 500, reconnectionDelayGrowFactor: 1 } });
    const session = transport.sessionId;
    const ended = await client.callTool({ name: 'run_python', arguments: { code } }, CallToolResultSchema, { timeout: 200_000 })
      .then(() => 'answered', (error) => ({ code: error.code, message: error.message }));
    const next = await client.callTool({ name: 'run_python', arguments: { code: 'open("/mnt/data/runs.txt").read()' } });
    await client.close();
    return { ended, next, same: transport.sessionId === session };
  },

  async resources() {
    const { client } = await connect();
    const updated = [];
    let listChanges = 0;
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, (message) => { updated.push(message.params.uri); });
    client.setNotificationHandler(ResourceListChangedNotificationSchema, () => { listChanges += 1; });
    const write = (path, body) => client.callTool({ name: 'write_file', arguments: { path, text: body } });
    const first = await write('data/res/watched.txt', 'one');
    const listed = [];
    let cursor;
    do {
      const page = await client.listResources(cursor ? { cursor } : {});
      listed.push(...page.resources);
      cursor = page.nextCursor;
    } while (cursor);
    const watched = listed.find((resource) => resource.title === 'data/res/watched.txt');
    await client.subscribeResource({ uri: watched.uri });
    await write('data/res/watched.txt', 'two');
    await until(() => updated.length > 0);
    await write(`data/res/new-${Date.now()}.txt`, 'new');
    await until(() => listChanges > 0);
    await client.unsubscribeResource({ uri: watched.uri });
    const now = await client.readResource({ uri: watched.uri });
    const link = first.content.find((block) => block.type === 'resource_link');
    const then = await client.readResource({ uri: link.uri });
    const { resourceTemplates } = await client.listResourceTemplates();
    const missing = await client.readResource({ uri: 'sandkeep://workspace/default/nowhere.txt' }).catch((error) => error.code);
    const paths = await client.complete({ ref: { type: 'ref/resource', uri: resourceTemplates[0].uriTemplate },
      argument: { name: 'path', value: 'data/res/w' }, context: { arguments: { ws: 'default' } } });
    const { prompts } = await client.listPrompts();
    const prompt = await client.getPrompt({ name: 'analyse_file', arguments: { path: 'data/res/watched.txt' } });
    await client.close();
    return { watched, updated, now, then, link, missing, paths, templates: resourceTemplates.length, prompts: prompts.map((p) => p.name), prompt };
  },

  async local_upload() {
    const { client } = await connect();
    const { tools } = await client.listTools();
    const offered = 'local_path' in tools.find((tool) => tool.name === 'upload').inputSchema.properties;
    const upload = (local_path) => client.callTool({ name: 'upload', arguments: { path: 'data/from-disk.bin', local_path } });
    const allowed = await upload(`${folder}/here.bin`);
    const refused = await upload('/etc/hostname');
    const sneaky = await upload(`${folder}/link`);
    await client.close();
    return { offered, allowed, refused, sneaky };
  },

  async tasks() {
    const { client } = await connect();
    const steps = [];
    const stream = client.experimental.tasks.callToolStream({ name: 'run_python', arguments: { code: 'import time\ntime.sleep(1)\n6 * 7' } },
      CallToolResultSchema, { task: { ttl: 60000 } });
    let result;
    for await (const message of stream) {
      steps.push(message.type);
      if (message.type === 'result') result = message.result;
      if (message.type === 'error') throw message.error;
    }
    const listed = await client.experimental.tasks.listTasks();
    await client.close();
    return { steps, result, listed };
  },
};

console.log(JSON.stringify(await scenarios[scenario]()));
process.exit(0);
