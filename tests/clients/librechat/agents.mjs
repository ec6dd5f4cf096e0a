// The code tools of @librechat/agents, pointed at the server by their environment variable, as LibreChat runs them: the node of a graph that
// runs tools puts the session and its files into the call.
import { createBashExecutionTool, createBashProgrammaticToolCallingTool, createCodeExecutionTool, createProgrammaticToolCallingTool } from '@librechat/agents';

const call = (tool, args, context = {}) => tool.invoke({ id: '1', name: tool.name, type: 'tool_call', args, ...context });
const told = async (promise) => promise.then(() => '', (error) => error.message);
const python = createCodeExecutionTool({});
const bash = createBashExecutionTool({});
const programmatic = createProgrammaticToolCallingTool({});

const first = await call(python, { lang: 'py', code: "x = 20\nopen('/mnt/data/made.txt', 'w').write('by agents')\nprint('ran')" });
const _injected_files = first.artifact.files.map((file) => ({ ...file, kind: 'user', resource_id: file.id }));
const context = { session_id: first.artifact.session_id, _injected_files };
const second = await call(python, { lang: 'py', code: "print(x + 1, open('/mnt/data/made.txt').read())" }, context);
const shell = await call(bash, { command: 'cat /mnt/data/made.txt' }, context);
const refused = await told(call(python, { lang: 'rs', code: 'fn main() {}' }));
const failed = await call(python, { lang: 'py', code: '1/0' });

const add = { name: 'add', description: 'Adds', schema: { type: 'object' }, invoke: async ({ a, b }) => a + b };
const toolDefs = [{ name: 'add', parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] } }];
const tools = await call(programmatic, { code: "import asyncio\nprint(x, await asyncio.gather(*(add(a=n, b=1) for n in range(3))))" },
  { ...context, toolMap: new Map([['add', add]]), toolDefs });
const scripted = await call(createBashProgrammaticToolCallingTool({}), { code: `echo "sum: $(add '{"a": 20, "b": 22}')"` },
  { ...context, toolMap: new Map([['add', add]]), toolDefs });

console.log(JSON.stringify({ first: { content: first.content, artifact: first.artifact }, second: second.content, shell: shell.content, refused,
  failed: failed.content, tools: tools.content, scripted: scripted.content }));
