import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { PythonRandom } from '../../src/core/contracts/index.ts';
import { writeBlock } from '../../src/core/document/index.ts';
import { type SleepHome, sleepHome } from '../../test/support/sleep/sleep-home.ts';
import { propose } from '../../test/unit/cli/sleep/pending.ts';
import type { BenchRow } from '../row.ts';

const KILLS = 200;
const BIN = resolve('.cache/package/bin/skillopt.mjs');
const HAND_WRITTEN = '# Mine\n\nBe kind.\n';

/** What can be seen of a process at work from outside; the kill comes a few milliseconds after it. */
const SIGNS: readonly ((home: SleepHome) => boolean)[] = [
  ({ state }) => existsSync(join(state, 'state.lock')),
  ({ state }) => existsSync(join(state, 'adoptions', 'replace.lock')),
  ({ state }) => existsSync(join(state, 'adoptions', 'pending.json')),
  ({ shop }) => readdirSync(shop).length > 2,
];

/** Whether an adoption can be killed at any moment: the document is the old or the new one, and the next command puts all right. */
export const adoptKill: BenchRow = {
  name: 'adopt-kill',
  what: `${KILLS} × kill -9 of compiled sleep adopt processes`,
  goal: 'live file old or new; next command recovers',
  async run(say) {
    using home = sleepHome();
    home.write('shop/AGENTS.md', HAND_WRITTEN);
    const random = new PythonRandom(14);
    const seen = { killed: 0, inside: 0, wrong: 0, notRecovered: 0, unharmed: 0 };
    for (let night = 1; seen.killed < KILLS; night++) {
      const rules = [night - 1, night].map((rule) => textWith(rule));
      await propose(home, { name: 'AGENTS.md', night, rule: ruleOf(night) });
      const wasKilled = await killAt(home, { sign: SIGNS[night % SIGNS.length]!, waitMs: random.random() * 12 });
      if (wasKilled) seen.killed++;
      else seen.unharmed++;
      if (existsSync(join(home.state, 'adoptions', 'pending.json'))) seen.inside++;
      if (!rules.includes(home.read('shop/AGENTS.md'))) seen.wrong++;
      if (!(await isRecovered(home, rules[1]!))) seen.notRecovered++;
      if (night % 20 === 0) say(JSON.stringify(seen));
    }
    const measured = `${seen.killed} kills, ${seen.inside} of them inside a change: ${seen.wrong} files neither old nor new, ${seen.notRecovered} not recovered`;
    return { measured, holds: seen.wrong === 0 && seen.notRecovered === 0 && seen.inside > 0, figures: seen };
  },
};

const ruleOf = (night: number) => `- rule of night ${night}\n`.repeat(200);
const textWith = (night: number) => (night === 0 ? HAND_WRITTEN : writeBlock(HAND_WRITTEN, 'learned', ruleOf(night)));

function startAdopt({ shop, env }: SleepHome) {
  const child = spawn(process.execPath, [BIN, 'sleep', 'adopt'], { cwd: shop, env: { ...env }, stdio: 'ignore' });
  const ended = new Promise<{ code: number | null; signal: string | null }>((done) => {
    child.on('exit', (code, signal) => done({ code, signal }));
  });
  return { child, ended };
}

type Aim = { readonly sign: (home: SleepHome) => boolean; readonly waitMs: number };

async function killAt(home: SleepHome, { sign, waitMs }: Aim): Promise<boolean> {
  const { child, ended } = startAdopt(home);
  while (child.exitCode === null && !sign(home)) await turn();
  await delay(waitMs);
  child.kill('SIGKILL');
  return (await ended).signal === 'SIGKILL';
}

/** By the next command alone, which adopts what was not adopted: the new bytes, the mode, and nothing left lying about. */
async function isRecovered(home: SleepHome, text: string): Promise<boolean> {
  const { code } = await startAdopt(home).ended;
  const { mode } = statSync(join(home.shop, 'AGENTS.md'));
  const names = readdirSync(home.shop).sort().join();
  return (
    (code === 0 || code === 2) && // 2: the killed process had finished its work, and it is said so
    home.read('shop/AGENTS.md') === text &&
    (mode & 0o777) === 0o644 &&
    names === '.keep,AGENTS.md' &&
    !existsSync(join(home.state, 'adoptions', 'pending.json'))
  );
}
