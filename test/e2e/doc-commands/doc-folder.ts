import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { createWorld, worldSkillFolder } from 'skillopt/sim';
import { parse, stringify } from 'yaml';
import { runCli } from '../../../src/cli/index.ts';
import { captureIo } from '../../support/capture-io.ts';
import { claudeSession } from '../../support/sleep/sleep-home.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { miniClaude } from '../../unit/cli/agent-target/mini-claude.ts';
import type { FarSide } from './far-side.ts';

type Files = Readonly<Record<string, string>>;

const world = createWorld({ train: 24, val: 18, test: 18 });
const rows = [...world.items.train, ...world.items.val, ...world.items.test];
const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
const CSV = ['Prompt,Expected', ...rows.map((row) => [row.question, row.answers[0]!].map(cell).join(','))].join('\n');

const models = (url: string) =>
  `target: compatible:sim-target@${url}\noptimizer: compatible:sim-optimizer@${url}\nnumEpochs: 1\n`;

const PROMPTFOO = {
  prompts: ['{{question}}'],
  tests: rows.map(({ question, answers }) => ({
    vars: { question },
    assert: [{ type: 'contains', value: answers[0] }],
  })),
};

const EVALS = rows.map(({ question, answers }, index) => ({
  ...{ id: index + 1, prompt: question, expected_output: 'The fact in the form of the house.' },
  expectations: [`The answer gives the fact as "${answers[0]}"`],
}));

const SKILLOPT_CONFIG = {
  model: { backend: 'openai_compatible', target: 'sim-target', optimizer: 'sim-optimizer' },
  train: { num_epochs: 1, batch_size: 24, seed: 42 },
  env: { name: 'searchqa', skill_init: 'SKILL.md', split_mode: 'split_dir', split_dir: 'data' },
};

const PDF_SKILL = `---
name: pdf
description: How to fill in a form with data.
---

# Forms

DO: cp person.json form.pdf
`;

const formTask = (number: number) => ({
  ...{ id: `form-${number}`, prompt: `Fill in form ${number} with the data.`, from: 'fixtures/forms' },
  ...{ verify: 'test -s form.pdf', split: ['train', 'val', 'test'][number % 3] },
});

/** Files of a folder, by the name that pages use. Those below `../home` are in the home of the reader. */
const FIXTURES: Readonly<Record<string, (far: FarSide) => Files>> = {
  empty: () => ({}),
  'own-skill': () => ({ 'my-skill/SKILL.md': world.initialSkill, 'my-skill/questions.csv': CSV }),
  'task-file': () => ({ 'tasks.csv': CSV }),
  'skill-without-tasks': ({ drafter }) => {
    const folder = worldSkillFolder(createWorld({ seed: 5, train: 24, val: 12, test: 24 }));
    const files = Object.entries(folder).map(([name, text]) => [`skills/pdf/${name}`, text]);
    return { ...Object.fromEntries(files), 'skillopt.config.yaml': `tasks: tasks.jsonl\n${models(drafter)}` };
  },
  'skill-in-git': ({ models: url }) => ({
    'SKILL.md': world.initialSkill.replace(/\n*$/, `\n\n${world.rules.map(({ text }) => `- ${text}`).join('\n')}\n`),
    'questions.csv': CSV,
    'skillopt.config.yaml': `tasks: questions.csv\nskill: SKILL.md\n${models(url)}`,
  }),
  'own-env': () => ({ 'my-skill/SKILL.md': world.initialSkill }),
  promptfoo: () => ({ 'promptfooconfig.yaml': stringify(PROMPTFOO), 'my-skill/SKILL.md': world.initialSkill }),
  'skill-creator': () => ({
    'SKILL.md': world.initialSkill,
    'evals/evals.json': JSON.stringify({ skill_name: 'house-style', evals: EVALS }),
  }),
  'skillopt-yaml': () => ({
    'configs/searchqa/default.yaml': stringify(SKILLOPT_CONFIG),
    'SKILL.md': world.initialSkill,
    ...Object.fromEntries(
      Object.entries(world.items).map(([split, items]) => [`data/${split}/items.json`, JSON.stringify(items)]),
    ),
  }),
  agent: () => ({
    'skills/pdf/SKILL.md': PDF_SKILL,
    'fixtures/forms/person.json': '{"name": "Ada"}\n',
    'tasks.jsonl': Array.from({ length: 6 }, (_, n) => JSON.stringify(formTask(n))).join('\n'),
    '../home/.claude/skills/notes/SKILL.md': PDF_SKILL.replaceAll('pdf', 'notes'),
    '../bin/claude': miniClaude(),
  }),
  // Which tasks are held out hangs on the path of the folder: half of many are enough for a proof, wherever it lies.
  sessions: ({ night }) => ({ '../state/config.yaml': `target: "compatible:m@${night}"\nvalFraction: 0.5\n` }),
};

/** Requests that have no word in common but those that all requests have. */
const TOPICS = Array.from({ length: 36 }, (_, n) => ['ab', 'ek', 'ir', 'ot', 'um'].map((end) => `${wordOf(n)}${end}`));

