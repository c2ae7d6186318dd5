import { dirname } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { readBlock, writeBlock } from '../../core/document/index.ts';
import { nextError, PROOF_LOOKS } from '../../core/stats/index.ts';
import { commandOf } from '../../report/index.ts';
import { type ReadDocument, readDocument } from '../../skills/index.ts';
import { runDirectory } from '../../stores/index.ts';
import { ownerAmong } from '../documents/choose-skills.ts';
import { scaffoldOf } from '../documents/live-document.ts';
import type { Documents } from '../replay/attempt.ts';
import type { NightWork } from '../replay/night-work.ts';
import { sleepEnv } from '../replay/sleep-env.ts';
import type { Proposal } from '../staging/proposal.ts';
import { settleText, stage, textOf } from '../staging/stage.ts';
import { nightFolder } from '../state/nights.ts';
import type { SleepState } from '../state/sleep-state.ts';
import type { CycleInput } from './cycle-input.ts';
import { testedNights } from './night-history.ts';
import { nightBudget } from './night-limits.ts';
import { type NightRecord, readNight } from './night-record.ts';
import { type Proof, prove, REPORT_PASSES } from './prove.ts';
import { environmentOf, nightConfigOf } from './train-document.ts';

/** A proposal beside its night's tasks and its document as it is now. */
export type Reviewable = {
  readonly proposal: Proposal;
  readonly record: NightRecord;
  readonly live: ReadDocument;
  readonly text: string;
  /** The learned block of that text. */
  readonly block: string;
};

export async function openReview(folder: string, proposal: Proposal): Promise<Reviewable> {
  const { project, night, document } = proposal;
  const record = await readNight(nightFolder(folder, project, night));
  if (record === undefined) {
    const hint = `${commandOf(proposal, 'adopt')} takes it as it is; a new night proposes from what it is now.`;
    throw new SkillError('USAGE', `the tasks of night ${night} are not kept any more: nothing can be measured`, {
      hint,
    });
  }
  const live = await readDocument(document.path, [dirname(document.realPath)], { realPath: document.realPath });
  const scaffold = document.kind === 'skill' ? scaffoldOf(document.name) : '';
  const text = live.bytes === null ? scaffold : textOf(live.bytes, document.path);
  return { proposal, record, live, text, block: readBlock(text, 'learned') };
}

type Regating = Pick<CycleInput, 'folder' | 'models' | 'settings' | 'config' | 'scorers' | 'observers' | 'signal'> & {
  readonly state: SleepState;
  /** An agent with tools that does the tasks, in place of the target. */
  readonly work?: NightWork | undefined;
  /** What the person made of the proposed block. */
  readonly block: string;
  /** The other document, as it is. */
  readonly documents: Documents;
  /** The text of an existing skill, for tasks that were done with it. */
  readonly readSkill: (name: string) => Promise<string | undefined>;
};

/** Puts a part of a proposal to the test on its night's tasks, with a share of the error of its own. */
export async function regate(review: Reviewable, input: Regating): Promise<Proof> {
  const { proposal, record, text, block: baseBlock } = review;
  if (record.work && !input.work) throw withoutTools(record);
  const { folder, state, block, documents, settings } = input;
  const trained = proposal.document.kind;
  const night = {
    ...input,
    ...{ tasks: tasksFor(review), trained, prompt: settings.promptOverrides.attempt },
    documents: { ...documents, [trained]: text },
    skillTexts: trained === 'memory' ? await skillTextsOf(record, input) : undefined,
    config: nightConfigOf(input),
    budget: nightBudget(nightConfigOf(input)),
    store: runDirectory(nightFolder(folder, proposal.project, proposal.id)),
    error: nextError(testedNights(state, proposal.project)),
  };
  return prove({ ...night, state: undefined, env: environmentOf(night), baseBlock, block });
}

function withoutTools({ night, work }: NightRecord): SkillError {
  return new SkillError('USAGE', `night ${night} was measured with ${work!.agent}, and the target is no agent now`, {
    hint: 'Name the same one as the target, such as { agent: claude }, or adopt the proposal as it is.',
  });
}

/** Those that judged the document in its night. */
function tasksFor({ proposal, record: { tasks, skills } }: Pick<Reviewable, 'proposal' | 'record'>) {
  const { kind, name } = proposal.document;
  if (kind === 'memory') return tasks;
  const ownerOf = ownerAmong(skills);
  const owner = skills.some((skill) => skill.name === name) ? name : '';
  return tasks.filter((task) => ownerOf(task) === owner);
}

async function skillTextsOf({ skills }: NightRecord, { readSkill }: Regating) {
  const texts = new Map<string, string>();
  for (const { name, hints } of skills) {
    const text = await readSkill(name);
    if (text !== undefined) for (const hint of hints) texts.set(hint, text);
  }
  return texts;
}

/** What was proven, as it is to be recorded; then `settleText` puts it into the place of the proposal. */
export async function stageAgain(
  { proposal, live, text }: Reviewable,
  { folder, block, proof, at }: { folder: string; block: string; proof: Proof; at: string },
): Promise<Proposal> {
  const { project, id, night, document } = proposal;
  await settleText(folder, proposal);
  return stage({
    ...{ stateFolder: folder, project, night, id, document, live, at, isAgain: true },
    roots: [dirname(document.realPath)],
    gain: { value: proof.gain.value, ...proof.gain.interval },
    confidence: 1 - proof.error,
    text: writeBlock(text, 'learned', block),
    isNewAllowed: live.bytes === null,
  });
}

/** Held-out tasks, and how many calls of models it takes: if the first look decides, and if all are needed. */
export function regateCost(review: Reviewable, scorers: CycleInput['scorers']) {
  const { proposal, text } = review;
  const tasks = tasksFor(review).filter(({ split }) => split === 'val');
  const trained = proposal.document.kind;
  const documents = { skill: '', memory: '', [trained]: text };
  const { judgeCalls = 0 } = sleepEnv({ name: 'sleep', tasks, documents, trained, scorers });
  const callsOf = (passes: number) => Math.round(2 * passes * tasks.length * (1 + judgeCalls));
  const [first, last] = [PROOF_LOOKS[0]!, PROOF_LOOKS.at(-1)!];
  return { tasks: tasks.length, least: callsOf(first.passes), most: callsOf(last.passes + REPORT_PASSES) };
}
