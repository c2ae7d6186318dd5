import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type ChecksJudge, checksJudge } from '../../src/core/judge/index.ts';
import { importPromptfoo } from '../../src/imports/promptfoo/import-promptfoo.ts';
import { ANSWERS, CODE } from '../promptfoo/code-assertions.ts';
import type { BenchRow } from '../row.ts';

const VERSION = '0.120.27';
const CACHE = fileURLToPath(new URL('../../.cache/promptfoo', import.meta.url));
const RUNNER = fileURLToPath(new URL('../promptfoo/run-promptfoo.mjs', import.meta.url));

/** The same tests and answers in the real promptfoo, which is installed for this alone, and here. */
export const promptfoo: BenchRow = {
  name: 'promptfoo',
  what: `tests with code assertions beside promptfoo ${VERSION}: pass here and fail there`,
  goal: '0',
  async run(say) {
    const config = { prompts: ['{{question}}'], tests: testsWithCode() };
    const theirs = await judgeThere(config);
    const ours = await judgeHere(config);
    let [carried, wrong, strict] = [0, 0, 0];
    for (const [at, judge] of ours.entries()) {
      if (judge === undefined) continue;
      carried++;
      for (const [index, answer] of ANSWERS.entries()) {
        const isPassed = await passes(judge, answer);
        const isPassedThere = theirs[index]![at]!;
        if (isPassed === isPassedThere) continue;
        if (isPassed) wrong++;
        else strict++;
        say(`${isPassed ? 'passes' : 'fails'} only here: ${JSON.stringify([config.tests[at], answer])}`);
      }
    }
    const all = config.tests.length;
    return {
      measured: `${wrong} (${strict} fail only here; ${carried} of ${all} tests carried, ${all - carried} left out; ${ANSWERS.length} answers)`,
      holds: wrong === 0,
      figures: { passOnlyHere: wrong, failOnlyHere: strict, carried, leftOut: all - carried },
    };
  },
};

/** Each piece of code alone, negated, beside a check that holds, in a set and under a threshold. */
function testsWithCode() {
  const vars = { question: 'What is the capital of Italy?', city: 'Rome' };
  const rome = { type: 'icontains', value: 'rome' };
  const asserts = CODE.flatMap((value) => {
    const code = { type: 'javascript', value };
    return [
      { assert: [code] },
      { assert: [{ type: 'not-javascript', value }] },
      { assert: [code, rome] },
      { assert: [{ type: 'assert-set', threshold: 0.5, assert: [code, rome] }] },
      { threshold: 0.7, assert: [{ ...code, weight: 3 }, rome] },
      { assert: [{ ...code, weight: 0 }, rome] },
    ];
  });
  const python = ['len(output) > 3', "'Rome' in output"].map((value) => ({
    assert: [{ type: 'python', value }, rome],
  }));
  const zero = { threshold: 0, assert: [{ type: 'contains', value: 'nowhere' }] };
  return [...asserts, ...python, zero]
    .filter(({ assert }) => !JSON.stringify(assert).includes('while (true)')) // an engine would not come back
    .map((test, at) => ({ description: `t${at}`, vars, ...test }));
}

type Config = { readonly prompts: readonly string[]; readonly tests: readonly object[] };

/** Of each answer, whether each test passes. */
async function judgeThere(config: Config): Promise<boolean[][]> {
  if (!existsSync(join(CACHE, 'node_modules/promptfoo/package.json'))) {
    mkdirSync(CACHE, { recursive: true });
    writeFileSync(join(CACHE, 'package.json'), '{ "private": true }\n');
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund'];
    const { status, stderr } = spawnSync('npm', ['install', ...flags, `promptfoo@${VERSION}`], { cwd: CACHE });
    if (status !== 0) throw new Error(`promptfoo cannot be installed: ${stderr}`);
  }
  const state = mkdtempSync(join(tmpdir(), 'skillopt-promptfoo-'));
  const quiet = { PROMPTFOO_DISABLE_TELEMETRY: '1', PROMPTFOO_DISABLE_UPDATE: '1', PROMPTFOO_CONFIG_DIR: state };
  const child = spawn(process.execPath, [RUNNER], { cwd: CACHE, env: { ...process.env, ...quiet } });
  child.stdin.end(JSON.stringify({ config, answers: ANSWERS }));
  const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr)]);
  rmSync(state, { recursive: true, force: true });
  const line = said.split('\n').find((one) => one.startsWith('VERDICTS '));
  if (line === undefined) throw new Error(`promptfoo gave no verdicts: ${complained.slice(-500)}`);
  return JSON.parse(line.slice('VERDICTS '.length));
}

/** The judge of each test; none where it is left out. */
async function judgeHere(config: Config): Promise<(ChecksJudge | undefined)[]> {
  const { rows } = await importPromptfoo(config as never, join(CACHE, 'promptfooconfig.json'));
  const judges = new Map(rows.map(({ test, value }) => [test, (value as { judge: ChecksJudge }).judge]));
  return config.tests.map((_, at) => judges.get(`t${at}`));
}

async function passes(judge: ChecksJudge, answer: string): Promise<boolean> {
  const { hard, errored } = await checksJudge(undefined).score({ judge, question: '', answer });
  if (errored) throw new Error('a check could not be decided');
  return hard === 1;
}
