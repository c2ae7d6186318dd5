import { applyPatchWithReport, type EditReport } from '../core/apply-edit.ts';
import type { Patch } from '../core/edit.ts';
import { skillHash } from '../core/skill-hash.ts';

export type Candidate = {
  readonly candidateSkill: string;
  readonly candidateHash: string;
  readonly report: EditReport[];
};

/** ⑤ Step: the chosen edits, applied in order, give the candidate. Nothing to apply gives the same text. */
export function updateSkill({ skill, patch }: { readonly skill: string; readonly patch: Patch }): Candidate {
  const { skill: candidateSkill, report } = applyPatchWithReport(skill, patch);
  return { candidateSkill, candidateHash: skillHash(candidateSkill), report };
}
