import { setTimeout as sleep } from 'node:timers/promises';
import { PythonRandom, type RunFact, toFact } from 'skillopt';
import { type SimServer, serveSim, simulatedOptimizer, simulatedTarget } from 'skillopt/sim';
import { readJournal } from '../../src/stores/run/journal.ts';
import { createProject, worldFiles } from './project.ts';

export const WORKERS = 4;

/** What a run leaves behind that must not depend on how often it was killed. */
export type Outcome = {
  readonly bestSkill: string;
  readonly history: unknown;
  readonly facts: unknown;
  readonly calls: number;
  readonly kills: number;
};

/** Simulated models behind real HTTP, slow enough to be interrupted at work. */
export function startModels(): Promise<SimServer> {
  return serveSim({ target: simulatedTarget({ latencyMs: 25 }), optimizer: simulatedOptimizer({ latencyMs: 25 }) });
}

/** Trains with the compiled command, killing it up to `kills` times at moments that `seed` chooses. */
export async function trainWithKills(server: SimServer, kills: number, seed: number): Promise<Outcome> {
  const model = (name: string) => ({ provider: 'compatible', model: name, baseURL: server.url });
  const settings = { numEpochs: 3, batchSize: 8, minibatchSize: 4, workers: WORKERS };
  await using project = await createProject(
    worldFiles({ ...settings, target: model('sim-target'), optimizer: model('sim-optimizer') }),
  );
  const random = new PythonRandom(seed);
  const before = server.requests;
  let killed = 0;
  for (;;) {
    const { child, finished } = project.start(['train', '--quiet']);
    const isOver =
      killed < kills
        ? await Promise.race([finished.then(() => true), sleep(250 + random.random() * 900, false)])
        : true;
    if (!isOver && child.kill('SIGKILL')) killed++;
    const { code, signal, stderr } = await finished;
    if (code === 0) break;
    if (signal !== 'SIGKILL') throw new Error(`train ended with ${code ?? signal}: ${stderr}`);
  }
  return { ...(await readOutcome(project)), calls: server.requests - before, kills: killed };
}

async function readOutcome(project: { read(name: string): Promise<string>; path(name: string): string }) {
  const journal = await readJournal(project.path('runs/run/events.jsonl'));
  const history = JSON.parse(await project.read('runs/run/history.json')) as Record<string, unknown>[];
  return {
    bestSkill: await project.read('runs/run/best_skill.md'),
    history: history.map(withoutTimes),
    facts: journal.map((event) => withoutPlace(toFact(event))),
  };
}

const TIMES = ['timing', 'timing_ms', 'tokens', 'wall_time_s'];

const withoutTimes = (record: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(record).filter(([key]) => !TIMES.includes(key)));

/** Each run has a folder of its own, and that is in its config. */
function withoutPlace(fact: RunFact): RunFact {
  return fact.type === 'run-start' ? { ...fact, config: { ...fact.config, outRoot: 'runs/run' } } : fact;
}
