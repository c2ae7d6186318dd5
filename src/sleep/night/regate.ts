import { writeBlock } from '../../core/skill/marked-block.ts';
import { nextError } from '../../core/stats/error-spending.ts';
import { readDocument } from '../../skills/index.ts';
import { runDirectory } from '../../stores/index.ts';
import { ownerAmong } from '../documents/choose-skills.ts';
import type { Documents } from '../replay/attempt.ts';
import type { Proposal } from '../staging/proposal.ts';
import { stage, textOf } from '../staging/stage.ts';
import { nightFolder } from '../state/nights.ts';
import type { SleepState } from '../state/sleep-state.ts';
import type { TaskRecord } from '../task-record.ts';
import type { CycleInput } from './cycle-input.ts';
import { testedNights } from './night-history.ts';
import { nightBudget } from './night-limits.ts';
import { type NightRecord, readNight } from './night-record.ts';
import { type Proof, prove } from './prove.ts';
import { environmentOf, nightConfigOf } from './train-document.ts';

export type Regated = {
  readonly proof: Proof;
  /** As it is to be recorded, if it was proven. */
  readonly proposal: Proposal | undefined;
};

type Regating = Pick<
  CycleInput,
  'folder' | 'models' | 'settings' | 'config' | 'scorers' | 'observers' | 'signal' | 'now'
> & {
  readonly state: SleepState;
  readonly proposal: Proposal;
  /** What the person made of the proposed block. */
  readonly block: string;
  /** The other document, as it is. */
  readonly documents: Documents;
  readonly roots: readonly string[];
  /** The text of an existing skill, for tasks that were done with it. */
  readonly readSkill: (name: string) => Promise<string | undefined>;
};

/** Puts a part of a proposal to the test on its night's tasks, with a share of the error of its own; staged if it is proven. */
export async function regate(input: Regating): Promise<Regated> {
  const { folder, proposal, block, documents, state, roots, now } = input;
  const { project, id, document } = proposal;
  const path = nightFolder(folder, project, id);
  const record = await readNight(nightFolder(folder, project, proposal.night));
  const live = await readDocument(document.path, roots);
  const text = live.bytes === null ? documents[document.kind] : textOf(live.bytes, document.path);
  const night = {
    ...input,
    ...{
      tasks: tasksFor(record, document),
      trained: document.kind,
      documents: { ...documents, [document.kind]: text },
    },
    skillTexts: document.kind === 'memory' ? await skillTextsOf(record, input) : undefined,
    config: nightConfigOf(input),
    store: runDirectory(path),
    budget: nightBudget(nightConfigOf(input)),
    error: nextError(testedNights(state, project)),
  };
  const proof = await prove({
    ...night,
    state: undefined,
    env: environmentOf(night),
    baseBlock: proposal.baseBlock,
    block,
  });
  if (!proof.isProven) return { proof, proposal: undefined };
  const gain = { value: proof.gain.value, ...proof.gain.interval };
  const staged = await stage({
    ...{ stateFolder: folder, project, night: proposal.night, id, document, live, roots, gain },
    text: writeBlock(text, 'learned', block),
    at: now().toISOString(),
    confidence: 1 - proof.error,
    isNewAllowed: live.bytes === null,
  });
  return { proof, proposal: staged };
}

/** Those that judged the document in its night. */
function tasksFor(record: NightRecord | undefined, { kind, name }: Proposal['document']): readonly TaskRecord[] {
  const { tasks = [], skills = [] } = record ?? {};
  if (kind === 'memory') return tasks;
  const ownerOf = ownerAmong(skills);
  const owner = skills.some((skill) => skill.name === name) ? name : '';
  return tasks.filter((task) => ownerOf(task) === owner);
}

async function skillTextsOf(record: NightRecord | undefined, { readSkill }: Regating) {
  const texts = new Map<string, string>();
  for (const { name, hints } of record?.skills ?? []) {
    const text = await readSkill(name);
    if (text !== undefined) for (const hint of hints) texts.set(hint, text);
  }
  return texts;
}

/** Validation tasks, and attempts of the first look and the report: what it will cost at least. */
export async function regateCost(
  folder: string,
  { project, night, document }: Proposal,
): Promise<{ tasks: number; attempts: number }> {
  const record = await readNight(nightFolder(folder, project, night));
  const tasks = tasksFor(record, document).filter(({ split }) => split === 'val').length;
  return { tasks, attempts: 4 * tasks };
}
