import { z } from 'zod';
import { previousSkillSection, skillSection } from '../../core/contracts/index.ts';
import type { Pair } from '../../core/run/index.ts';
import { ask } from '../ask/ask.ts';
import type { StageDeps } from '../stage-deps.ts';
import { withComparison } from './comparison.ts';
import { type Memory, metaSections, stepSections } from './memory.ts';

type MetaSkillInput = {
  readonly previousSkill: string;
  readonly skill: string;
  readonly pairs: readonly Pair[];
  readonly memory: Memory;
};

export type MetaNotes = {
  readonly content: string;
  readonly reasoning: string;
  readonly nClippedTrajectories?: number;
};

const Reply = z.object({ reasoning: z.string().nullish(), metaSkillContent: z.string().nullish() });

/** The optimizer's notes to itself on which kinds of edits helped. They never reach the skill. */
export async function writeMetaSkill(input: MetaSkillInput, deps: StageDeps): Promise<MetaNotes> {
  const { previousSkill, skill, pairs, memory } = input;
  const head = [
    skillSection(skill),
    previousSkillSection(previousSkill),
    ...metaSections(memory),
    ...stepSections(memory),
  ].join('\n\n');
  const { user, clipped } = await withComparison({ pairs, prompt: 'meta_skill', head }, deps);
  const question = { prompt: 'meta_skill', stage: 'meta_skill', user, schema: Reply } as const;
  const reply = await deps.limit.run(() => ask(question, deps));
  return { content: (reply?.metaSkillContent ?? '').trim(), reasoning: reply?.reasoning ?? '', ...clipped };
}
