import { once } from 'node:events';
import { z } from 'zod';
import { serveSim, simulatedJudge, simulatedOptimizer, simulatedTarget } from '../../sim/index.ts';
import { interruptible } from '../errors.ts';
import { flagsFrom, jsonOption } from '../flags/flags.ts';
import { type DefineCommand, examples } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

const share = z.number().min(0).max(1).optional();

const place = {
  port: z.number().int().min(0).max(65_535).default(4141).describe('Port; 0 takes any free one.'),
  host: z.string().default('127.0.0.1').describe('Address. There is no key and no limit: keep it on this machine.'),
  variesRepeats: z.boolean().default(false).describe('A request that comes again without a seed gets another reply.'),
};
const line = {
  seed: z.number().int().optional().describe('Seed of all dice.'),
  latencyMs: z.number().nonnegative().optional().describe('How long a reply takes.'),
  failureRate: share.describe('Share of calls that fail with 429 or 503.'),
};
const targetKnobs = {
  noise: share.describe('Share of slips of the target.'),
  nullMode: z.boolean().optional().describe('The target ignores the skill.'),
};
const optimizerKnobs = {
  precision: share.describe('Share of proposed rules that are right.'),
  harmfulRate: share.describe('Share of edits that do harm.'),
  duplicateRate: share.describe('Share of edits that are proposed twice.'),
};

export const define: DefineCommand = (command, terminal) => {
  const shape = { ...place, ...line, ...targetKnobs, ...optimizerKnobs };
  for (const option of flagsFrom(shape, { placeholders: { host: 'address' } })) command.addOption(option);
  command
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action((flags: unknown) => serve(flags, terminal));
};

const EXAMPLES = examples([
  ['skillopt sim', 'serve sim-target, sim-optimizer and sim-judge until Ctrl-C'],
  ['skillopt sim --port 0 --latency-ms 200 --json', 'on any free port, slowly; the URL as JSON'],
]);

async function serve(flags: unknown, terminal: Terminal): Promise<void> {
  const target = simulatedTarget(z.object({ ...line, ...targetKnobs }).parse(flags));
  const optimizer = simulatedOptimizer(z.object({ ...line, ...optimizerKnobs }).parse(flags));
  const judge = simulatedJudge(z.object(line).parse(flags));
  const server = await serveSim({ target, optimizer, judge, ...z.object(place).parse(flags) });
  await interruptible({ io: terminal.io, onStop: () => {} }, async (signal) => {
    const models = ['sim-target', 'sim-optimizer', 'sim-judge'];
    terminal.answer({ url: server.url, models }, howToUse(server.url, terminal));
    terminal.say('serving until Ctrl-C');
    await once(signal, 'abort');
  });
  await server.close();
}

function howToUse(url: string, { colors: { bold, dim } }: Terminal): string[] {
  const body = '{"model":"sim-target","messages":[{"role":"user","content":"Hello"}]}';
  return [
    bold(url),
    '',
    dim('try it:'),
    `  curl ${url}/chat/completions -H 'content-type: application/json' -d '${body}'`,
    '',
    dim('in skillopt.config.yaml:'),
    `  target: compatible:sim-target@${url}`,
    `  optimizer: compatible:sim-optimizer@${url}`,
    `  judge: compatible:sim-judge@${url}          ${dim('only for tasks that a model scores')}`,
  ];
}
