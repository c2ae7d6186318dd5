import { applyPatchWithReport, type EditReport } from '../core/apply-edit.ts';
import type { Patch, RawPatch, UpdateItem } from '../core/edit.ts';
import { keepProtected } from '../core/keep-protected.ts';
import { skillHash } from '../core/skill-hash.ts';
import type { UpdateMode } from '../core/update-mode.ts';
import { type Memory, noMemory } from './memory.ts';
import { addNotes, type Noted } from './notes.ts';
import { rewriteSkill } from './rewrite.ts';
import type { StageDeps } from './stage-deps.ts';

export type Candidate = {
  readonly candidateSkill: string;
  readonly candidateHash: string;
  readonly report: EditReport[];
  readonly changeSummary?: readonly string[];
  readonly nOverCap?: number;
  readonly notes?: Noted['notes'];
};

export type UpdateInput = {
  readonly skill: string;
  readonly patch: Patch;
  readonly mode?: UpdateMode;
  readonly memory?: Memory;
  /** Longest document, in tokens; 0 is no limit. */
  readonly maxSkillTokens?: number;
  /** What analysts want the appendix to remind of. */
  readonly patches?: readonly RawPatch[];
  readonly consolidateThreshold?: number;
};

/** ⑤ Step: the chosen changes, applied in order, give the candidate. Nothing to apply gives the same text. */
export async function updateSkill(input: UpdateInput, deps: StageDeps): Promise<Candidate> {
  const changed = await changeBody(input, deps);
  const notes = (input.patches ?? []).flatMap((raw) => raw.appendixNotes ?? []);
  const { consolidateThreshold = 0, maxSkillTokens = 0 } = input;
  if (notes.length === 0) return withHash(changed);
  const noted = await addNotes({ skill: changed.candidateSkill, notes, consolidateThreshold }, deps);
  if (!(await fits(noted.skill, maxSkillTokens, deps))) return withHash(changed);
  return withHash({ ...changed, candidateSkill: noted.skill, notes: noted.notes });
}

type Changed = Omit<Candidate, 'candidateHash'>;

const withHash = (changed: Changed): Candidate => ({ ...changed, candidateHash: skillHash(changed.candidateSkill) });

const changeBody = (input: UpdateInput, deps: StageDeps): Promise<Changed> =>
  byMode[input.mode ?? 'patch'](input, deps);

const byMode: Record<UpdateMode, (input: UpdateInput, deps: StageDeps) => Promise<Changed>> = {
  patch: applyWithinCap,
  rewrite_from_suggestions: rewriteWithinCap,
  full_rewrite_minibatch: takeWholeRewrite,
};

/** The last edits are the least important ones: they go first when the document would be too long. */
async function applyWithinCap({ skill, patch, maxSkillTokens = 0 }: UpdateInput, deps: StageDeps): Promise<Changed> {
  for (let kept = patch.edits.length; ; kept--) {
    const { skill: candidateSkill, report } = applyPatchWithReport(skill, { edits: patch.edits.slice(0, kept) });
    if (kept > 0 && !(await fits(candidateSkill, maxSkillTokens, deps))) continue;
    return { candidateSkill, report, ...overCap(patch.edits.length - kept) };
  }
}

/** With fewer suggestions until the document is short enough; half of them each time, since each try is a call. */
async function rewriteWithinCap(input: UpdateInput, deps: StageDeps): Promise<Changed> {
  const { skill, patch, memory = noMemory, maxSkillTokens = 0 } = input;
  for (let kept = patch.edits.length; kept > 0; kept = Math.floor(kept / 2)) {
    const suggestions = patch.edits.slice(0, kept);
    const rewrite = await rewriteSkill({ skill, suggestions, memory, maxSkillTokens }, deps);
    if (!rewrite) return missing(input);
    if (!(await fits(rewrite.skill, maxSkillTokens, deps))) continue;
    const { skill: candidateSkill, changeSummary } = rewrite;
    const report = suggestions.map((item, index) => row(item, index, 'applied_rewrite'));
    return { candidateSkill, changeSummary, report, ...overCap(patch.edits.length - kept) };
  }
  return { ...missing(input), ...overCap(patch.edits.length) };
}

async function takeWholeRewrite(input: UpdateInput, deps: StageDeps): Promise<Changed> {
  const { skill, patch, maxSkillTokens = 0 } = input;
  const candidates = patch.edits.map((item) => keepProtected(skill, item.content));
  for (const [at, candidateSkill] of candidates.entries()) {
    if (candidateSkill === undefined || !(await fits(candidateSkill, maxSkillTokens, deps))) continue;
    const report = patch.edits.map((item, index) =>
      row(item, index, index === at ? 'applied_rewrite' : 'skipped_no_rewrite'),
    );
    return { candidateSkill, report };
  }
  return missing(input);
}

/** Something was proposed, and no document came of it. */
function missing({ skill, patch }: UpdateInput): Changed {
  return { candidateSkill: skill, report: patch.edits.map((item, index) => row(item, index, 'skipped_no_rewrite')) };
}

function row({ op, target, content }: UpdateItem, index: number, status: EditReport['status']): EditReport {
  return { index: index + 1, op, target: target.slice(0, 200), contentPreview: content.slice(0, 200), status };
}

const overCap = (nOverCap: number) => (nOverCap > 0 ? { nOverCap } : {});

/** Whether a document is short enough. */
export async function fits(skill: string, maxSkillTokens: number, { countTokens }: StageDeps): Promise<boolean> {
  return maxSkillTokens === 0 || (await countTokens(skill)) <= maxSkillTokens;
}
