import { type Gate, knowsNoise } from './gate/gate.ts';
import { type SkillPart, trainsMore } from './skill/skill-parts.ts';
import type { UpdateMode } from './skill/update-mode.ts';

type Together = {
  readonly minEditBudget: number;
  readonly editBudget: number;
  readonly gate: Gate;
  readonly useGate: boolean;
  readonly regressionVeto: boolean;
  readonly protectedItems: readonly string[];
  readonly skillUpdateMode: UpdateMode;
  readonly useSlowUpdate: boolean;
  readonly useSkillAwareReflection: boolean;
  readonly parts?: readonly SkillPart[] | undefined;
};
type Complain = { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void };

/** What keys may not say together. */
export function checkTogether(config: Together, { addIssue }: Complain): void {
  const complain = (key: string, message: string) => addIssue({ code: 'custom', path: [key], message });
  if (config.minEditBudget > config.editBudget) {
    complain('minEditBudget', `must not exceed editBudget (${config.editBudget}), got ${config.minEditBudget}`);
  }
  if (trainsMore(config)) {
    const only = 'needs parts: [body]: it writes into one document';
    if (config.skillUpdateMode !== 'patch') complain('skillUpdateMode', `${config.skillUpdateMode} ${only}`);
    if (config.useSlowUpdate) complain('useSlowUpdate', only);
    if (config.useSkillAwareReflection) complain('useSkillAwareReflection', only);
  }
  if (knowsNoise(config.gate) && config.useGate) return;
  const needs = config.useGate ? `needs gate: paired, got ${config.gate}` : 'needs useGate: true, got false';
  if (config.regressionVeto) complain('regressionVeto', needs);
  if (config.protectedItems.length > 0) complain('protectedItems', needs);
}
