import { passScore } from '../core/known-scores.ts';
import type { Prune } from '../core/optimizer-facts.ts';
import { findRegions } from '../core/protected-regions.ts';
import { skillHash } from '../core/skill-hash.ts';
import { judgeSkill } from './evaluate.ts';
import type { GateInput } from './gate-input.ts';
import type { StageDeps } from './stage-deps.ts';

type PruneInput = GateInput & {
  /** What accepted edits wrote, in the order in which to try to do without it. */
  readonly passages: readonly string[];
};

/** Leave one out: a passage without which the best skill scores no less is taken out of it, one after the other. */
export async function pruneSkill(input: PruneInput, deps: StageDeps): Promise<Prune> {
  const { skill, hash } = input.state.best;
  const score = passScore(input.state, input.state.best); // as what is tried is measured
  let kept: Prune = { removed: [], tries: 0, skill, hash, score, evaluations: {} };
  for (const passage of input.passages) kept = await tryWithout(passage, kept, input, deps);
  return kept;
}

async function tryWithout(passage: string, kept: Prune, input: PruneInput, deps: StageDeps): Promise<Prune> {
  const candidateSkill = withoutPassage(kept.skill, passage);
  if (candidateSkill === undefined) return kept;
  const candidateHash = skillHash(candidateSkill);
  const { score, evaluation, isPartial = false } = await judgeSkill({ candidateSkill, candidateHash }, input, deps);
  const evaluations =
    evaluation && !isPartial
      ? { ...kept.evaluations, [candidateHash]: { hard: evaluation.hard, soft: evaluation.soft } }
      : kept.evaluations;
  const tried = { ...kept, tries: kept.tries + 1, evaluations };
  if (isPartial || score < kept.score) return tried;
  return { ...tried, removed: [...kept.removed, passage], skill: candidateSkill, hash: candidateHash, score };
}

/** The text without a passage and the empty line after it; `undefined` when it is not there once, or is protected. */
export function withoutPassage(skill: string, passage: string): string | undefined {
  const start = passage === '' ? -1 : skill.indexOf(passage);
  const end = start + passage.length;
  if (start === -1 || skill.indexOf(passage, start + 1) !== -1) return undefined;
  if (findRegions(skill).some((region) => start < region.end && end > region.start)) return undefined;
  const [before, after] = [skill.slice(0, start), skill.slice(end)];
  return before.endsWith('\n') ? before + after.replace(/^\n{1,2}/, '') : before + after;
}
