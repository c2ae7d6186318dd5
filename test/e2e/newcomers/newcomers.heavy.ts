import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import {
  createWorld,
  serveSim,
  simulatedJudge,
  simulatedOptimizer,
  simulatedTarget,
  worldSkillFolder,
} from 'skillopt/sim';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { programArgs } from '../../support/compiled.ts';
import { createNewcomer } from './newcomer.ts';

const FIRST = 'npx skillopt init --yes';
const world = createWorld({ train: 48, val: 48, test: 48 });
const { items, initialSkill, rules } = world;
const rows = [...items.train, ...items.val, ...items.test];
const SKILL = 'house-style/SKILL.md';

type Newcomer = {
  readonly skill?: string;
  readonly variables?: Readonly<Record<string, string>>;
  /** Solutions of one task are independent only where the same request is not always answered alike. */
  readonly variesRepeats?: boolean;
};

/** From the first command to the applied skill, and what stands in it then. */
async function becomeBetter(
  files: Readonly<Record<string, string>>,
  { skill = initialSkill, variables = {}, variesRepeats = false }: Newcomer = {},
) {
  const roles = { target: simulatedTarget(), optimizer: simulatedOptimizer(), judge: simulatedJudge() };
  await using models = await serveSim({ ...roles, variesRepeats });
  const reached = { OPENAI_BASE_URL: models.url, OPENAI_API_KEY: 'dummy-key', ...variables };
  await using newcomer = await createNewcomer({ ...files, [SKILL]: skill }, reached);
  const typed = await newcomer.follow(FIRST);
  const trained = typed.find(({ command }) => command.startsWith('npx skillopt train'))?.printed;
  expect(trained, typed.map(({ printed }) => printed).join('\n')).toMatch(/^Better: .*proven/m);
  const learned = await newcomer.read(SKILL);
  expect(learned.startsWith(skill.slice(0, skill.indexOf('---', 4)))).toBe(true);
  return { commands: typed.map(({ command }) => command), learned };
}

const truths = (skill: string) => rules.filter(({ text }) => skill.includes(text)).length;

const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;

it('(a) a skill folder and a CSV without ids', async () => {
  const lines = rows.map(({ question, answers }) => [question, answers[0]!].map(cell).join(','));
  const { commands, learned } = await becomeBetter({ 'questions.csv': `Prompt,Expected\n${lines.join('\n')}\n` });
  expect(commands).toEqual([FIRST, 'npx skillopt train', 'npx skillopt apply house-style']);
  expect(truths(learned)).toBeGreaterThan(rules.length / 2);
});

it('(b) a skill folder and nothing else: tasks are drafted', async () => {
  const folder = worldSkillFolder(world);
  const files = { 'house-style/examples.md': folder['examples.md'] };
  const { commands, learned } = await becomeBetter(files, { skill: folder['SKILL.md'], variesRepeats: true });
  expect(commands).toEqual([FIRST, 'npx skillopt tasks draft', 'npx skillopt train', 'npx skillopt apply house-style']);
  expect(truths(learned)).toBeGreaterThan(rules.length / 4);
});

it('(c) a skill folder with evals/evals.json', async () => {
  const evals = rows.map(({ question, answers }, index) => ({
    id: index + 1,
    prompt: question,
    expected_output: `The fact in the house's form.`,
    files: [],
    expectations: [`The answer gives the fact as "${answers[0]}"`],
  }));
  const file = JSON.stringify({ skill_name: 'house-style', evals }, null, 2);
  const { commands, learned } = await becomeBetter({ 'house-style/evals/evals.json': file });
  expect(commands).toEqual([FIRST, 'npx skillopt train', 'npx skillopt apply house-style']);
  expect(truths(learned)).toBeGreaterThan(rules.length / 2);
});

it('(d) a promptfoo config beside a skill', async () => {
  const tests = rows.map(({ question, answers }) => ({
    vars: { question },
    assert: [{ type: 'contains', value: answers[0] }],
  }));
  const config = { prompts: ['{{question}}'], providers: ['openai:chat:gpt-5.4-mini'], tests };
  const { commands, learned } = await becomeBetter({ 'promptfooconfig.yaml': stringify(config) });
  expect(commands).toEqual([FIRST, 'npx skillopt train', 'npx skillopt apply house-style']);
  expect(truths(learned)).toBeGreaterThan(rules.length / 2);
});

it('(e) an environment in TypeScript whose agent is reached over HTTP', async () => {
  const example = (name: string) => readFile(`examples/own-agent/${name}`, 'utf8');
  using agent = await startAgent();
  const files = { 'env.ts': await example('env.ts'), 'tasks.jsonl': await example('tasks.jsonl') };
  const variables = { AGENT_URL: agent.url };
  const { commands } = await becomeBetter(files, { skill: await example(SKILL), variables });
  expect(commands).toEqual([FIRST, 'npx skillopt train', 'npx skillopt apply house-style']);
});

it('(f) a config of SkillOpt with its folder of splits', async () => {
  const config = {
    model: { backend: 'openai_compatible', target: 'sim-target', optimizer: 'sim-optimizer' },
    train: { num_epochs: 3, batch_size: 16, seed: 42 },
    optimizer: { learning_rate: 4 },
    env: { name: 'searchqa', skill_init: SKILL, split_mode: 'split_dir', split_dir: 'data/split' },
  };
  const splits = Object.entries(items).map(([split, list]) => [`data/split/${split}/items.json`, JSON.stringify(list)]);
  const { commands, learned } = await becomeBetter({
    'searchqa.yaml': stringify(config),
    ...Object.fromEntries(splits),
  });
  expect(commands.map((command) => command.split(' ').slice(0, 3).join(' '))).toEqual([
    'npx skillopt init',
    'npx skillopt train',
    'npx skillopt apply',
  ]);
  expect(commands[1]).toContain('--config searchqa.yaml --target compatible:sim-target@http://127.0.0.1:');
  expect(truths(learned)).toBeGreaterThan(rules.length / 2);
});

/** The agent of the example, on a free port. */
async function startAgent() {
  const child = spawn(process.execPath, programArgs('examples/own-agent/agent.ts'), {
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout!.setEncoding('utf8'), 'data');
  return { url: String(line).trim(), [Symbol.dispose]: () => void child.kill() };
}
