import { createWorld, worldSkillFolder } from 'skillopt/sim';
import type { FakeRequest } from 'skillopt/testing';
import { worldFiles } from '../../e2e/project.ts';
import { agentProject } from '../../unit/cli/agent-target/agent-project.ts';
import { appends } from '../scripted-run.ts';
import { tempFolder } from '../temp-folder.ts';

const line = (row: object) => `${JSON.stringify(row)}\n`;

/** Of the simulated world: with them, more tasks are right. */
const RULES = `
- Write durations as H:MM.
- Answer yes-or-no questions with 1 or 0.
- Write order ids with the prefix ORD, such as ORD-B-1042.
- Write phone numbers in E.164 form, such as +12125550123.
- Write temperatures in words, such as 12 degrees Celsius.
- Write weights with the unit spelled out, such as 2.35 kilograms.
`;

/** A project whose skill is a folder, with simulated models, and two documents to score. `using` removes it. */
export function simulatedProject() {
  const models = { target: 'simulated', optimizer: 'simulated' };
  const config = { numEpochs: 1, batchSize: 8, proposalsPerBatch: 1, skill: 'house-style', ...models };
  const { 'SKILL.md': skill = '', ...files } = worldFiles(config, { train: 16, val: 16, test: 12 });
  return tempFolder({ ...files, 'house-style/SKILL.md': skill, 'OLD.md': skill, 'NEW.md': skill + RULES });
}

const sums = (count: number) => [...Array(count).keys()].map((n) => [`What is ${n} plus 7?`, `${n + 7}`] as const);
const sumRows = (count: number) =>
  sums(count).map(([question, answers], n) => line({ id: `q${n}`, question, answers }));

const PROMPTFOO = `prompts: ['Answer: {{question}}']
providers: [openai:gpt-5-mini]
tests:
  - vars: { question: 'What is 2 plus 2?' }
    assert: [{ type: equals, value: '4' }]
  - vars: { question: 'Name a colour.' }
    assert: [{ type: icontains, value: red }]
`;

/** Folders in which somebody may begin, each with what is found there. */
export const beginnings = () =>
  tempFolder({
    'nothing/.keep': '',
    'some/pdf/SKILL.md': '---\nname: pdf\ndescription: Reads PDF files.\n---\nRead.\n',
    'some/questions.csv': ['question,answers', ...sums(40).map((row) => row.join(','))].join('\n'),
    'promptfoo/promptfooconfig.yaml': PROMPTFOO,
  });

/** A project that has a skill and no tasks, and files of tasks beside it. */
export function projectWithoutTasks() {
  const world = createWorld({ seed: 5, train: 24, val: 12, test: 24 });
  const skill = Object.entries(worldSkillFolder(world)).map(([name, text]) => [`house-style/${name}`, text]);
  const models = 'target: simulated\noptimizer: simulated\n';
  return tempFolder({
    'skillopt.config.yaml': `name: run\nskill: house-style\ntasks: tasks.jsonl\nnumEpochs: 1\n${models}`,
    'few.jsonl': sumRows(6).join(''),
    'sums.jsonl': [...sumRows(60), line({ question: 'what is 3 plus 7', answers: '11' })].join(''),
    ...Object.fromEntries(skill),
  });
}

/** One task for each split, for an agent with the rights of the caller. One worker: its calls are numbered. */
export function projectOfAgent(baseURL: string) {
  const verify = { command: 'sh check.sh', from: 'tests' };
  const tasks = ['train', 'val', 'test'].map((split) =>
    line({ id: split, split, prompt: 'Please count the teapots.', from: 'shop', verify }),
  );
  const pinned = {
    gate: undefined,
    finalPasses: undefined,
    proposalsPerBatch: undefined,
    batchSize: 4,
    minibatchSize: 4,
  };
  const config = { sandbox: 'none', workers: 1, ...pinned };
  return agentProject({ baseURL, config, files: { 'tasks.jsonl': tasks.join('') } });
}

const RULES_OF_NIGHT = ['- End every answer with DONE.', '- Be careful with every detail.'];

/** One model in all roles: the miner finds a task, the analyst proposes two rules, the agent says DONE when it reads both. */
export function answerOfNight({ messages }: FakeRequest): string {
  const system = messages[0]!.content;
  const isTold = RULES_OF_NIGHT.every((rule) => system.includes(rule));
  if (system.startsWith('You are a coding agent at work')) return isTold ? 'As asked. DONE' : 'As asked.';
  const tasks = [{ intent: 'Write a commit message', rubric: 'It has one short line.', satisfied: true }];
  return JSON.stringify({ ...appends(...RULES_OF_NIGHT), ...appends(...RULES_OF_NIGHT).patch, tasks });
}
