import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveSim, simulatedJudge, simulatedOptimizer, simulatedTarget } from 'skillopt/sim';
import { type FakeRequest, startFakeAgentLLM, startFakeLLM } from 'skillopt/testing';

/** The rule that a night can learn: with it in a document, every answer is right. */
const RULE = '- End every answer with DONE.';

/** What the reader of a page would reach over a network, played on this machine. `await using` stops it. */
export async function startFarSide() {
  const roles = { target: simulatedTarget(), optimizer: simulatedOptimizer(), judge: simulatedJudge() };
  const models = await serveSim(roles);
  const drafter = await serveSim({ ...roles, variesRepeats: true });
  const agentModel = await startFakeAgentLLM({ policy: 'follow' });
  const night = await startFakeLLM(answerAtNight);
  const agent = await startOwnAgent();
  return {
    /** `sim-target`, `sim-optimizer` and `sim-judge`. */
    models: models.url,
    /** The same, which answer a repeated request in another way: drafts need independent solutions. */
    drafter: drafter.url,
    /** The provider of agents with tools. */
    agentModel: agentModel.url,
    /** One model in all roles of a night. */
    night: night.baseURL,
    /** A reader's own agent. */
    agent: agent.url,
    async [Symbol.asyncDispose]() {
      for (const server of [models, drafter, agentModel, night, agent]) await server[Symbol.asyncDispose]();
    },
  };
}

export type FarSide = Awaited<ReturnType<typeof startFarSide>>;

/** Finds the request in a session, does a task as its documents say, or proposes the rule. */
function answerAtNight({ messages }: FakeRequest): string {
  const [system, asked] = [messages[0]!.content, messages.at(-1)!.content];
  if (system.startsWith('You are a coding agent at work'))
    return system.includes(RULE) ? 'As asked. DONE' : 'As asked.';
  const intent = /Write a note about [^.]*\./.exec(asked)?.[0];
  if (system.includes('turn it into practice tasks')) {
    return JSON.stringify({
      tasks: [{ intent, rubric: '', checks: [{ op: 'contains', arg: 'DONE' }], satisfied: false }],
    });
  }
  const patch = { reasoning: 'asked for', edits: [{ op: 'append', content: RULE }] };
  return JSON.stringify({ patch, ...patch });
}

/** Repeats the ticket that it is sent. */
async function startOwnAgent() {
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    response.end(`About your request: ${(JSON.parse(body) as { ticket: string }).ticket}`);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    return new Promise<void>((done) => server.close(() => done()));
  };
  return { url: `http://127.0.0.1:${port}/`, [Symbol.asyncDispose]: close };
}
