import { oneLine, plural, shellWord } from '../../core/text/index.ts';
import { type Column, clip, nextLines, table, wrap } from '../../report/index.ts';
import type { Harvest, MineResult } from '../../sleep/index.ts';
import { shownPath } from '../../stores/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { notConsidered } from './not-considered.ts';
import { retyped, type SleepFlags } from './open-sleep.ts';
import { troubleLines } from './trouble-lines.ts';

export type HarvestFlags = SleepFlags & {
  /** A path, or `-` for stdout. */
  readonly output?: string;
  readonly force?: boolean;
  readonly withModel?: boolean;
  readonly consent?: readonly string[];
};

type Gathered = {
  readonly harvest: Harvest;
  readonly mined: MineResult;
  readonly flags: HarvestFlags;
  readonly redact: (text: string) => string;
};

const MOST_GROUPS = 5;

/** The tasks, what recurs among them, and what became of the rest. */
export function gatheredLines({ harvest, mined, flags, redact }: Gathered, terminal: Terminal): string[] {
  const { sessions, considered, trouble } = harvest;
  const { width, colors } = terminal;
  const rest = [
    ...notConsidered(considered).map((line) => colors.dim(line)),
    ...troubleLines(trouble, redact, terminal),
  ];
  if (sessions.length === 0) return ['No session to learn from.', ...rest];
  const how = flags.withModel ? 'as the model found them' : 'by rule: no model was asked';
  const recurring = mined.groups.filter(({ sessionIds }) => sessionIds.length > 1).slice(0, MOST_GROUPS);
  const asked = recurring.map(({ intent, sessionIds, dates }) =>
    clip(`asked ${sessionIds.length} times on ${plural(dates.length, 'day')}: ${oneLine(intent)}`, width),
  );
  return [
    ...wrap(`${plural(mined.tasks.length, 'task')} from ${plural(sessions.length, 'session')}, ${how}.`, width),
    '',
    ...taskTable(mined, terminal),
    ...asked,
    ...(asked.length === 0 && mined.tasks.length > 0 ? ['Nothing was asked twice yet.'] : []),
    ...mined.notes.map((note) => colors.dim(note)),
    ...rest,
  ];
}

const PROJECT: Column = { title: 'project', isElastic: true };
const TASK_COLUMNS: readonly Column[] = [
  { title: 'task', isElastic: true },
  { title: 'outcome' },
  { title: 'split' },
  { title: 'sessions', align: 'right', isOptional: true },
  { title: 'id', isOptional: true },
];

/** With the project of each, where there are several. */
function taskTable({ tasks }: MineResult, { width, colors }: Terminal): string[] {
  if (tasks.length === 0) return [];
  const isOfMany = new Set(tasks.map(({ project }) => project)).size > 1;
  const rows = tasks.map(({ project, intent, outcome, split, sourceSessions, id }) => [
    ...(isOfMany ? [oneLine(project)] : []),
    oneLine(intent),
    outcome,
    split,
    String(sourceSessions.length),
    id,
  ]);
  return [...table([...(isOfMany ? [PROJECT] : []), ...TASK_COLUMNS], rows, { width, paintTitle: colors.dim }), ''];
}

export function outputLines(output: string | undefined, flags: HarvestFlags, terminal: Terminal): string[] {
  const { io, width, called } = terminal;
  if (output === undefined) {
    const command = retyped(`harvest${flags.withModel ? ' --with-model' : ''} --output tasks.json`, flags);
    return ['', ...nextLines([[command, 'the tasks as a file, to review by hand']], terminal)];
  }
  const file = shownPath(output, io.cwd());
  const use = called(
    `Then skillopt sleep run --tasks ${shellWord(file)} spends a night on it; skillopt train does not read it.`,
  );
  return ['', ...wrap(`written: ${file}. Read it, mend it, and set "reviewed": true in it. ${use}`, width)];
}
