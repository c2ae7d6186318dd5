// Takes so many calls at once and refuses those beyond. Counts what it did, and tells when asked.
import http from 'node:http';

const [mostAtOnce, latencyMs, settling] = process.argv.slice(2).map(Number);
const body = JSON.stringify({
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Paris' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 40, completion_tokens: 1, total_tokens: 41 },
});
const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
const counts = { requests: 0, refused: 0, refusedLate: 0, answered: 0 };
let inFlight = 0;

const server = http.createServer((request, response) => {
  request.resume().on('end', () => (inFlight < mostAtOnce ? answer(response) : refuse(response)));
});

function answer(response) {
  counts.requests++;
  inFlight++;
  setTimeout(() => {
    inFlight--;
    counts.answered++;
    response.writeHead(200, headers).end(body);
  }, latencyMs);
}

function refuse(response) {
  counts.requests++;
  counts.refused++;
  if (counts.requests > settling) counts.refusedLate++;
  response.writeHead(429, { 'content-type': 'application/json' }).end('{"error":{"message":"too many"}}');
}

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
process.on('message', () => process.send(counts));
process.on('disconnect', () => process.exit());
