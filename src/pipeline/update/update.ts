import {
  applyPatchWithReport,
  type EditPolicy,
  type EditReport,
  findNewHidden,
  keepProtected,
  type Patch,
  type RawPatch,
  SKILL_FILE,
  splitPackage,
  type UpdateItem,
  type UpdateMode,
} from '../../core/document/index.ts';
import type { LeakCritic } from '../../core/guard/index.ts';
import type { Refusal } from '../../core/run/index.ts';
import { skillHash } from '../../core/text/index.ts';
import { type Memory, noMemory } from '../epoch/memory.ts';
import type { StageDeps } from '../stage-deps.ts';
import { addNotes, type Noted } from './notes.ts';
import { rewriteSkill } from './rewrite.ts';

export type Candidate = {
  readonly candidateSkill: string;
  readonly candidateHash: string;
  readonly report: EditReport[];
  readonly changeSummary?: readonly string[];
  readonly nOverCap?: number;
  readonly notes?: Noted['notes'];
  readonly refused?: readonly Refusal[];
  readonly memorisedShare?: number;
};

export type UpdateInput = {
  readonly skill: string;
  readonly patch: Patch;
  readonly mode?: UpdateMode;
  /** What may be changed, where that is not the body of one document. */
  readonly policy?: EditPolicy | undefined;
  readonly memory?: Memory;
  /** Longest document, in tokens; 0 is no limit. */
  readonly maxSkillTokens?: number;
  /** What analysts want the appendix to remind of. */
  readonly patches?: readonly RawPatch[];
  readonly consolidateThreshold?: number;
  /** Reads what a rewriter or a reminder says that the skill does not. Selected edits were read before. */
  readonly readForLeaks?: LeakCritic;
};

/** ⑤ Step: the chosen changes, applied in order, give the candidate. Nothing to apply gives the same text. */
export async function updateSkill(input: UpdateInput, deps: StageDeps): Promise<Candidate> {
  const changed = await addReminders(await changeBody(input, deps), input, deps);
  const { candidateSkill } = changed;
  return { ...changed, candidateHash: skillHash(candidateSkill), ...memorised(candidateSkill, input) };
}

type Changed = Omit<Candidate, 'candidateHash' | 'memorisedShare'>;

const nothingFound: LeakCritic = () => ({ reason: undefined, memorisedShare: 0 });

function memorised(candidateSkill: string, { skill, readForLeaks = nothingFound }: UpdateInput) {
  const { memorisedShare } = candidateSkill === skill ? nothingFound('') : readForLeaks(candidateSkill);
  return memorisedShare > 0 ? { memorisedShare } : {};
}

/** The reminders of all analysts go into the appendix, if the document stays short enough. */
async function addReminders(changed: Changed, input: UpdateInput, deps: StageDeps): Promise<Changed> {
  const { patches = [], consolidateThreshold = 0, maxSkillTokens = 0, readForLeaks = nothingFound } = input;
  const said = patches.flatMap((raw) => raw.appendixNotes ?? []);
  if (said.length === 0) return changed;
  const question = { skill: changed.candidateSkill, notes: said, consolidateThreshold, readForLeaks };
  const { skill: candidateSkill, notes, refused: leaking } = await addNotes(question, deps);
  const refused = [...(changed.refused ?? []), ...leaking];
  const known = refused.length > 0 ? { ...changed, refused } : changed;
  return (await fits(candidateSkill, maxSkillTokens, deps)) ? { ...known, candidateSkill, notes } : known;
}

const changeBody = (input: UpdateInput, deps: StageDeps): Promise<Changed> =>
  byMode[input.mode ?? 'patch'](input, deps);

const byMode: Record<UpdateMode, (input: UpdateInput, deps: StageDeps) => Promise<Changed>> = {
  patch: applyWithinCap,
  rewrite_from_suggestions: rewriteWithinCap,
  full_rewrite_minibatch: takeWholeRewrite,
};

/** The last edits are the least important ones: they go first when the document would be too long. */
async function applyWithinCap(input: UpdateInput, deps: StageDeps): Promise<Changed> {
  const { skill, patch, maxSkillTokens = 0, policy } = input;
  for (let kept = patch.edits.length; ; kept--) {
    const edits = patch.edits.slice(0, kept);
    const { skill: candidateSkill, report } = applyPatchWithReport(skill, { edits }, policy);
    if (kept > 0 && !(await fits(readFirst(candidateSkill, policy), maxSkillTokens, deps))) continue;
    return { candidateSkill, report, ...overCap(patch.edits.length - kept) };
  }
}

