// A process of its own, so that the client under test has a core to itself. Ends when its parent does.
import http from 'node:http';

const latencyMs = Number(process.argv[2]);
const content = `${'Some words of thought. '.repeat(43)}<answer>Paris</answer>`;
const body = JSON.stringify({
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 400, completion_tokens: 250, total_tokens: 650 },
});
const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };

const server = http.createServer((request, response) => {
  request.resume().on('end', () => setTimeout(() => response.writeHead(200, headers).end(body), latencyMs));
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
process.on('disconnect', () => process.exit());
