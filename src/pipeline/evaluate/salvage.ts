import { knowsNoise } from '../../core/contracts/index.ts';
import { applyPatchWithReport, type EditPolicy, type UpdateItem } from '../../core/document/index.ts';
import { isAccepted, type Salvage } from '../../core/run/index.ts';
import { skillHash } from '../../core/text/index.ts';
import type { StageDeps } from '../stage-deps.ts';
import { fits, readFirst } from '../update/update.ts';
import { judgeSkill } from './evaluate.ts';
import type { JudgedCandidate, RaceInput } from './race-input.ts';

type SalvageInput = RaceInput & {
  readonly skill: string;
  readonly edits: readonly UpdateItem[];
  /** Most rollouts that this may cost; 0 is enough for two candidates. */
  readonly maxRollouts: number;
  /** Longest document, in tokens; 0 is no limit. */
  readonly maxSkillTokens: number;
  readonly policy?: EditPolicy | undefined;
};

type Progress = { -readonly [Key in keyof Salvage]: Salvage[Key] };

/**
 * The halves of a rejected patch, then the halves of those, each by itself, until one is better or the rollouts are
 * spent: one bad edit shall not bury three good ones.
 */
export async function salvagePatch(input: SalvageInput, deps: StageDeps): Promise<Salvage> {
  const { edits, maxRollouts } = input;
  const queue = halve(edits.map((_, index) => index));
  const found: Progress = { tries: [], evaluations: {}, accepted: null };
  let rolloutsLeft = Math.min(maxRollouts || 2 * mostRollouts(input), input.rolloutsLeft ?? Number.POSITIVE_INFINITY);
  for (let part = queue.shift(); part && !found.accepted && rolloutsLeft >= mostRollouts(input); part = queue.shift()) {
    rolloutsLeft -= await tryPart(part, input, found, deps);
    queue.push(...halve(part));
  }
  return found;
}

/** One pass, or two where the gate looks twice. */
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
async function tryPart(part: number[], input: SalvageInput, found: Progress, deps: StageDeps): Promise<number> {
  const { skill, edits, state, maxSkillTokens, policy } = input;
  const chosen = { edits: part.map((index) => edits[index]) };
  const { skill: candidateSkill } = applyPatchWithReport(skill, chosen, policy);
  const candidateHash = skillHash(candidateSkill);
  if (candidateHash === state.current.hash || found.tries.some(({ hash }) => hash === candidateHash)) return 0;
  if (!(await fits(readFirst(candidateSkill, policy), maxSkillTokens, deps))) return 0;
  const { results: _results, ...verdict } = await judgeSkill({ candidateSkill, candidateHash }, input, deps);
  const { evaluation, score, action, isPartial = false, decision, blame } = verdict;
  found.tries = [...found.tries, { edits: part, score, hash: candidateHash }];
  if (evaluation && !isPartial) {
    const { hard, soft } = evaluation;
    found.evaluations = { ...found.evaluations, [candidateHash]: { hard, soft } };
  }
  if (blame) found.asked = (found.asked ?? 0) + blame.asked;
  const judged = { evaluation, score, action, ...(decision ? { decision } : {}) };
  if (isAccepted(action)) found.accepted = { candidateSkill, candidateHash, ...judged, edits: part };
  return rolloutsOf(verdict);
}
