import { nextError } from '../../core/stats/index.ts';
import type { Budget } from '../../models/index.ts';
import { describeKeptBack } from '../../workspaces/index.ts';
import type { LiveDocument } from '../documents/live-document.ts';
import { documentOf, type NamedSkill, noChoice, ownerAmong } from '../documents/skills.ts';
import { HANDOFF_CONFIG } from '../handoff/foresee.ts';
import type { OpenedWork } from '../replay/work.ts';
import type { Proposal } from '../staging/proposal.ts';
import { hasRecord, listNights, makeNight, type NightRecord } from '../state/nights.ts';
import { modelKeyOf, readSleepState, redactTask, type SleepState } from '../state/sleep-state.ts';
import type { TaskRecord } from '../task-record.ts';
import type { CycleInput, GatheredNight } from './cycle-input.ts';
import { builtOn, onPending } from './finish-night.ts';
import { keepingHalf } from './night-limits.ts';
import { testedNights } from './over-nights.ts';
import { nightConfigOf } from './train-document.ts';

export type NewNight = { readonly folder: string; readonly state: SleepState; readonly night: number };

/** The last night's folder, if it was cut off while tasks were looked for: what that cost is part of this one. */
export async function newNight({ folder, project }: CycleInput): Promise<NewNight> {
  const state = await readSleepState(folder);
  const last = (await listNights(folder, project)).at(-1);
  const isBegun = last === undefined || (await hasRecord(last.path));
  const { night, path } = isBegun ? await makeNight(folder, state, project) : last;
  return { folder: path, state, night };
}

type Beginning = {
  readonly gathered: GatheredNight;
  readonly night: number;
  readonly state: SleepState;
  readonly documents: readonly LiveDocument[];
  readonly notes: readonly string[];
  readonly work: OpenedWork | undefined;
};

/** What a new night is to work with, whatever happens meanwhile. */
export function recordOf(input: CycleInput, beginning: Beginning): NightRecord {
  const { gathered, night, state, documents, notes, work } = beginning;
  const { project, agent, modelKey, settings, now, redact } = input;
  const last = modelKeyOf(state, project);
  const isOther = last !== '' && last !== modelKey;
  const changed = `The models are not those of the last night (${last}): scores cannot be compared with it.`;
  return {
    format: 'skillopt_sleep.night.v1',
    ...{ project, night, agent, modelKey, status: 'running', startedAt: now().toISOString() },
    ...{ tasksFrom: input.tasksFrom ?? '', spent: '', cut: '' },
    error: settings.gateMode === 'off' ? null : nextError(testedNights(state, project)),
    digests: digestsOf(documents),
    skills: documents.flatMap(({ name, hints }) => (hints ? [{ name, hints: [...hints] }] : [])),
    ...gathered,
    tasks: gathered.tasks.map((task) => redactTask(task, redact)), // a reviewed file may say anything
    ...(work ? { work: workRecord(work) } : {}),
    notes: [
      ...gathered.notes,
      ...notes,
      ...(work ? keptBack(work, redact) : []),
      ...builtOn(documents, state.proposals),
      ...(isOther ? [changed] : []),
    ],
  };
}

const workRecord = ({ agent, sandbox, project: { commit = '', template } }: OpenedWork) => ({
  ...{ agent: agent.id, sandbox: sandbox.id, commit, key: template.key },
});

function keptBack({ project: { files, leftOut } }: OpenedWork, redact: (text: string) => string): string[] {
  if (leftOut.length === 0) return [];
  return [redact(`The agent has a copy of the project with ${files} files. Left out: ${describeKeptBack(leftOut)}.`)];
}

/** Whether a night began from the same files. */
export const hasSameWork = ({ work }: NightRecord, opened: OpenedWork | undefined) =>
  work?.key === opened?.project.template.key;

/** The settings of the runs, with the limits of the night. */
export const limitsOf = (input: CycleInput) => ({ ...nightConfigOf(input), ...(input.handoff ? HANDOFF_CONFIG : {}) });

/** The files are copied before anything is paid for: what is in the way is said then. */
export async function gatherWith(input: CycleInput, state: SleepState, budget: Budget | undefined) {
  const work = await input.openWork?.();
  return { work, gathered: await keepingHalf(budget, limitsOf(input), () => input.gather(state, budget)) };
}

/** The documents of a night: those that are given, and the existing skills that its tasks name, each as it will be when what waits is adopted. */
export async function documentsFor(tasks: readonly TaskRecord[], input: CycleInput, proposals: readonly Proposal[]) {
  const { skills, notes } = (await input.chooseSkills?.(tasks)) ?? noChoice;
  const named = skills.map((skill): NamedSkill => ({ ...skill, ...onPending(skill, proposals), hints: skill.hints }));
  return { documents: [...input.documents, ...named], notes };
}

/** Whose tasks are whose: those of the skill that the night improves anyway, and of each existing one. */
export function tasksBySkill({ tasks, skills }: NightRecord, documents: readonly LiveDocument[]) {
  const ownerOf = ownerAmong(skills);
  const tasksOf = (name: string) => tasks.filter((task) => ownerOf(task) === name);
  const textOf = (name: string) => documentOf(documents, 'skill', name)!.text;
  return { own: tasksOf(''), others: skills.map(({ name }) => ({ name, text: textOf(name), tasks: tasksOf(name) })) };
}

const keyOf = ({ kind, name, hints }: LiveDocument) => (hints ? `${kind}:${name}` : kind);

const digestsOf = (documents: readonly LiveDocument[]) =>
  Object.fromEntries(documents.map((document) => [keyOf(document), document.live.digest ?? '']));

/** Whether a night began with these documents, as they are. */
export function hasSame({ digests, skills }: NightRecord, documents: readonly LiveDocument[]): boolean {
  const isSame = Object.entries(digestsOf(documents)).every(([key, digest]) => digests[key] === digest);
  return isSame && skills.length === documents.filter(({ hints }) => hints !== undefined).length;
}
