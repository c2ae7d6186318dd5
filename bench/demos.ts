import { startFakeLLM } from 'skillopt/testing';
import { DEMO_NAMES, demoProject, demoReply } from '../test/support/benchmarks/demo-project.ts';
import type { BenchRow } from './row.ts';

const MOST_MS = 10_000;

/** How long somebody waits who tries all benchmarks on the items that we ship: SkillOpt's own configs, a server on loopback, no Python. */
export const demos: BenchRow = {
  name: 'demos',
  what: 'the twelve demo items of each of the six benchmarks, all answered right',
  goal: `≤ ${MOST_MS / 1_000} s in all`,
  async run(say) {
    const figures: Record<string, number> = {};
    let isRight = true;
    for (const name of DEMO_NAMES) {
      await using far = await startFakeLLM((request) => demoReply(name, request, () => true));
      using project = demoProject(name, far.baseURL);
      const started = performance.now();
      const { answer } = await project.run('eval', '--skill', 'SKILL.md', '--split', 'all');
      figures[`${name} ms`] = performance.now() - started;
      isRight &&= answer.n === 12 && answer.hard === 1;
      say(`${name}: ${figures[`${name} ms`]!.toFixed(0)} ms, score ${answer.hard}`);
    }
    const ms = Object.values(figures).reduce((sum, one) => sum + one, 0);
    return { measured: `${(ms / 1_000).toFixed(1)} s`, holds: isRight && ms <= MOST_MS, figures };
  },
};