/** With fewer suggestions until the document is short enough; half of them each time, since each try is a call. */
async function rewriteWithinCap(input: UpdateInput, deps: StageDeps): Promise<Changed> {
  const { skill, patch, memory = noMemory, maxSkillTokens = 0, readForLeaks = nothingFound } = input;
  for (let kept = patch.edits.length; kept > 0; kept = Math.floor(kept / 2)) {
    const suggestions = patch.edits.slice(0, kept);
    const rewrite = await rewriteSkill({ skill, suggestions, memory, maxSkillTokens }, deps);
    if (!rewrite) return missing(input);
    if (!(await fits(rewrite.skill, maxSkillTokens, deps))) continue;
    const hidden = findNewHidden(skill, rewrite.skill);
    if (hidden) return missing(input, `skipped_${hidden.kind}`);
    const { reason, kind } = readForLeaks(rewrite.skill);
    const refusal = { op: 'rewrite', target: '', content: rewrite.skill, ...(kind === undefined ? {} : { kind }) };
    if (reason !== undefined) return leaking(input, { ...refusal, reason });
    const { skill: candidateSkill, changeSummary } = rewrite;
    const report = suggestions.map((item, index) => row(item, index, 'applied_rewrite'));
    return { candidateSkill, changeSummary, report, ...overCap(patch.edits.length - kept) };
  }
  return { ...missing(input), ...overCap(patch.edits.length) };
}

async function takeWholeRewrite(input: UpdateInput, deps: StageDeps): Promise<Changed> {
  const { skill, patch, maxSkillTokens = 0 } = input;
  const candidates = patch.edits.map((item) => keepProtected(skill, item.content));
  const statuses = candidates.map((text) => rewriteStatus(skill, text));
  for (const [at, candidateSkill] of candidates.entries()) {
    const isUsable = candidateSkill !== undefined && statuses[at] === 'skipped_no_rewrite';
    if (!isUsable || !(await fits(candidateSkill, maxSkillTokens, deps))) continue;
    const report = patch.edits.map((item, index) =>
      row(item, index, index === at ? 'applied_rewrite' : statuses[index]!),
    );
    const { changeSummary } = patch.edits[at]!;
    return { candidateSkill, ...(changeSummary ? { changeSummary } : {}), report };
  }
  return { candidateSkill: skill, report: patch.edits.map((item, index) => row(item, index, statuses[index]!)) };
}

/** Of a whole document that is not taken: it hides something, or another was. */
function rewriteStatus(skill: string, text: string | undefined): Skipped {
  const hidden = text === undefined ? undefined : findNewHidden(skill, text);
  return hidden ? `skipped_${hidden.kind}` : 'skipped_no_rewrite';
}

type Skipped = Extract<EditReport['status'], `skipped_${string}` | 'quarantined'>;

/** Something was proposed, and no document came of it. */
function missing({ skill, patch }: UpdateInput, status: Skipped = 'skipped_no_rewrite'): Changed {
  return { candidateSkill: skill, report: patch.edits.map((item, index) => row(item, index, status)) };
}

/** A document came of it that must not be tried. */
const leaking = (input: UpdateInput, refusal: Refusal): Changed => {
  return { ...missing(input, refusal.kind === undefined ? 'skipped_leak' : 'quarantined'), refused: [refusal] };
};

function row({ op, target, content }: UpdateItem, index: number, status: EditReport['status']): EditReport {
  return { index: index + 1, op, target: target.slice(0, 200), contentPreview: content.slice(0, 200), status };
}

const overCap = (nOverCap: number) => (nOverCap > 0 ? { nOverCap } : {});

/** What of a skill is read with every task: of a package, SKILL.md alone. */
export const readFirst = (skill: string, policy: Pick<EditPolicy, 'isPackage'> | undefined): string =>
  policy?.isPackage ? (splitPackage(skill)[SKILL_FILE] ?? '') : skill;

/** Whether a document is short enough. */
export async function fits(skill: string, maxSkillTokens: number, { countTokens }: StageDeps): Promise<boolean> {
  return maxSkillTokens === 0 || (await countTokens(skill)) <= maxSkillTokens;
}
