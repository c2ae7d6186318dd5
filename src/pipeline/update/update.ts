import { z } from 'zod';
import { dataSection, HEADINGS, promptSection, skillSection } from '../../core/contracts/index.ts';
import {
  applyPatchWithReport,
  type EditPolicy,
  type EditReport,
  findNewHidden,
  keepProtected,
  mergeNotes,
  type Patch,
  type RawPatch,
  readNotes,
  SKILL_FILE,
  splitPackage,
  type UpdateItem,
  type UpdateMode,
  withoutMarkers,
  writeNotes,
} from '../../core/document/index.ts';
import type { LeakCritic } from '../../core/guard/index.ts';
import type { Refusal, RunFact } from '../../core/run/index.ts';
import { defined, skillHash } from '../../core/text/index.ts';
import { askInSlot } from '../ask/ask.ts';
import { type Memory, noMemory, stepSections } from '../epoch/memory.ts';
import type { StageDeps } from '../stage-deps.ts';
import { ChangeSummary, toWireItem } from './wire-patch.ts';

/** A candidate as the event of its stage keeps it. */
export type Candidate = Omit<Extract<RunFact, { stage: 'update' }>, 'type' | 'step' | 'stage'>;

type UpdateInput = {
  readonly skill: string;
  readonly patch: Patch;
  readonly mode?: UpdateMode;
  readonly policy?: EditPolicy | undefined;
  readonly memory?: Memory;
  /** Longest document, in tokens; 0 is no limit. */
  readonly maxSkillTokens?: number;
  /** Their notes are reminders for the appendix. */
  readonly patches?: readonly RawPatch[];
  /** More reminders than this are merged into fewer; 0 is never. */
  readonly consolidateThreshold?: number;
  /** Reads rewrites and reminders. Selected edits were read before. */
  readonly readForLeaks?: LeakCritic;
};

/** ⑤ Step: the chosen changes, applied in order, give the candidate. Nothing to apply gives the same text. */
export async function updateSkill(input: UpdateInput, deps: StageDeps): Promise<Candidate> {
  const changed = await addReminders(await byMode[input.mode ?? 'patch'](input, deps), input, deps);
  const { candidateSkill } = changed;
  return { ...changed, candidateHash: skillHash(candidateSkill), ...memorised(candidateSkill, input) };
}

type ChangedSkill = Omit<Candidate, 'candidateHash' | 'memorisedShare'>;

const nothingFound: LeakCritic = () => ({ reason: undefined, memorisedShare: 0 });

function memorised(candidateSkill: string, { skill, readForLeaks = nothingFound }: UpdateInput) {
  const { memorisedShare } = candidateSkill === skill ? nothingFound('') : readForLeaks(candidateSkill);
  return memorisedShare > 0 ? { memorisedShare } : {};
}

/** The reminders of all analysts go into the appendix, if the document stays short enough. */
async function addReminders(changed: ChangedSkill, input: UpdateInput, deps: StageDeps): Promise<ChangedSkill> {
  const { patches = [], maxSkillTokens = 0 } = input;
  const offered = patches.flatMap((raw) => raw.appendixNotes ?? []);
  if (offered.length === 0) return changed;
  const { candidateSkill, notes, leaks } = await addNotes(changed.candidateSkill, offered, input, deps);
  const refused = [...(changed.refused ?? []), ...leaks];
  const known = refused.length > 0 ? { ...changed, refused } : changed;
  return (await fits(candidateSkill, maxSkillTokens, deps)) ? { ...known, candidateSkill, notes } : known;
}

const byMode: Record<UpdateMode, (input: UpdateInput, deps: StageDeps) => Promise<ChangedSkill>> = {
  patch: applyWithinCap,
  rewrite_from_suggestions: rewriteWithinCap,
  full_rewrite_minibatch: takeWholeRewrite,
};

