import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { PythonRandom } from '../../src/core/contracts/index.ts';
import { nightFolder } from '../../src/sleep/index.ts';
import { type FakeLLM, type FakeRequest, startFakeLLM } from '../../src/testing/index.ts';
import { type SleepHome, sleepHome } from '../../test/support/sleep/sleep-home.ts';
import { nightAnswer } from '../../test/unit/cli/sleep/night-over-http.ts';
import type { BenchRow } from '../row.ts';

const KILLS = 100;
const KILLS_PER_NIGHT = 6;
/** Calls that a night has in flight at once: what is paid for and not yet written down when it is killed. */
const IN_FLIGHT = 8;
const BIN = resolve('.cache/package/bin/skillopt.mjs');
const LIVE = {
  'shop/CLAUDE.md': '# Mine\n\nBe kind.\n',
  'shop/.claude/skills/skillopt-sleep-learned-project/SKILL.md': skillText(),
};
const PHASES = ['mining', 'training', 'proof', 'staging'] as const;
type Phase = (typeof PHASES)[number];

/** Two kills of five wait for the end of a night, which is short. */
const LATE: readonly (readonly Phase[])[] = [['proof', 'staging'], ['staging']];

/** Whether a night can be killed at any moment: nothing live changes, and it ends as if nothing had happened, for the same money. */
export const killNight: BenchRow = {
  name: 'kill-night',
  what: `${KILLS} × kill -9 of compiled sleep run processes`,
  goal: `live files old; same end; ≤ ${IN_FLIGHT} calls repeated per kill`,
  async run(say) {
    using home = openHome();
    await using server = await startFakeLLM(async (request) => ({ content: answer(request), delayMs: 15 }));
    const whole = await spendNight(home, server, { kills: 0, random: new PythonRandom(0), calls: 0 });
    const random = new PythonRandom(14);
    const nights: Outcome[] = [];
    for (let kills = 0; kills < KILLS; kills += nights.at(-1)!.killed.length) {
      const most = Math.min(KILLS_PER_NIGHT, KILLS - kills);
      nights.push(await spendNight(home, server, { kills: most, random, calls: whole.calls }));
      const { killed, end } = nights.at(-1)!;
      const other = Object.keys(end).filter((key) => !isDeepStrictEqual(end[key], whole.end[key]));
      say(`night ${nights.length}: killed in ${killed.join(', ')}${other.length > 0 ? `; differs in ${other}` : ''}`);
    }
    return sumUp(whole, nights);
  },
};

type Outcome = {
  readonly killed: readonly Phase[];
  /** After how many kills something was not as it must be. */
  readonly harmed: number;
  readonly calls: number;
  readonly end: Readonly<Record<string, unknown>>;
};

function sumUp(whole: Outcome, nights: readonly Outcome[]) {
  const killed = nights.flatMap((night) => night.killed);
  const phases = Object.fromEntries(PHASES.map((phase) => [phase, killed.filter((one) => one === phase).length]));
  const harmed = nights.reduce((sum, night) => sum + night.harmed, 0);
  const differing = nights.filter(({ end }) => !isDeepStrictEqual(end, whole.end)).length;
  const worst = Math.max(...nights.map((night) => (night.calls - whole.calls) / Math.max(night.killed.length, 1)));
  const where = Object.entries(phases).map(([phase, count]) => `${count} in ${phase}`);
  return {
    measured: `${killed.length} kills in ${nights.length} nights (${where.join(', ')}): ${harmed} harmed, ${differing} ends differ, at worst ${worst.toFixed(1)} calls a kill`,
    holds: harmed === 0 && differing === 0 && worst <= IN_FLIGHT && Object.values(phases).every((count) => count > 0),
    figures: { killed: killed.length, ...phases, harmed, differing, worst, calls: whole.calls },
  };
}

/** Twenty sessions, each of which a model makes one task of. */
function openHome(): SleepHome {
  const home = sleepHome();
  for (const [name, text] of Object.entries(LIVE)) home.write(name, text);
  for (const [at, topic] of TOPICS.entries()) {
    const turns = [
      ['user', `Write a note about ${topic} for the team`] as const,
      ['assistant', `A note about ${topic}.`] as const,
      ['user', 'still wrong, end it with DONE'] as const,
      ['assistant', 'DONE'] as const,
    ];
    home.said({ id: `s-${at}`, turns, endedHoursAgo: at + 1 });
  }
  return home;
}

function skillText(): string {
  return '---\nname: skillopt-sleep-learned-project\ndescription: What was learned.\n---\n# Learned\n\nKeep this sentence.\n';
}

