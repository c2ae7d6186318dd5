import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { simulatedOptimizer, simulatedTarget } from 'skillopt/sim';
import { type FakeAnswer, type FakeLLM, type FakeRequest, startFakeLLM } from 'skillopt/testing';
import { expect, it } from 'vitest';
import { runCli } from '../../../../src/cli/index.ts';
import { worldFiles } from '../../../e2e/project.ts';
import { captureIo } from '../../../support/capture-io.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { filesWith, spellingsOf, traces } from './spellings.ts';

const TARGET_KEY = 'tgt-4f9aQ2mX7bL0';
/** As long as those of OpenAI: in base64 and in hex it takes more than one line. */
const OPTIMIZER_KEY = `opt/K+7"3%aZ-901${'4f/9aQ2m+X7bL0zK'.repeat(9)}`;
const JUDGE_KEY = 'correcthorsebatterystaple';
const TENANT = 'tenant-77-of-a-customer';
const ALL = [TARGET_KEY, OPTIMIZER_KEY, JUDGE_KEY, TENANT];
const VARIABLES = { TARGET_KEY, OPTIMIZER_KEY, JUDGE_KEY };

type Answering = (request: FakeRequest) => FakeAnswer | Promise<FakeAnswer>;

/** A server whose replies, headers and errors hold all that it was sent to sign in with. */
async function startEcho(answering: Answering): Promise<FakeLLM> {
  const server: FakeLLM = await startFakeLLM(async (request) => {
    const key = String(server.headers.at(-1)!.authorization).replace(/^Bearer /, '');
    const echo = [key, String(request.tenant ?? '')].filter(Boolean).flatMap(spellingsOf).join(' ');
    const answer = await answering(request);
    const content = answer.content === undefined ? echo : withEcho(answer.content, echo);
    const toolCalls = [{ id: 'c', type: 'function', function: { name: 'log', arguments: JSON.stringify({ echo }) } }];
    const message = { role: 'assistant', content, tool_calls: toolCalls };
    const usage = { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 };
    const reply = { choices: [{ index: 0, finish_reason: 'stop', message }], usage };
    const head = { 'x-echo': encodeURIComponent(key), 'x-request-id': key };
    return answer.status === undefined
      ? { body: JSON.stringify(reply), headers: head }
      : { ...answer, content, headers: head };
  });
  return server;
}

/** JSON stays JSON: its texts have the echo. */
function withEcho(text: string, echo: string): string {
  try {
    return JSON.stringify(JSON.parse(text), (_, value) =>
      typeof value === 'string' && value.includes(' ') ? `${value} ${echo}` : value,
    );
  } catch {
    return `${text}\n${echo}`;
  }
}

const simulated = (model: { complete: ReturnType<typeof simulatedTarget>['complete'] }): Answering => {
  return async ({ messages }) => ({ content: (await model.complete({ messages: messages as never })).text });
};

const at = (model: string, { baseURL }: FakeLLM, apiKeyEnv: string, more: object = {}) => {
  return { provider: 'compatible', model, baseURL, apiKeyEnv, ...more };
};

const QUICK = { numEpochs: 1, batchSize: 4, minibatchSize: 4, maxRetries: 1, finalPasses: 0, gate: 'strict' };

type Started = { readonly folder: string; readonly argv: string };

async function skillopt({ folder, argv }: Started) {
  const { PATH } = process.env;
  const env = { PATH, HOME: folder, SKILLOPT_HOME: join(folder, '.state'), ...VARIABLES };
  const io = captureIo({ cwd: folder, env });
  const code = await runCli(argv.split(' '), io);
  return { code, printed: io.out() + io.err() };
}

const promptsOf = (...servers: FakeLLM[]) =>
  servers.flatMap(({ requests }) => requests.map(({ messages }) => JSON.stringify(messages))).join('\n');

it('keeps the keys that servers echo out of files, output and prompts', async () => {
  await using target = await startEcho(simulated(simulatedTarget()));
  await using optimizer = await startEcho(simulated(simulatedOptimizer()));
  const models = {
    target: at('sim-target', target, 'TARGET_KEY', { extraBody: { tenant: TENANT } }),
    optimizer: at('sim-optimizer', optimizer, 'OPTIMIZER_KEY'),
  };
  using folder = tempFolder(worldFiles({ ...QUICK, ...models }, { train: 4, val: 4, test: 2 }));
  const commands = ['train --json', 'train', 'show run', 'show run --json', 'eval --json', 'doctor'];
  for (const argv of commands) {
    const { code, printed } = await skillopt({ folder: folder.path, argv });
    expect([0, 1, 2], printed).toContain(code);
    expect(traces(printed, ALL), argv).toEqual([]);
  }
  expect(optimizer.requests.length).toBeGreaterThan(0);
  expect(traces(promptsOf(target, optimizer), ALL)).toEqual([]);
  expect(filesWith(folder.path, ALL, [join(folder.path, 'skillopt.config.json')])).toEqual([]);
});

const JUDGED = `
export default ({ defineEnv, z, judgeAnswer, judgedOutput }) => defineEnv({
  name: 'judged', schema: z.object({ id: z.string() }),
  items: { train: [{ id: 't' }], val: [{ id: 'v' }], test: [{ id: 'x' }] },
  initialSkill: '# Skill',
  async rolloutOne({ item, skill, target, judge, extras, signal }) {
    const messages = [{ role: 'system', content: skill }, { role: 'user', content: item.id }];
    const { text } = await target.complete({ messages, signal });
    const judged = judgedOutput(await judgeAnswer({ judge, question: item.id, answer: text, rubric: 'Any.', signal }));
    return { ...judged, predictedAnswer: text, extras: { ...judged.extras, login: extras.login } };
  },
});`;

it.each<[string, Answering, Answering]>([
  [
    'a judge',
    () => ({ content: 'an answer' }),
    () => ({ content: JSON.stringify({ score: 0.4, reason: 'So it is.' }) }),
  ],
  ['a judge that refuses', () => ({ content: 'an answer' }), () => ({ status: 400, content: 'No, this is wrong:' })],
  ['a target that refuses', () => ({ status: 500, content: 'Broken:' }), () => ({ content: '{"score": 1}' })],
  ['a target that refuses its key', () => ({ status: 401, content: 'Bad key:' }), () => ({ content: '{"score": 1}' })],
])('keeps the keys of this process out of what comes of %s', async (_, targeting, judging) => {
  await using target = await startEcho(targeting);
  await using judge = await startEcho(judging);
  const models = {
    target: at('m', target, 'TARGET_KEY', { extraBody: { tenant: TENANT } }),
    judge: at('j', judge, 'JUDGE_KEY'),
    optimizer: at('o', judge, 'OPTIMIZER_KEY'),
  };
  const login = 'Bearer hunter2-hunter2';
  const project = { env: './env.mjs', name: 'run', ...QUICK, ...models, extras: { login } };
  using folder = tempFolder({ 'env.mjs': JUDGED });
  const file = join(folder.path, 'skillopt.config.mjs');
  writeFileSync(file, `export default ${JSON.stringify(project)}`);
  const all = [...ALL, 'hunter2-hunter2'];
  for (const argv of ['eval --json --split val', 'calibrate --split val', 'train --json', 'train', 'show run --json']) {
    const { printed } = await skillopt({ folder: folder.path, argv });
    expect(traces(printed, all), argv).toEqual([]);
  }
  expect(target.requests.length).toBeGreaterThan(0);
  expect(traces(promptsOf(target, judge), all)).toEqual([]);
  expect(filesWith(folder.path, all, [file])).toEqual([]);
});
