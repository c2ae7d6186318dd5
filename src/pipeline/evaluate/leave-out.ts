import { knowsNoise } from '../../core/contracts/index.ts';
import {
  applyPatchWithReport,
  type EditPolicy,
  findRegions,
  joinPackage,
  partOf,
  splitPackage,
  type UpdateItem,
} from '../../core/document/index.ts';
import { hasPass, isAccepted, type Prune, passScore, type Salvage, type TrialAttempts } from '../../core/run/index.ts';
import { skillHash } from '../../core/text/index.ts';
import type { StageDeps } from '../stage-deps.ts';
import { fits, readFirst } from '../update/update.ts';
import { judgeSkill } from './evaluate.ts';
import type { JudgedCandidate, RaceInput } from './race-input.ts';

type PruneInput = RaceInput & {
  readonly maxPasses?: number | undefined;
  /** What accepted edits wrote, in the order in which it is left out. */
  readonly passages: readonly string[];
  readonly isPackage?: boolean;
  readonly onTried?: OnTried;
};

/** Is given each text that was judged, by its place among the tries; it takes the attempts, which are not kept. */
type OnTried = (place: number, attempts: TrialAttempts) => Promise<void>;

/** Leave one out: a passage without which the best skill scores no less is taken out of it, one after the other. */
export async function pruneSkill(input: PruneInput, deps: StageDeps): Promise<Prune> {
  const { maxPasses = Number.POSITIVE_INFINITY } = input;
  let kept = await measureBest(input, deps);
  for (const passage of input.passages) {
    const passes = Object.keys(kept.evaluations).length; // each text that was measured took one
    if (passes < maxPasses) kept = await tryWithout(passage, kept, input, deps);
  }
  return kept;
}

/** By a whole pass, like the texts that are tried. A skill that was accepted early has none yet. */
async function measureBest(input: PruneInput, deps: StageDeps): Promise<Prune> {
  const { best } = input.state;
  const { skill, hash } = best;
  const known = { removed: [], tries: 0, skill, hash, evaluations: {} };
  if (hasPass(input.state, best)) return { ...known, score: passScore(input.state, best) };
  const measured = await judgeSkill({ candidateSkill: skill, candidateHash: hash }, input, deps);
  await input.onTried?.(0, measured); // nothing is left out
  return { ...known, score: measured.score, evaluations: evaluationOf(hash, measured) };
}

function evaluationOf(hash: string, { evaluation, isPartial = false }: Omit<JudgedCandidate, 'results'>) {
  return evaluation && !isPartial ? { [hash]: { hard: evaluation.hard, soft: evaluation.soft } } : {};
}

async function tryWithout(passage: string, kept: Prune, input: PruneInput, deps: StageDeps): Promise<Prune> {
  const candidateSkill = withoutPassageIn(kept.skill, passage, input.isPackage);
  if (candidateSkill === undefined) return kept;
  const candidateHash = skillHash(candidateSkill);
  const judged = await judgeSkill({ candidateSkill, candidateHash }, input, deps);
  await input.onTried?.(kept.tries + 1, judged);
  const { score, isPartial = false, blame, results } = judged;
  const evaluations = { ...kept.evaluations, ...evaluationOf(candidateHash, judged) };
  const effect = { passage, gain: kept.score - score, tasks: input.items.length };
  const measured = isPartial ? {} : { measured: [...(kept.measured ?? []), effect] };
  const unscored = blame ? { unscored: (kept.unscored ?? 0) + results.length + blame.asked } : {};
  const tried = { ...kept, tries: kept.tries + 1, evaluations, ...measured, ...unscored };
  if (isPartial || score < kept.score) return tried;
  return { ...tried, removed: [...kept.removed, passage], skill: candidateSkill, hash: candidateHash, score };
}

/** A skill without a passage. In a package, exactly one file must hold it, and no script. */
export function withoutPassageIn(skill: string, passage: string, isPackage = false): string | undefined {
  if (!isPackage) return withoutPassage(skill, passage);
  const files = splitPackage(skill);
  const holders = Object.entries(files).filter(([, text]) => text.includes(passage));
  const [path, text] = holders.length === 1 ? holders[0]! : ['scripts/', ''];
  const changed = partOf(path) === 'scripts' ? undefined : withoutPassage(text, passage);
  return changed === undefined ? undefined : joinPackage({ ...files, [path]: changed });
}