const TOPICS = [
  ...['invoices', 'holidays', 'printers', 'parking', 'lunch', 'budgets', 'visitors', 'keys', 'laptops', 'training'],
  ...['cleaning', 'travel', 'security', 'hiring', 'payroll', 'heating', 'phones', 'archives', 'contracts', 'gardens'],
];

function answer(request: FakeRequest): string {
  const text = request.messages.map(({ content }) => content).join('\n');
  const topic = TOPICS.find((one) => text.includes(`Write a note about ${one} for`));
  if (!text.includes('"tasks"') || topic === undefined) return nightAnswer(request);
  const checks = [{ op: 'contains', arg: 'DONE' }];
  return JSON.stringify({ tasks: [{ intent: `${topic}: ${wordsOf(topic)}`, checks, satisfied: false }] });
}

/** Words that no other task has: what is nearly the same counts as one task. */
const wordsOf = (topic: string) =>
  [1, 2, 3, 4]
    .map((at) => `${topic.slice(0, 3)}${createHash('sha256').update(`${topic}${at}`).digest('hex').slice(0, 5)}`)
    .join(' ');

type Spending = { readonly kills: number; readonly random: PythonRandom; readonly calls: number };

/** One night from nothing to its end, killed up to so many times on the way. */
async function spendNight(home: SleepHome, server: FakeLLM, { kills, random, calls }: Spending): Promise<Outcome> {
  rmSync(home.state, { recursive: true, force: true });
  const before = server.requests.length;
  const killed: Phase[] = [];
  let harmed = 0;
  for (;;) {
    const { child, ended } = startNight(home, server);
    if (killed.length < kills && !(isStaging(home) && random.random() < 0.7)) {
      const late = LATE[Math.floor(random.random() * 5)];
      const done = server.requests.length - before;
      const target = before + done + 1 + Math.floor(random.random() * 0.6 * Math.max(calls - done, 0));
      const hasCome = () => (late ? late.includes(phaseOf(home)) : server.requests.length >= target);
      while (child.exitCode === null && !hasCome()) await delay(2);
      await delay(random.random() * (late ? 12 : 30));
      child.kill('SIGKILL');
    }
    const { code, signal, stdout, stderr } = await ended;
    if (code === 0) return { killed, harmed, calls: server.requests.length - before, end: endOf(home, stdout) };
    if (signal !== 'SIGKILL') throw new Error(`sleep run ended with ${code ?? signal}: ${stderr}`);
    killed.push(phaseOf(home));
    if (!(await isWell(home))) harmed++;
  }
}

function startNight({ shop, env }: SleepHome, { baseURL }: FakeLLM) {
  const args = [
    'sleep',
    'run',
    '--target',
    `compatible:m@${baseURL}`,
    '--no-evolve-memory',
    '--val-fraction',
    '0.6',
    '--quiet',
    '--json',
  ];
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: shop,
    env: { ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text;
    });
  }
  const ended = new Promise<{ code: number | null; signal: string | null; stdout: string; stderr: string }>((done) => {
    child.on('close', (code, signal) => done({ code, signal, ...printed }));
  });
  return { child, ended };
}

function nightFile({ state, shop }: SleepHome, name: string): string | undefined {
  const path = join(nightFolder(state, shop, 1), name);
  return existsSync(path) ? path : undefined;
}

const isStaging = (home: SleepHome) => nightFile(home, 'proposed.md') !== undefined;

function phaseOf(home: SleepHome): Phase {
  if (isStaging(home)) return 'staging';
  const journal = nightFile(home, 'events.jsonl');
  if (journal === undefined) return 'mining';
  return readFileSync(journal, 'utf8').includes('"type":"run-end"') ? 'proof' : 'training';
}

/** Live files byte for byte, and a state that the next command can read. */
async function isWell(home: SleepHome): Promise<boolean> {
  const isOld = Object.entries(LIVE).every(
    ([name, text]) => existsSync(join(home.path, name)) && home.read(name) === text,
  );
  const { code, err } = await home.run(['status', '--json']);
  return isOld && code === 0 && err === '';
}

/** Times and costs, which depend on it. */
const PASSING = ['startedAt', 'endedAt', 'usage', 'calls', 'tokensUsed', 'costUsd', 'mayHaveBeen', 'folder'];
const lasting = (report: object) =>
  Object.fromEntries(Object.entries(report).filter(([key]) => !PASSING.includes(key)));

/** What must not depend on how often the night was killed. */
function endOf(home: SleepHome, stdout: string): Readonly<Record<string, unknown>> {
  const report = JSON.parse(stdout);
  const proposed = readFileSync(nightFile(home, 'proposed.md') ?? '/dev/null', 'utf8');
  return { ...lasting(report), documents: report.documents.map(lasting), proposed };
}
