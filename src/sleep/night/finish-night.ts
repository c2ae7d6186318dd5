import { join } from 'node:path';
import { reportMarkdown, type SleepReport } from '../../report/index.ts';
import { writePrivate } from '../../stores/index.ts';
import type { Proposal } from '../staging/proposal.ts';
import { type OverNights, recordNight, type SleepState } from '../state/sleep-state.ts';
import { openSleepState } from '../state/state-file.ts';
import type { TaskRecord } from '../task-record.ts';
import { type ConsolidationResult, isUnread } from './consolidation-result.ts';
import type { CycleInput } from './cycle-input.ts';
import { diagnosticsOf } from './diagnostics.ts';
import { rejectedIn } from './night-history.ts';
import { type NightRecord, writeNight } from './night-record.ts';
import { supersede } from './stage-night.ts';

type Finished = {
  readonly record: NightRecord;
  readonly folder: string;
  readonly result: ConsolidationResult;
  readonly proposals: readonly Proposal[];
  readonly report: SleepReport;
  /** What is known of its documents over nights, with this one. */
  readonly overNights: readonly OverNights[];
};

/** The files for people first; then the state, which makes the night count. */
export async function finishNight(
  { record, folder, result, proposals, report, overNights }: Finished,
  input: CycleInput,
): Promise<void> {
  const { project, night } = record;
  const cursors = isUnread(result) ? undefined : record.cursors; // then nobody has learned from its sessions

  const write = (name: string, text: string) => writePrivate(join(folder, name), text);
  await write('report.json', `${JSON.stringify(report, null, 1)}\n`);
  await write('report.md', reportMarkdown(report));
  await write('diagnostics.json', `${JSON.stringify(diagnosticsOf(record, result), null, 1)}\n`);
  const { accepted, nTasks, gateAction, calls, withTools, notReplayable, endedAt: at } = report;
  const rejected = result.documents.flatMap(rejectedIn);
  const isTested = result.documents.some(({ proof }) => proof !== undefined);
  const tools = { notReplayable, ...(withTools ? { withTools } : {}) };
  const row = { project, night, at, accepted, nTasks, isTested, gateAction, calls, rejected, ...tools };
  const tasks = record.tasks.filter(({ origin, derivedFrom }) => origin === 'real' && derivedFrom === '');
  await using open = await openSleepState(input.folder, { redact: input.redact });
  await open.update((state) => {
    const known = new Set(state.taskArchive.map(({ task }) => task.id));
    const fresh = tasks.filter(({ id }) => !known.has(id));
    const after = recordNight(state, { row, cursors, tasks: fresh, modelKey: input.modelKey });
    return proposals.reduce(supersede, keepOverNights(learnedFrom(tasks, after), overNights));
  });
  await writeNight(folder, { ...record, status: 'done' });
}

/** A file may have had a task learned from that was held out before: it proves nothing any more. */
function learnedFrom(tasks: readonly TaskRecord[], state: SleepState): SleepState {
  const learned = new Set(tasks.filter(({ split }) => split === 'train').map(({ id }) => id));
  const taskArchive = state.taskArchive.map((one) =>
    learned.has(one.task.id) ? { ...one, task: { ...one.task, split: 'train' as const } } : one,
  );
  return { ...state, taskArchive };
}

/** Of tasks that are archived; the others cannot come back. */
function keepOverNights(state: SleepState, news: readonly OverNights[]): SleepState {
  const archived = new Set(state.taskArchive.map(({ task }) => task.id));
  const isNew = (one: OverNights) => news.some((other) => nameOf(other) === nameOf(one));
  const kept = news.map((one) => ({
    ...one,
    scores: Object.fromEntries(Object.entries(one.scores).filter(([id]) => archived.has(id))),
  }));
  return { ...state, overNights: [...state.overNights.filter((one) => !isNew(one)), ...kept] };
}

const nameOf = ({ project, document }: OverNights) => `${document} ${project}`;
