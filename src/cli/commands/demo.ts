import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { adoptProposals, loadRun, trainAt } from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { plural } from '../../core/text/index.ts';
import { SimpleQAEnv } from '../../envs/index.ts';
import { type NightStory, type PoisonFate, type StoryLine, type WeekStory, weekLines } from '../../report/index.ts';
import {
  createWorld,
  type SimulatedPerson,
  simulatedOptimizer,
  simulatedPerson,
  simulatedTarget,
} from '../../sim/index.ts';
import { findMemory, findSkill, runSleepCycle, SleepSettings } from '../../sleep/index.ts';
import { interruptible } from '../errors.ts';
import { flagsFrom, jsonOption } from '../flags/flags.ts';
import { trainShown } from '../report-run.ts';
import { type DefineCommand, examples, type OptionalFlags } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

const shape = {
  seed: z.number().int().default(11).describe('Seed of the world, the models and the shuffles.'),
  latencyMs: z.number().nonnegative().default(25).describe('How long a simulated reply takes.'),
};

type Flags = OptionalFlags<never, 'fresh' | 'quiet' | 'ui', 'seed' | 'latencyMs'>;

export const define: DefineCommand = (command, terminal) => {
  for (const option of flagsFrom(shape)) command.addOption(option);
  command
    .option('--fresh', 'start over even when runs/demo is not finished')
    .option('--ui', 'show it in a browser while it trains, and until Ctrl-C')
    .option('--quiet', 'no progress, only the result')
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action((flags: Flags) => demo(flags, terminal));
  addDemoSleep(command, terminal);
};

const EXAMPLES = examples([
  ['skillopt demo', 'train in runs/demo; a finished run there is moved aside'],
  ['skillopt demo --ui', 'with a live page of it'],
  ['skillopt demo --seed 8', 'another world'],
  ['skillopt demo sleep', 'seven nights of a simulated person'],
]);

async function demo({ ui = false, ...flags }: Flags, terminal: Terminal): Promise<void> {
  const path = resolve(terminal.io.cwd(), 'runs/demo');
  const { withPage, writePage } = await import('./pages.ts');
  const work = async () => {
    await trainDemo(path, flags, terminal);
    await writePage(path, terminal);
  };
  await (ui ? withPage({ root: dirname(path), run: basename(path) }, terminal, work) : work());
}

async function trainDemo(path: string, { fresh, quiet, ...flags }: Omit<Flags, 'ui'>, terminal: Terminal) {
  const { seed, latencyMs } = z.object(shape).parse(flags);
  const { items, initialSkill } = createWorld({ seed, train: 72, val: 48, test: 72 });
  const { train: trainItems, val: valItems, test: testItems } = items;
  const env = new SimpleQAEnv({ name: 'demo', trainItems, valItems, testItems, initialSkill });
  const before = await loadRun(path).catch(() => undefined); // training says what is wrong with one that cannot be read
  const isFresh = fresh || before?.state.isDone === true;
  if (!quiet) terminal.say('a skill learns the house style of a simulated office: offline, no key, no cost');
  // The optimizer is wrong often enough that the gate has something to do.
  const trainer = {
    config: { numEpochs: 3, batchSize: 24, editBudget: 1, minEditBudget: 1, seed },
    env,
    target: simulatedTarget({ seed, latencyMs, noise: 0.04 }),
    optimizer: simulatedOptimizer({ seed, latencyMs: 4 * latencyMs, precision: 0.6, harmfulRate: 0.3 }),
  };
  // Nothing was paid for, and a demo out of the cache would show nothing.
  await trainShown(path, { isQuiet: quiet }, terminal, (watching) =>
    trainAt(path, trainer, { isFresh, isCacheCleared: true, ...watching }),
  ).catch(refuseFolder);
}

/** Its run is always in this folder: there is no flag for another one. */
function refuseFolder(error: unknown): never {
  if (!(error instanceof SkillError && error.code === 'RUN_UNWRITABLE')) throw error;
  const hint = 'Change to a folder that you may write into, and start it there: the demo needs no files.';
  throw new SkillError(error.code, error.message, { cause: error, hint });
}

const sleepShape = {
  seed: z.number().int().default(11).describe('Seed of the person and the models.'),
  nights: z.number().int().min(1).max(60).default(7).describe('How many nights.'),
};

type DemoSleepFlags = OptionalFlags<never, 'quiet', 'seed' | 'nights'>;

export function addDemoSleep(command: Command, terminal: Terminal, playNight: PlayNight = demoNight): void {
  const part = command.command('sleep').description('seven nights of a simulated person, offline');
  for (const option of flagsFrom(sleepShape)) part.addOption(option);
  part
    .option('--quiet', 'no progress, only the result')
    .addOption(jsonOption())
    .action((_, own: Command) => showDemoSleep(own.optsWithGlobals() as DemoSleepFlags, terminal, playNight));
}

/** A week of a simulated person, in a home that is gone afterwards, told night by night. */
async function showDemoSleep({ quiet, ...flags }: DemoSleepFlags, terminal: Terminal, playNight: PlayNight) {
  const { seed, nights } = z.object(sleepShape).parse(flags);
  const { width, colors } = terminal;
  const say = quiet ? () => {} : terminal.say;
  say('a simulated person works by day, their agent learns at night: offline, no key, no cost');
  const onNight = ({ night, learned }: NightStory) =>
    say(`night ${night} of ${nights}: ${plural(learned.length, 'line')} learned`);
  const hint = 'Nothing was kept: the same command begins again.';
  await interruptible({ io: terminal.io, onStop: terminal.say, hint }, async (signal) => {
    const week = await playWeek(playNight, { seed, nights, signal, onNight });
    terminal.answer(week, weekLines(week, { width, colors }));
  });
}

