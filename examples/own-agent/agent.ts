// Stands in for an agent of your own: a server that gets { skill, question } and answers with { answer }.
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { simulatedTarget } from 'skillopt/sim';

const model = simulatedTarget();

const server = createServer(async (request, response) => {
  const { skill, question } = (await json(request)) as { skill: string; question: string };
  const { text } = await model.complete({
    messages: [
      { role: 'system', content: skill },
      { role: 'user', content: `Question: ${question}` },
    ],
  });
  response.end(JSON.stringify({ answer: text }));
});

server.listen(Number(process.env.PORT ?? 8787), '127.0.0.1', () => {
  const { port } = server.address() as { port: number };
  console.log(`http://127.0.0.1:${port}/`);
});