/** Leaves out the last edits, which rank lowest, until the document is short enough. */
async function applyWithinCap(input: UpdateInput, deps: StageDeps): Promise<ChangedSkill> {
  const { skill, patch, maxSkillTokens = 0, policy } = input;
  for (let kept = patch.edits.length; ; kept--) {
    const edits = patch.edits.slice(0, kept);
    const { skill: candidateSkill, report } = applyPatchWithReport(skill, { edits }, policy);
    if (kept > 0 && !(await fits(readFirst(candidateSkill, policy), maxSkillTokens, deps))) continue;
    return { candidateSkill, report, ...overCap(patch.edits.length - kept) };
  }
}

/** Halves the suggestions until the document is short enough: each try is a call. */
async function rewriteWithinCap(input: UpdateInput, deps: StageDeps): Promise<ChangedSkill> {
  const { skill, patch, maxSkillTokens = 0, readForLeaks = nothingFound } = input;
  for (let kept = patch.edits.length; kept > 0; kept = Math.floor(kept / 2)) {
    const suggestions = patch.edits.slice(0, kept);
    const rewrite = await rewriteSkill(suggestions, input, deps);
    if (!rewrite) return missing(input);
    if (!(await fits(rewrite.skill, maxSkillTokens, deps))) continue;
    const hidden = findNewHidden(skill, rewrite.skill);
    if (hidden) return missing(input, `skipped_${hidden.kind}`);
    const { reason, kind } = readForLeaks(rewrite.skill);
    const refusal = { op: 'rewrite', target: '', content: rewrite.skill, ...defined({ kind }) };
    if (reason !== undefined) return leaking(input, { ...refusal, reason });
    const { skill: candidateSkill, changeSummary } = rewrite;
    const report = suggestions.map((item, index) => row(item, index, 'applied_rewrite'));
    return { candidateSkill, changeSummary, report, ...overCap(patch.edits.length - kept) };
  }
  return { ...missing(input), ...overCap(patch.edits.length) };
}