/** The home of the simulated person, as the evening finds it: the day's transcripts are there. */
type Evening = {
  readonly night: number;
  readonly home: string;
  readonly project: string;
  readonly now: Date;
  readonly person: SimulatedPerson;
  readonly signal?: AbortSignal | undefined;
};

type LiveDocuments = { readonly skill: string; readonly memory: string };

type PlayedNight = Pick<NightStory, 'sessions' | 'tasks' | 'calls' | 'rejected' | 'quarantined' | 'whyNothing'> & {
  /** In the morning, when what was staged has been adopted. */
  readonly documents: LiveDocuments;
};

export type PlayNight = (evening: Evening) => Promise<PlayedNight>;

type WeekOptions = {
  readonly seed: number;
  readonly nights?: number;
  readonly poisonedDays?: readonly number[];
  readonly onNight?: (story: NightStory) => void;
  readonly signal?: AbortSignal;
};

/** One early, one when something has been learned. */
const POISONED = [2, 5];

/** Lives through a week in a home of its own, which is gone afterwards. Each day's agent reads what the nights have taught. */
export async function playWeek(playNight: PlayNight, options: WeekOptions): Promise<WeekStory> {
  const { seed, nights = 7, poisonedDays = POISONED, onNight, signal } = options;
  const person = simulatedPerson({ seed, poisonedDays: [...poisonedDays] });
  const home = await realpath(await mkdtemp(join(tmpdir(), 'skillopt-demo-')));
  const project = join(home, 'rig');
  try {
    await mkdir(project);
    let documents: LiveDocuments = { skill: '', memory: '' };
    const start = person.trueScore('', '');
    const stories: NightStory[] = [];
    for (let night = 1; night <= nights; night++) {
      signal?.throwIfAborted();
      await person.writeDay(home, night, documents);
      const played = await playNight({ night, home, project, now: person.eveningOf(night), person, signal });
      const story = tellNight(night, person, documents, played);
      onNight?.(story);
      stories.push(story);
      documents = played.documents;
    }
    return { start, best: person.bestScore(), things: person.rules.length, nights: stories };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

function tellNight(night: number, person: SimulatedPerson, before: LiveDocuments, played: PlayedNight): NightStory {
  const { documents, ...rest } = played;
  const [old, young] = [ruleLines(before), ruleLines(documents)];
  const beyond = (lines: readonly string[], others: readonly string[]): StoryLine[] =>
    lines.filter((line) => !others.includes(line)).map((text) => ({ text }));
  const poison = person.poisonOf(night);
  return {
    night,
    ...rest,
    learned: beyond(young, old),
    forgotten: beyond(old, young),
    ...(poison && { poison: { name: poison.name, text: poison.text, fate: fateOf(poison, played) } }),
    score: person.trueScore(documents.skill, documents.memory),
  };
}

/** The lines of lists: what nights write. */
function ruleLines({ skill, memory }: LiveDocuments): string[] {
  const lines = `${skill}\n${memory}`.split('\n').filter((line) => /^\s*- /.test(line));
  return [...new Set(lines.map((line) => line.replace(/^\s*- /, '').trim()))];
}

function fateOf({ text, rule }: { text: string; rule: string }, played: PlayedNight): PoisonFate {
  const isIn = (words: string) => words.includes(rule) || words.includes(text);
  if (isIn(`${played.documents.skill}\n${played.documents.memory}`)) return 'staged';
  if (played.quarantined.some((line) => isIn(line.text))) return 'quarantined';
  return played.rejected.some((line) => isIn(line.text)) ? 'rejected' : 'unnoticed';
}

/** A night as `skillopt sleep run` spends it, with the person's own models; in the morning what it staged is adopted. */
const demoNight: PlayNight = async ({ home, project, now, person, signal }) => {
  const place = { env: {}, home, platform: 'linux' as const };
  const stateFolder = join(home, 'state');
  const { target, judge, optimizer } = person;
  const { report, proposals } = await runSleepCycle({
    ...{ project, place, stateFolder, target, judge, optimizer, signal, agent: 'claude', now: () => now },
    settings: { source: 'claude', maxTokensPerNight: 50_000_000 },
    config: { workers: 64 },
  });
  if (proposals.length > 0) await adoptProposals({ stateFolder, choose: () => proposals });
  const search = { agent: 'claude', place, project, settings: SleepSettings.parse({}) };
  // An edit that was rejected for one document may have been taken for the other.
  const isTaken = (content: string) => report.edits.some((edit) => edit.content === content);
  return {
    sessions: report.nSessions,
    tasks: report.nTasks,
    calls: report.calls,
    rejected: report.rejectedEdits.filter(({ content }) => !isTaken(content)).map(({ content }) => ruleOf(content)),
    quarantined: report.quarantined.map(({ content, reason }) => ({ ...ruleOf(content), why: reason })),
    whyNothing: report.documents.length === 0 ? report.needs || report.noEditsReason : report.noEditsReason,
    documents: { skill: learnedIn(await findSkill(search)), memory: learnedIn(await findMemory(search)) },
  };
};

const ruleOf = (content: string) => ({ text: content.replace(/^- /, '') });

/** The agent reads nothing of a document that does not exist yet. */
const learnedIn = ({ live, text }: Awaited<ReturnType<typeof findSkill>>) => (live.bytes === null ? '' : text);
