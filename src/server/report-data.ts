import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { readRun, standingOf, viewRun } from '../app/index.ts';
import { selectGateScore } from '../core/contracts/index.ts';
import { maskKeysIn, redactSecrets, redactValue } from '../core/guard/index.ts';
import {
  type AttemptPage,
  type AttemptRow,
  gridColumns,
  type ReportData,
  type RunView,
  type SkillPage,
  taskRows,
} from '../core/page/index.ts';
import { PASS_MARK } from '../core/stats/index.ts';
import { count, plural } from '../core/text/index.ts';
import type { CompareReport } from '../report/index.ts';
import { JOURNAL_FILE } from '../stores/index.ts';
import { allAttempts, attemptPage } from './attempts-page.ts';
import { pageOfCompare } from './compare-page.ts';
import { eventsPage } from './events-page.ts';
import { pageOf } from './read-run.ts';
import { stepPage } from './run-files.ts';
import { listedRun } from './run-folder.ts';

export type ReportedAttempts = 'none' | 'failed' | 'all';

export type ReportLimits = {
  /** Whose attempts it holds: of those that failed, by default. */
  readonly attempts?: ReportedAttempts | undefined;
  /** Megabytes of data that it holds at most, before they are compressed. */
  readonly maxMb?: number | undefined;
};

/** What a report says about one run, without secrets: answers of the server, the most important first, as many as fit. */
export async function reportData(
  runPath: string,
  { attempts = 'failed', maxMb = 20 }: ReportLimits,
): Promise<ReportData> {
  const run = await readRun(runPath);
  const { name, path } = run;
  const types: string[] = [];
  const view = await viewRun(path, ({ type }) => types.push(type));
  const clean = cleaner(path);
  const room = roomFor(maxMb * 1e6);
  const page = clean(pageOf(run, view, await standingOf(run)));
  const listed = await listedRun({ name, path, modifiedAt: (await stat(join(path, JOURNAL_FILE))).mtime });
  const tasks = clean({ lines: view.lines, rows: taskRows(view) });
  room.use([page, listed, tasks]);
  const inName = <Value>(value: Value) => ({ [name]: value });
  return {
    runs: { folder: '', runs: [clean(listed)] },
    pages: inName(page),
    tasks: inName(tasks),
    skills: inName(await room.fill('text of the skill', textsOf(view), async (text) => clean(text))),
    columns: inName(
      await room.fill('column of tasks', byWeight(view), async (version) => gridColumns(view, [version])[0]!),
    ),
    steps: inName(await room.fill('step', stepsOf(view), async (step) => clean(await stepPage(path, view, step)))),
    attempts: inName(
      await room.fill(
        'attempt',
        await attemptsFor(path, view, attempts),
        async ({ file, place }): Promise<AttemptPage> => clean(await attemptPage(path, view, file, place)),
      ),
    ),
    events: inName(await eventsFor(path, types, room, clean)),
    leftOut: room.leftOut(),
  };
}

type Clean = <Value>(value: Value) => Value;

/** Nobody knows who will read a report: it holds no secrets, and no path of this machine. */
/** What a report says about two skills on the same tasks. */
export const comparisonData = (report: CompareReport, folder: string): ReportData => ({
  ...{
    runs: { folder: '', runs: [] },
    pages: {},
    tasks: {},
    columns: {},
    skills: {},
    steps: {},
    attempts: {},
    events: {},
  },
  compare: cleaner(join(folder, 'any'))(pageOfCompare(report)),
  leftOut: [],
});

function cleaner(path: string): Clean {
  const places = [dirname(resolve(path)), homedir()].filter((place) => place.length > 1);
  const shorten = (text: string) => places.reduce((shown, place) => shown.replaceAll(place, '…'), text);
  return (value) => redactValue(maskKeysIn(value), (text) => shorten(redactSecrets(text))) as typeof value;
}

/** The space of a report. What does not fit is counted. */
function roomFor(bytes: number) {
  let left = bytes;
  const notes: string[] = [];
  const use = (value: unknown) => {
    left -= JSON.stringify(value).length;
  };
  const fill = async <From, To>(
    what: string,
    all: readonly From[],
    make: (one: From) => Promise<To>,
  ): Promise<To[]> => {
    const made: To[] = [];
    for (const one of all) {
      if (left <= 0) break;
      made.push(await make(one));
      use(made.at(-1));
    }
    const missing = all.length - made.length;
    if (missing > 0)
      notes.push(
        `${plural(missing, what)} of ${count(all.length)} ${missing === 1 ? 'is' : 'are'} left out: the report would be too large.`,
      );
    return made;
  };
  return { use, fill, leftOut: () => notes };
}
type Room = ReturnType<typeof roomFor>;

const textsOf = ({ versions }: RunView): SkillPage[] =>
  versions.flatMap(({ index, skill }) => (skill === null ? [] : [{ version: index, text: skill }]));

/** The first version, the best one, what was accepted, then the others. */
function byWeight({ versions, best }: RunView): number[] {
  const rank = (index: number) => (index === 0 || index === best ? 0 : versions[index]!.fate === 'accepted' ? 1 : 2);
  return versions.map(({ index }) => index).sort((a, b) => rank(a) - rank(b));
}

const stepsOf = ({ state }: RunView) => state.history.map(({ step }) => step);

/** Those with the best skill first, then those with the initial one. */
async function attemptsFor(path: string, view: RunView, which: ReportedAttempts): Promise<AttemptRow[]> {
  if (which === 'none') return [];
  const { gateMetric = 'hard', gateMixedWeight = 0.5 } = view.state.config ?? {};
  const isPassed = ({ hard, soft, errored }: AttemptRow) =>
    !errored && selectGateScore(hard, soft, gateMetric, gateMixedWeight) >= PASS_MARK;
  const rows = (await allAttempts(path, view)).filter((row) => which === 'all' || !isPassed(row));
  const rank = ({ version }: AttemptRow) => (version === view.best ? 0 : version === 0 ? 1 : 2);
  return rows.sort((a, b) => rank(a) - rank(b));
}

const LONGEST_LINE = 2_000;

async function eventsFor(path: string, types: readonly string[], room: Room, clean: Clean) {
  const all = { from: 0, count: types.length, type: undefined, longest: LONGEST_LINE };
  const { total, events } = await eventsPage(path, { types }, all);
  return { total, events: await room.fill('journal line', events, async (event) => clean(event)) };
}