/** Also without the empty lines around it; `undefined` when it is not there exactly once, or is protected. */
function withoutPassage(skill: string, passage: string): string | undefined {
  const start = passage === '' ? -1 : skill.indexOf(passage);
  const end = start + passage.length;
  if (start === -1 || skill.indexOf(passage, start + 1) !== -1) return undefined;
  if (findRegions(skill).some((region) => start < region.end && end > region.start)) return undefined;
  const [before, after] = [skill.slice(0, start), skill.slice(end)];
  if (!before.endsWith('\n')) return before + after;
  const rest = after.replace(/^\n{1,2}/, '');
  return rest === '' ? before.replace(/(?<!\n)\n+$/, '\n') : before + rest; // no empty line at the end
}

type SalvageInput = RaceInput & {
  readonly skill: string;
  readonly edits: readonly UpdateItem[];
  /** 0 is enough for two candidates. */
  readonly maxRollouts: number;
  /** Longest document, in tokens; 0 is no limit. */
  readonly maxSkillTokens: number;
  readonly policy?: EditPolicy | undefined;
  readonly onTried?: OnTried;
};

type Mutable<Data> = { -readonly [Key in keyof Data]: Data[Key] };

/** Tries the halves of a rejected patch, then their halves, until one is better or the rollouts are spent. */
export async function salvagePatch(input: SalvageInput, deps: StageDeps): Promise<Salvage> {
  const { edits, maxRollouts } = input;
  const queue = halve(edits.map((_, index) => index));
  const found: Mutable<Salvage> = { tries: [], evaluations: {}, accepted: null };
  let rolloutsLeft = Math.min(maxRollouts || 2 * mostRollouts(input), input.rolloutsLeft ?? Number.POSITIVE_INFINITY);
  for (let part = queue.shift(); part && !found.accepted && rolloutsLeft >= mostRollouts(input); part = queue.shift()) {
    rolloutsLeft -= await tryPart(part, input, found, deps);
    queue.push(...halve(part));
  }
  return found;
}

function mostRollouts({ items, config: { gate } }: SalvageInput): number {
  return knowsNoise(gate) ? 2 * items.length : items.length;
}

function rolloutsOf({ evaluation, decision, blame }: Omit<JudgedCandidate, 'results'>): number {
  const { confirmation = [], veto } = decision ?? {};
  const asked = [evaluation?.scores ?? [], confirmation, veto?.incumbent ?? [], veto?.candidate ?? []];
  return asked.reduce((sum, { length }) => sum + length, blame?.asked ?? 0);
}

function halve(part: readonly number[]): number[][] {
  if (part.length < 2) return [];
  const middle = Math.ceil(part.length / 2);
  return [part.slice(0, middle), part.slice(middle)];
}

/** Answers how many rollouts this cost. */
async function tryPart(part: number[], input: SalvageInput, found: Mutable<Salvage>, deps: StageDeps): Promise<number> {
  const { skill, edits, state, maxSkillTokens, policy } = input;
  const chosen = { edits: part.map((index) => edits[index]) };
  const { skill: candidateSkill } = applyPatchWithReport(skill, chosen, policy);
  const candidateHash = skillHash(candidateSkill);
  if (candidateHash === state.current.hash || found.tries.some(({ hash }) => hash === candidateHash)) return 0;
  if (!(await fits(readFirst(candidateSkill, policy), maxSkillTokens, deps))) return 0;
  const verdict = await judgeSkill({ candidateSkill, candidateHash }, input, deps);
  await input.onTried?.(found.tries.length + 1, verdict);
  const { evaluation, score, action, decision, blame } = verdict;
  found.tries = [...found.tries, { edits: part, score, hash: candidateHash }];
  found.evaluations = { ...found.evaluations, ...evaluationOf(candidateHash, verdict) };
  if (blame) found.asked = (found.asked ?? 0) + blame.asked;
  const judged = { evaluation, score, action, ...(decision ? { decision } : {}) };
  if (isAccepted(action)) found.accepted = { candidateSkill, candidateHash, ...judged, edits: part };
  return rolloutsOf(verdict);
}
