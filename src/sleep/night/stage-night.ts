import { readBlock, writeBlock } from '../../core/document/index.ts';
import type { Amounts } from '../../core/run/index.ts';
import type { DocumentReport, SleepReport } from '../../report/index.ts';
import { documentOf, runNameOf } from '../documents/choose-skills.ts';
import type { LiveDocument } from '../documents/live-document.ts';
import { type Proposal, recordProposal } from '../staging/proposal.ts';
import { stage } from '../staging/stage.ts';
import type { SleepState } from '../state/sleep-state.ts';
import type { ConsolidationResult } from './consolidation-result.ts';
import type { CycleInput } from './cycle-input.ts';
import type { NightRecord } from './night-record.ts';
import type { Proof } from './prove.ts';
import type { QuarantinedText } from './quarantining.ts';
import { costOf, toReport, usageOf, verdictOf } from './sleep-report.ts';
import type { TrainedDocument } from './train-document.ts';

/**
 * A document as it will be when the person adopts what waits for them: a further night builds on it, and what it proposes
 * holds both. Not where the learned block was changed by hand since: then it starts from that.
 */
export function onPending(document: LiveDocument, proposals: readonly Proposal[]): LiveDocument {
  const waiting = proposals.findLast((proposal) => proposal.status === 'pending' && isFor(proposal, document));
  if (waiting === undefined || readBlock(document.text, 'learned') !== waiting.baseBlock) return document;
  return { ...document, text: writeBlock(document.text, 'learned', waiting.block) };
}

/** What is measured holds with it, which is no matter of course when another document waits. */
export function builtOn(documents: readonly LiveDocument[], proposals: readonly Proposal[]): string[] {
  const isUnder = (proposal: Proposal) =>
    documents.some((one) => isFor(proposal, one) && readBlock(one.text, 'learned') === proposal.block);
  return proposals
    .filter((proposal) => proposal.status === 'pending' && isUnder(proposal))
    .map(
      ({ night, document: { kind, name } }) =>
        `Built on what night ${night} proposed for the ${kind} ${name}, which still waits: what is measured here holds together with it.`,
    );
}

const isFor = ({ document }: Proposal, { live }: LiveDocument) => document.realPath === live.realPath;

/** The state with a new proposal, in place of those for the same document that it was built on. */
export function supersede(state: SleepState, proposal: Proposal): SleepState {
  const proposals = state.proposals.map((earlier): Proposal => {
    const isSame = earlier.document.realPath === proposal.document.realPath && earlier.project === proposal.project;
    return isSame && earlier.status === 'pending' ? { ...earlier, status: 'superseded' } : earlier;
  });
  return recordProposal({ ...state, proposals }, proposal);
}

const gainOf = (proof: Proof | undefined) => (proof ? { value: proof.gain.value, ...proof.gain.interval } : null);

/** Everything that was proven, or is wanted without a gate, waits for a person from here on. */
export async function stageNight(
  record: NightRecord,
  result: ConsolidationResult,
  input: CycleInput,
): Promise<Proposal[]> {
  const { project, night } = record;
  const proposals: Proposal[] = [];
  for (const { trained, named, isTaken, proof } of result.documents) {
    const document = documentOf(input.documents, trained, named);
    if (!isTaken || !document) continue;
    proposals.push(
      await stage({
        ...{ stateFolder: input.folder, project, night, document },
        ...{ live: document.live, roots: document.roots, isNewAllowed: document.isNewAllowed },
        id: `${night}${runNameOf(trained, named)}`,
        at: input.now().toISOString(),
        gain: gainOf(proof),
        confidence: proof ? 1 - proof.error : null,
        text: result.newSkills[named] ?? (trained === 'skill' ? result.newSkill : result.newMemory),
      }),
    );
  }
  return proposals;
}

type Night = {
  readonly record: NightRecord;
  readonly result: ConsolidationResult;
  readonly proposals: readonly Proposal[];
  readonly quarantined: readonly QuarantinedText[];
  /** Of the night's limits, where they are counted: mining too, and what was paid for before it was cut off. */
  readonly spent?: Amounts | undefined;
};

export function reportNight(
  { record, result, proposals, quarantined, spent }: Night,
  { documents, now }: CycleInput,
): SleepReport {
  const reported = result.documents.map((trained): DocumentReport => {
    const document = documentOf(documents, trained.trained, trained.named)!;
    const isStaged = proposals.some((proposal) => isFor(proposal, document));
    const { name, live } = document;
    return { ...documentReport(trained), name, path: live.path, isStaged };
  });
  const untrained = result.untrained.map(({ trained, named, tasks, note }) => {
    const { name, live } = documentOf(documents, trained, named)!;
    return { kind: trained, name, path: live.path, tasks: tasks.length, why: note };
  });
  const endedAt = now().toISOString();
  return toReport(record, result, { documents: reported, untrained, quarantined, spent, endedAt });
}

function documentReport(document: TrainedDocument) {
  const { trained, baseBlock, block, isTaken, proof, state } = document;
  const { baseline, best } = state.tests;
  const after = isTaken ? block : baseBlock;
  const test = baseline && best && { before: baseline.hard, after: (isTaken ? best : baseline).hard, tasks: best.n };
  const said = { verdict: verdictOf(document), ...costOf(usageOf(document)) };
  return { kind: trained, before: baseBlock, after, gain: gainOf(proof), test: test ?? null, ...said };
}
