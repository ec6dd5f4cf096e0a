// The peer of the MCP benchmark: the least that a server on the official TypeScript SDK does. One tool that answers with a fixed text; sessions,
// and JSON instead of event streams, which is the SDK's fastest way. Prints its port.
import { randomUUID } from 'node:crypto';
import http from 'node:http';

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

const transports = new Map();

async function begin() {
  const server = new McpServer({ name: 'peer', version: '1.0.0' });
  server.registerTool('trivial', { description: 'Answers with a fixed text.' }, () => ({ content: [{ type: 'text', text: 'This is a simple text response for testing.' }] }));
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID, enableJsonResponse: true, onsessioninitialized: (id) => transports.set(id, transport),
  });
  await server.connect(transport);
  return transport;
}

const server = http.createServer((request, response) => {
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', async () => {
    const transport = transports.get(request.headers['mcp-session-id']) ?? await begin();
    await transport.handleRequest(request, response, pieces.length ? JSON.parse(Buffer.concat(pieces).toString()) : undefined);
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
