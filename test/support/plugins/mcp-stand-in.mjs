#!/usr/bin/env node
// Stands in for `skillopt mcp`: an MCP server on stdin and stdout with one tool. Appends a line about each start and each call to
// the file STAND_IN_LOG, if there is one.
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
const log = (row) => process.env.STAND_IN_LOG && appendFileSync(process.env.STAND_IN_LOG, `${JSON.stringify(row)}\n`);
log({ started: process.argv.slice(2), cwd: process.cwd(), path: process.env.PATH });

const tool = {
  name: 'sleep_status',
  description: 'What waits for the person: proposals, the last night, a job at work.',
  inputSchema: { type: 'object', properties: { project: { type: 'string' } }, required: ['project'] },
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
};

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'skillopt', version: process.env.STAND_IN_VERSION ?? version },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': ({ name, arguments: given }) => {
    log({ called: name, given });
    return { content: [{ type: 'text', text: `stand-in: no proposal waits in ${given?.project}` }] };
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const outcome = answer
    ? { result: answer(params ?? {}) }
    : { error: { code: -32601, message: `no method ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...outcome })}\n`);
});