async function takeWholeRewrite(input: UpdateInput, deps: StageDeps): Promise<ChangedSkill> {
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

/** Why a whole document is not taken: it hides something, or another one is taken. */
function rewriteStatus(skill: string, text: string | undefined): Skipped {
  const hidden = text === undefined ? undefined : findNewHidden(skill, text);
  return hidden ? `skipped_${hidden.kind}` : 'skipped_no_rewrite';
}

type Skipped = Extract<EditReport['status'], `skipped_${string}` | 'quarantined'>;

/** Something was proposed, but gave no document. */
function missing({ skill, patch }: UpdateInput, status: Skipped = 'skipped_no_rewrite'): ChangedSkill {
  return { candidateSkill: skill, report: patch.edits.map((item, index) => row(item, index, status)) };
}

/** The document gives tasks away. */
const leaking = (input: UpdateInput, refusal: Refusal): ChangedSkill => {
  return { ...missing(input, refusal.kind === undefined ? 'skipped_leak' : 'quarantined'), refused: [refusal] };
};

function row({ op, target, content }: UpdateItem, index: number, status: EditReport['status']): EditReport {
  return { index: index + 1, op, target: target.slice(0, 200), contentPreview: content.slice(0, 200), status };
}

const overCap = (nOverCap: number) => (nOverCap > 0 ? { nOverCap } : {});

/** The text that is read with every task: of a package, SKILL.md alone. */
export const readFirst = (skill: string, policy: Pick<EditPolicy, 'isPackage'> | undefined): string =>
  policy?.isPackage ? (splitPackage(skill)[SKILL_FILE] ?? '') : skill;

/** A token is a byte at least: a short skill surely fits, and nothing is counted. */
export const surelyFits = (skill: string, maxSkillTokens: number): boolean =>
  maxSkillTokens === 0 || Buffer.byteLength(skill) <= maxSkillTokens;

export const fits = async (skill: string, maxSkillTokens: number, { countTokens }: StageDeps): Promise<boolean> =>
  surelyFits(skill, maxSkillTokens) || (await countTokens(skill)) <= maxSkillTokens;

const RewriteReply = z.object({ newSkill: z.string(), changeSummary: ChangeSummary });

/** The document as a rewriter makes it from suggestions. Protected parts stay as they are. */
async function rewriteSkill(suggestions: readonly UpdateItem[], input: UpdateInput, deps: StageDeps) {
  const user = askForRewrite(suggestions, input);
  const maxOutputTokens = deps.rewriteMaxCompletionTokens;
  const question = { prompt: 'rewrite', stage: 'rewrite', user, schema: RewriteReply, maxOutputTokens } as const;
  const reply = await askInSlot(question, deps);
  const skill = reply && keepProtected(input.skill, reply.newSkill);
  return skill === undefined ? undefined : { skill, changeSummary: reply?.changeSummary ?? [] };
}

function askForRewrite(suggestions: readonly UpdateItem[], input: UpdateInput): string {
  const { skill, memory = noMemory, maxSkillTokens = 0 } = input;
  const limit = `At most ${maxSkillTokens} tokens for the whole document.`;
  const list = JSON.stringify(suggestions.map(toWireItem), null, 2);
  return [
    skillSection(skill),
    ...stepSections(memory),
    ...(maxSkillTokens > 0 ? [promptSection(HEADINGS.lengthLimit, limit)] : []),
    dataSection(HEADINGS.suggestions, 'suggestions', list, `${suggestions.length}`),
  ].join('\n\n');
}

const NotesReply = z.object({ notes: z.array(z.string()) });

/** The skill with new reminders in its appendix, each said once, and few enough to be read. Leaks are left out. */
async function addNotes(skill: string, notes: readonly string[], input: UpdateInput, deps: StageDeps) {
  const { consolidateThreshold = 0, readForLeaks = nothingFound } = input;
  const known = readNotes(skill);
  const offered = mergeNotes([], notes);
  const visible = offered.filter(isVisible);
  const leaks = refusalsOf(visible, readForLeaks);
  const leaking = new Set(leaks.map(({ content }) => content));
  const sound = visible.filter((note) => !leaking.has(note));
  const all = mergeNotes(known, sound);
  const isLong = consolidateThreshold > 0 && all.length > consolidateThreshold && all.length > known.length;
  const fewer = isLong ? await consolidate(skill, all, deps) : undefined;
  // A consolidation that leaks is not used: without its leak it would not say what it was made from.
  const laterLeaks = refusalsOf(fewer ?? [], readForLeaks);
  const consolidated = fewer !== undefined && laterLeaks.length === 0;
  const total = consolidated ? fewer : all;
  const added = all.length - known.length;
  const hidden = offered.length - visible.length;
  return {
    candidateSkill: added === 0 ? skill : writeNotes(skill, total),
    notes: { added, total: total.length, consolidated, ...(hidden > 0 ? { hidden } : {}) },
    leaks: [...leaks, ...laterLeaks],
  };
}

function refusalsOf(notes: readonly string[], readForLeaks: LeakCritic): Refusal[] {
  return notes.flatMap((content) => {
    const { reason, kind } = readForLeaks(content);
    if (reason === undefined) return [];
    return [{ op: 'remind', target: '', content, reason, ...defined({ kind }) }];
  });
}

const isVisible = (note: string) => findNewHidden('', withoutMarkers(note)) === undefined;

/** Fewer notes that say the same; `undefined` when the answer is unusable. */
async function consolidate(skill: string, notes: readonly string[], deps: StageDeps): Promise<string[] | undefined> {
  const list = notes.map((note) => `- ${note}`).join('\n');
  const user = [skillSection(skill), dataSection(HEADINGS.notes, 'notes', list, `${notes.length}`)].join('\n\n');
  const question = { prompt: 'appendix_consolidate', stage: 'appendix_consolidate', user, schema: NotesReply } as const;
  const reply = await askInSlot(question, deps);
  const fewer = mergeNotes([], reply?.notes ?? []);
  const isUsable = fewer.length > 0 && fewer.length < notes.length && fewer.every(isVisible);
  return isUsable ? fewer : undefined;
}
