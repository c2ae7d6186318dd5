import { SkillError } from '../../core/errors.ts';
import { oneLine } from '../../core/text/printable.ts';
import { resolveModel } from '../../project/models/resolve-model.ts';
import { resolvePath } from '../../project/resolve-path.ts';
import type { Harvest, HarvestCounts } from '../../sleep/harvest/harvest.ts';
import type { MineResult } from '../../sleep/mine/mine-tasks.ts';
import { openMiner } from '../../sleep/mine/open-miner.ts';
import { toTaskJson } from '../../sleep/task-record.ts';
import { writeTasksFile } from '../../sleep/tasks-file.ts';
import { shownPath } from '../../stores/shown-path.ts';
import { interruptible } from '../interrupt.ts';
import { plural } from '../terminal/figures.ts';
import { type Column, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { requireConsent } from './ask-consent.ts';
import { gatherSessions, gatherTasks } from './gather.ts';
import { notConsidered } from './not-considered.ts';
import { type OpenSleep, openSleep, type SleepFlags } from './open-sleep.ts';
import { planOf } from './plan-lines.ts';

export type HarvestFlags = SleepFlags & {
  readonly output?: string;
  readonly withModel?: boolean;
  readonly consent?: readonly string[];
};

/** What the sessions of a scope would teach, as tasks. Asks a model only if it is told to, and advances nothing. */
export async function showHarvest(flags: HarvestFlags, terminal: Terminal): Promise<void> {
  using sleep = await openSleep(flags, terminal);
  const harvest = await gatherSessions(sleep, flags, terminal);
  const mined = flags.withModel
    ? await mineByModel(sleep, harvest, flags, terminal)
    : await gatherTasks(sleep, harvest);
  const gathered = { harvest, mined, isMinedByModel: flags.withModel === true };
  const output = flags.output === undefined ? undefined : resolvePath(terminal.io.cwd(), flags.output);
  if (output !== undefined) {
    await writeTasksFile(output, {
      project: sleep.redact(sleep.project),
      transcriptSource: sleep.sources.map(({ name }) => name).join(','),
      nSessions: harvest.sessions.length,
      targetSkillPath: sleep.redact(sleep.settings.targetSkillPath ?? ''),
      tasks: mined.tasks,
    });
  }
  const { sessions, ...counts } = harvest.considered;
  terminal.answer(
    {
      sessionsFound: sessions,
      ...counts,
      sessions: harvest.sessions.length,
      tasks: mined.tasks.map(toTaskJson),
      groups: mined.groups,
      dropped: mined.dropped,
      trouble: harvest.trouble,
      ...(output === undefined ? {} : { output }),
    },
    [...gatheredLines(gathered, terminal), ...outputLines(output, terminal)],
  );
}

/** The optimizer reads the pages of the plan, after a person agreed to that, and finds the tasks in them. */
async function mineByModel(sleep: OpenSleep, harvest: Harvest, flags: HarvestFlags, terminal: Terminal) {
  const { settings, place, folder, project } = sleep;
  if (!settings.llmMine) throw minedByRule();
  if (harvest.sessions.length === 0) return gatherTasks(sleep, harvest);
  const { models, recipients } = await planOf(sleep, harvest.sessions);
  const readers = recipients.filter(({ roles }) => roles.includes('optimizer'));
  await requireConsent({ folder, recipients: readers, given: providersIn(flags.consent) }, terminal);
  const model = await resolveModel(models.optimizer, { role: 'optimizer', env: place.env, directory: project });
  return interruptible({ io: terminal.io, onStop: terminal.say }, async (signal) => {
    using open = await openMiner({ model, settings, folder, signal });
    return await gatherTasks(sleep, harvest, open.miner, signal); // Before the cache is closed.
  });
}

const providersIn = (consent: readonly string[] = []) =>
  consent.flatMap((names) => names.split(',')).map((name) => name.trim());

/** The plan then shows other texts than a model would read. */
const minedByRule = () =>
  new SkillError('USAGE', 'expected llmMine to be on for --with-model, got llmMine: false in the settings', {
    hint: 'Turn it on with --llm-mine, or leave --with-model out.',
  });

type Gathered = { readonly harvest: Harvest; readonly mined: MineResult; readonly isMinedByModel: boolean };

const TASK_COLUMNS: readonly Column[] = [
  { title: 'task', isElastic: true },
  { title: 'outcome' },
  { title: 'split' },
  { title: 'sessions', align: 'right', isOptional: true },
  { title: 'id', isOptional: true },
];
const MOST_GROUPS = 5;

/** The tasks, what recurs among them, and what became of the rest. */
function gatheredLines({ harvest, mined, isMinedByModel }: Gathered, { width, colors }: Terminal): string[] {
  const { sessions, considered } = harvest;
  if (sessions.length === 0) return nothingNew(considered);
  const rows = mined.tasks.map(({ intent, outcome, split, sourceSessions, id }) => [
    oneLine(intent),
    outcome,
    split,
    String(sourceSessions.length),
    id,
  ]);
  const recurring = mined.groups.filter(({ sessionIds }) => sessionIds.length > 1).slice(0, MOST_GROUPS);
  return [
    `${plural(mined.tasks.length, 'task')} from ${plural(sessions.length, 'session')}, ${isMinedByModel ? 'as the model found them.' : 'by rule: no model was asked.'}`,
    '',
    ...table(TASK_COLUMNS, rows, { width, paintTitle: colors.dim }),
    '',
    ...recurring.map(
      ({ intent, sessionIds, dates }) =>
        `asked ${sessionIds.length} times on ${plural(dates.length, 'day')}: ${clipped(oneLine(intent), width - 32)}`,
    ),
    ...(recurring.length === 0 ? ['Nothing was asked twice yet.'] : []),
    ...mined.notes.map((note) => colors.dim(note)),
    ...notConsidered(considered).map((line) => colors.dim(line)),
  ];
}

const clipped = (text: string, length: number) =>
  text.length <= length ? text : `${text.slice(0, Math.max(10, length - 2))} …`;

function nothingNew(counts: HarvestCounts): string[] {
  return ['No session to learn from.', ...notConsidered(counts).map((line) => `  ${line}`)];
}

function outputLines(output: string | undefined, { io, colors }: Terminal): string[] {
  if (output === undefined) {
    return [
      '',
      `next:  ${colors.bold('skillopt sleep harvest --output tasks.json')}  the tasks as a file, to review by hand`,
    ];
  }
  return ['', `written: ${shownPath(output, io.cwd())}. Read it, mend it, and set "reviewed": true in it.`];
}
