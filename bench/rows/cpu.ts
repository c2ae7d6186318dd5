import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { evaluateSkill, SimpleQAEnv } from 'skillopt';
import { scripted } from 'skillopt/testing';
import { openCaches } from '../../src/stores/index.ts';
import type { BenchRow } from '../row.ts';

const ROLLOUTS = 5000;
const reply = `${'Some words of thought. '.repeat(43)}<answer>Paris</answer>`;

/** What one rollout costs us with every wrapper and both caches on disk, the model aside. */
export const cpu: BenchRow = {
  name: 'cpu',
  what: 'own CPU per in-process rollout, 1 kB reply',
  goal: '≤ 1 ms',
  async run() {
    const rounds: number[] = [];
    for (let round = 0; round < 5; round++) rounds.push(await cpuPerRollout());
    const best = Math.min(...rounds);
    return { measured: `${best.toFixed(3)} ms (best of 5 × ${ROLLOUTS})`, holds: best <= 1, figures: { best, rounds } };
  },
};

async function cpuPerRollout(): Promise<number> {
  const items = Array.from({ length: ROLLOUTS }, (_, i) => ({
    id: `${i}`,
    question: `Capital of country ${i}?`,
    answers: ['Paris'],
  }));
  const env = new SimpleQAEnv({ trainItems: [], valItems: [], testItems: items });
  const directory = await mkdtemp(join(tmpdir(), 'skillopt-bench-'));
  const caches = await openCaches(directory);
  const before = process.cpuUsage();
  await evaluateSkill({
    env,
    skill: '# Skill\n\nAnswer briefly.\n',
    split: 'test',
    target: scripted('fixed', () => reply),
    caches,
  });
  const { user, system } = process.cpuUsage(before);
  caches.close();
  await rm(directory, { recursive: true });
  return (user + system) / 1000 / ROLLOUTS;
}
