import { join } from 'node:path';
import { toFact } from 'skillopt';
import { type SimServer, serveSim, simulatedOptimizer, simulatedTarget } from 'skillopt/sim';
import { readJournal } from '../../../src/stores/run/journal.ts';
import { worldFiles } from '../../e2e/project.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { startClone } from '../cli/clone-cli.ts';

/** Simulated models behind real HTTP, slow enough for workers to be killed at work. */
export const startModels = (latencyMs = 60): Promise<SimServer> =>
  serveSim({ target: simulatedTarget({ latencyMs }), optimizer: simulatedOptimizer({ latencyMs: 5 }) });

/** A project whose models are at `url`. Only the process that trains has their key. */
export function queueProject(url: string, config: object = {}, files: Readonly<Record<string, string>> = {}) {
  const model = (name: string) => ({ provider: 'compatible', model: name, baseURL: url, apiKeyEnv: 'FAR_KEY' });
  const models = { target: model('sim-target'), optimizer: model('sim-optimizer') };
  const settings = { numEpochs: 1, batchSize: 8, minibatchSize: 4, workers: 8, ...models, ...config };
  const folder = tempFolder({ ...worldFiles(settings), ...files });
  return {
    ...folder,
    /** Starts a command in a process of its own. */
    start: (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
      startClone(args, { cwd: folder.path, env: { FAR_KEY: 'dummy-key-of-a-provider', ...env } }),
    facts: () => factsOf(join(folder.path, 'runs/run')),
  };
}

/**
 * What a run wrote down, without times and places, and what each stage used in all: work that overlaps is counted by whichever
 * event comes next.
 */
export async function factsOf(
  run: string,
): Promise<{ readonly facts: unknown; readonly usage: Readonly<Record<string, number>> }> {
  const events = await readJournal(join(run, 'events.jsonl'));
  const usage: Record<string, number> = {};
  for (const [stage, used] of events.flatMap((event) => Object.entries(event.usage ?? {}))) {
    for (const [what, count] of Object.entries(used as Record<string, number>)) {
      if (what !== 'waitMs') usage[`${stage} ${what}`] = (usage[`${stage} ${what}`] ?? 0) + count;
    }
  }
  const isPlace = (key: string) => key === 'check' || key === 'outRoot';
  const facts = JSON.parse(JSON.stringify(events.map(toFact), (key, value) => (isPlace(key) ? undefined : value)));
  return { facts, usage };
}

/** An environment of two modules, whose attempts compute for `WORK_MS` and ask no model. */
const OWN_ENV = {
  'env.mjs': `import { defineEnv } from 'skillopt';
import { z } from 'zod';
import { scoreOf } from './rules.mjs';
const ids = (split) => Array.from({ length: 9 }, (_, n) => ({ id: split + n }));
export default defineEnv({
  name: 'own', schema: z.object({ id: z.string() }),
  items: { train: ids('train'), val: ids('val'), test: ids('test') },
  async rolloutOne({ item }) {
    await new Promise((resolve) => setTimeout(resolve, Number(process.env.WORK_MS ?? 0)));
    return { hard: scoreOf(item), soft: scoreOf(item), predictedAnswer: 'made by ' + process.pid };
  },
});
`,
  'rules.mjs': `export const scoreOf = ({ id }) => Number(/[0-4]$/.test(id));\n`,
  'SKILL.md': '# Skill\n\nDo it well.\n',
};

/** A project with that environment. `using` removes it. */
export function ownProject(config: object = {}) {
  const settings = {
    name: 'own',
    env: './env.mjs',
    skill: 'SKILL.md',
    target: 'none',
    optimizer: 'simulated',
    workers: 4,
  };
  const file = JSON.stringify({ ...settings, ...config });
  return tempFolder({ ...OWN_ENV, 'skillopt.config.json': file });
}

export const EVAL = ['eval', '--skill', 'SKILL.md', '--json', '--no-cache'];

/** Starts a command in a process of its own. */
export const startIn = (cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  startClone(args, { cwd, env });
