import { dirname } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import {
  applyEditRecords,
  EditRecord,
  readBlock,
  readPassages,
  readRules,
  replacePassage,
  writeBlock,
} from '../../core/document/index.ts';
import { nextError, PROOF_LOOKS } from '../../core/stats/index.ts';
import { strip } from '../../core/text/index.ts';
import { commandOf } from '../../report/index.ts';
import { type ReadDocument, readDocument } from '../../skills/index.ts';
import { runDirectory } from '../../stores/index.ts';
import { scaffoldOf } from '../documents/live-document.ts';
import { ownerAmong } from '../documents/skills.ts';
import type { Documents } from '../replay/replay.ts';
import { sleepEnv } from '../replay/sleep-env.ts';
import type { NightWork } from '../replay/work.ts';
import type { Proposal } from '../staging/proposal.ts';
import { settleText, stage, textOf } from '../staging/stage.ts';
import { nightFolder } from '../state/folders.ts';
import { type NightRecord, readNight } from '../state/nights.ts';
import type { SleepState } from '../state/sleep-state.ts';
import { type CycleInput, nightConfigOf } from './cycle-input.ts';
import { nightBudget } from './night-limits.ts';
import { testedNights } from './over-nights.ts';
import { gainOf, type Proof, prove, REPORT_PASSES } from './prove.ts';
import { environmentOf } from './train-document.ts';

export type Reviewable = {
  readonly proposal: Proposal;
  readonly record: NightRecord;
  readonly live: ReadDocument;
  readonly text: string;
  readonly block: string;
};

export async function openReview(folder: string, proposal: Proposal): Promise<Reviewable> {
  const { project, night, document } = proposal;
  const record = await readNight(nightFolder(folder, project, night));
  if (record === undefined) {
    const message = `the tasks of night ${night} are not kept any more: nothing can be measured`;
    const hint = `${commandOf(proposal, 'adopt')} takes it as it is; a new night proposes from what it is now.`;
    throw new SkillError('USAGE', message, { hint });
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
  readonly documents: Documents;
  readonly readSkill: (name: string) => Promise<string | undefined>;
};

/** Tests a part of a proposal on its night's tasks, with its own share of the error. */
export async function regate(review: Reviewable, input: Regating): Promise<Proof> {
  const { proposal, record, text, block: baseBlock } = review;
  if (record.work && !input.work) {
    const message = `night ${record.night} was measured with ${record.work.agent}, and the target is no agent now`;
    const hint = 'Name the same one as the target, such as { agent: claude }, or adopt the proposal as it is.';
    throw new SkillError('USAGE', message, { hint });
  }
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

/** Stages what was proven. Once it is recorded, `settleText` puts it in the place of the proposal. */
export async function stageAgain(
  { proposal, live, text }: Reviewable,
  { folder, block, proof, at }: { folder: string; block: string; proof: Proof; at: string },
): Promise<Proposal> {
  const { project, id, night, document, concerns } = proposal;
  await settleText(folder, proposal);
  return stage({
    ...{ stateFolder: folder, project, night, id, document, live, at, concerns, isAgain: true },
    roots: [dirname(document.realPath)],
    gain: gainOf(proof),
    confidence: 1 - proof.error,
    text: writeBlock(text, 'learned', block),
    isNewAllowed: live.bytes === null,
  });
}

/** The held-out tasks, and the model calls: at least if the first look decides, at most if all looks are needed. */
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

/** An item of a list, or a passage between items (`isProse`). */
export type ReviewedChange = { readonly kind: 'add' | 'remove'; readonly rule: string; readonly isProse?: true };

/** Keep the rule as proposed, drop it, or take it in the person's own words. */
export type ReviewDecision = 'keep' | 'drop' | { readonly rule: string };

type Blocks = Pick<Proposal, 'baseBlock' | 'block'>;

export function changesOf({ baseBlock, block }: Blocks): ReviewedChange[] {
  const prose = changesIn(readPassages(baseBlock), readPassages(block));
  return [
    ...changesIn(readRules(baseBlock), readRules(block)),
    ...prose.map((change) => ({ ...change, isProse: true as const })),
  ];
}

const changesIn = (before: readonly string[], after: readonly string[]): ReviewedChange[] => [
  ...after.filter((rule) => !before.includes(rule)).map((rule) => ({ kind: 'add' as const, rule })),
  ...before.filter((rule) => !after.includes(rule)).map((rule) => ({ kind: 'remove' as const, rule })),
];

/** The block with the changes that the person wants. If the document's block has changed since, they are made on that one. */
export function reviewedBlock(
  { baseBlock, block }: Blocks,
  changes: readonly ReviewedChange[],
  decisions: readonly ReviewDecision[],
  liveBlock = baseBlock,
): string {
  if (decisions.every((decision) => decision === 'drop')) return liveBlock;
  const isMoved = strip(liveBlock) !== strip(baseBlock);
  const recordsFor = isMoved ? recordsToMake : recordsToUndo;
  const decided = changes.map((change, index) => ({ change, decision: decisions[index] ?? 'keep' }));
  const records = decided.flatMap(({ change, decision }) => (change.isProse ? [] : recordsFor(change, decision)));
  const withRules = applyEditRecords(isMoved ? liveBlock : block, records).block;
  return decided
    .filter(({ change }) => change.isProse)
    .reduce((now, { change, decision }) => replacePassage(now, change.rule, passageAfter(change, decision)), withRules);
}

/** What stands in place of a passage after the review; empty: nothing. */
function passageAfter({ kind, rule }: ReviewedChange, decision: ReviewDecision): string {
  if (typeof decision === 'object') return decision.rule;
  return (kind === 'add') === (decision === 'keep') ? rule : '';
}

function recordsToUndo({ kind, rule }: ReviewedChange, decision: ReviewDecision): EditRecord[] {
  if (decision === 'keep') return [];
  const content = decision === 'drop' ? '' : decision.rule;
  if (kind === 'remove') return [EditRecord.parse({ content: decision === 'drop' ? rule : content })];
  return [EditRecord.parse({ op: strip(content) === '' ? 'delete' : 'replace', anchor: rule, content })];
}

function recordsToMake({ kind, rule }: ReviewedChange, decision: ReviewDecision): EditRecord[] {
  if (decision === 'drop') return [];
  const content = decision === 'keep' ? rule : decision.rule;
  if (kind === 'add') return [EditRecord.parse({ content })];
  return [EditRecord.parse({ op: decision === 'keep' ? 'delete' : 'replace', anchor: rule, content })];
}