function wordOf(number: number): string {
  const [consonants, vowels] = ['bdfgklmnprstvz', 'aeiou'];
  return `${consonants[number % 14]}${vowels[number % 5]}${consonants[(number * 3 + 1) % 14]}${vowels[(number * 2) % 5]}`;
}

/** Sessions of Claude Code in the folder, of the last two days. */
function sayThings(home: string, cwd: string): void {
  for (const [at, topic] of TOPICS.entries()) {
    const turns = [
      ['user', `Write a note about ${topic.join(' ')}.`],
      ['assistant', 'Here it is.'],
      ['user', 'Not good: end your answer with DONE, please.'],
      ['assistant', 'Here it is. DONE'],
    ] as const;
    const file = join(home, `.claude/projects/p/s-${at}.jsonl`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, claudeSession({ cwd, id: `s-${at}`, turns, endedHoursAgo: 2 + at }));
    utimesSync(file, Date.now() / 1000 - 60, Date.now() / 1000 - 60);
  }
}

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], { cwd, stdio: 'ignore' });

/** A reader's folder with a home of its own, and commands typed there. `using` removes all of it. */
export async function openDocFolder(fixture: string, far: FarSide) {
  const root = tempFolder({ 'home/.keep': '', 'folder/.keep': '' });
  const [home, folder] = [join(root.path, 'home'), join(root.path, 'folder')];
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  const filesOf = FIXTURES[fixture === 'starter' ? 'empty' : fixture];
  if (!filesOf) throw new Error(`no fixture is called ${fixture}: ${Object.keys(FIXTURES).join(', ')}, starter`);
  mkdirSync(join(root.path, 'state'), { mode: 0o700 });
  for (const [name, text] of Object.entries(filesOf(far))) write(name, text);
  if (fixture === 'agent') chmodSync(join(root.path, 'bin/claude'), 0o755);
  if (fixture === 'sessions') sayThings(home, folder);
  if (fixture === 'skill-in-git') {
    git(folder, 'init', '--quiet', '--initial-branch', 'main');
    git(folder, 'add', '.');
    git(folder, 'commit', '--quiet', '--message', 'A skill');
  }
  const env = {
    ...{ HOME: home, SKILLOPT_HOME: join(root.path, 'state'), NO_COLOR: '1' },
    PATH: [join(root.path, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
    ...{ OPENAI_API_KEY: 'dummy-key', OPENAI_BASE_URL: far.models, OPENAI_COMPATIBLE_BASE_URL: far.models },
    ...{ ANTHROPIC_API_KEY: 'dummy-key', ANTHROPIC_BASE_URL: far.agentModel },
  };
  let cwd = folder;
  const type = async (line: string): Promise<{ code: number; printed: string }> => {
    const [program, ...args] = wordsOf(line);
    if (program === 'cd') {
      cwd = join(cwd, args[0]!);
      return { code: 0, printed: '' };
    }
    const io = captureIo({ cwd, env });
    const code = await runCli(skilloptArguments(line, [program!, ...args]), io);
    return { code, printed: `${io.out()}${io.err()}` };
  };
  if (fixture === 'starter') for (const line of ['npx skillopt init my-skill', 'cd my-skill']) await type(line);
  return { path: folder, env, cwd: () => cwd, write, type, [Symbol.dispose]: () => root[Symbol.dispose]() };
}

export type DocFolder = Awaited<ReturnType<typeof openDocFolder>>;

/** The commands of a block without what explains them. */
export const commandsOf = (text: string) =>
  text
    .replaceAll(/ \\\n */g, ' ')
    .split('\n')
    .map((line) => line.replace(/(^|\s+)#.*$/, ''))
    .filter((line) => line.trim() !== '');

/** What `npm start` calls. */
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };
const START = scripts.start.split('bin/skillopt.mjs ')[1]!.split(' ');

/** As a shell splits a plain command. */
const wordsOf = (line: string) =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) => double ?? single ?? plain!);

function skilloptArguments(line: string, [program, second, ...rest]: readonly string[]): readonly string[] {
  if (program === 'npx' && second === 'skillopt') return rest;
  if (program === 'skillopt') return second === undefined ? [] : [second, ...rest];
  if (line.trim() === 'npm start') return [...START, '--latency-ms', '0'];
  throw new Error(`cannot run this without a shell, so mark the block as shown: ${line}`);
}

/** A project file of a page with models that are played, and the home of its reader. Agents, and what needs none, stay. */
export function withPlayedModels(text: string, { models: url }: FarSide, home: string): string {
  const project = parse(text.replaceAll('~/', `${home}/`)) as Record<string, unknown>;
  const roles = ['target', 'optimizer', 'judge'].filter((role) => /^\w+:/.test(String(project[role])));
  const played = Object.fromEntries(roles.map((role) => [role, `compatible:sim-${role}@${url}`]));
  return stringify({ numEpochs: 1, ...project, ...played });
}
