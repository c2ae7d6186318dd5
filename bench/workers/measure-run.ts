// The process that has rollouts made: by workers if it is given a queue, else by itself. It warms up, then it measures.
import { evaluateSkill } from 'skillopt';
import { runElsewhere } from 'skillopt/workers';
import { fingerprintOf, instantModel, type Work, workEnv } from './work.ts';

const [works = '', tasks = '', workers = '', warmUps = '', url = ''] = process.argv.slice(2);
const work = JSON.parse(works) as Work;
const runner = url === '' ? undefined : await runElsewhere({ url, fingerprint: fingerprintOf(work) });
const env = workEnv(work, Number(tasks));
const target = instantModel(work.does === 'chat' ? work.amount : 1);

async function pass(sampleIndex: number): Promise<void> {
  const config = { workers: Number(workers) };
  const skill = `# Work\n${'Answer with a line. '.repeat(100)}\n`;
  const run = { env, target, skill, config, split: 'test', sampleIndex, ...(runner && { runner }) };
  const { evaluation } = await evaluateSkill(run);
  if (evaluation.hard !== 1) throw new Error(`every rollout succeeds, but the score is ${evaluation.hard}`);
}

for (let warm = 0; warm < Number(warmUps); warm++) await pass(warm);
process.send?.({ warm: true });
await new Promise((go) => process.once('message', go));
const [before, start] = [process.cpuUsage(), performance.now()];
await pass(Number(warmUps));
const ms = performance.now() - start;
process.send?.({ ms, cpu: process.cpuUsage(before), maxRssKb: process.resourceUsage().maxRSS });
await runner?.close();
process.exit(0);
