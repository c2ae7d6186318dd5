import { z } from 'zod';
import {
  dataSection,
  HEADINGS,
  previousSkillSection,
  promptSection,
  skillSection,
} from '../../core/contracts/index.ts';
import { readBlock, writeBlock } from '../../core/document/index.ts';
import type { Pair } from '../../core/run/index.ts';
import { skillHash } from '../../core/text/index.ts';
import { ask } from '../ask/ask.ts';
import type { StageDeps } from '../stage-deps.ts';
import { withComparison } from './comparison.ts';

type SlowUpdateInput = {
  readonly previousSkill: string;
  readonly skill: string;
  readonly pairs: readonly Pair[];
};

export type Guidance = {
  readonly content: string;
  readonly reasoning: string;
  readonly candidateSkill: string;
  readonly candidateHash: string;
  readonly nClippedTrajectories?: number;
};

const Reply = z.object({ reasoning: z.string().nullish(), slowUpdateContent: z.string().nullish() });

/** Guidance from what changed over an epoch, written into the one block that steps cannot touch. */
export async function writeGuidance(input: SlowUpdateInput, deps: StageDeps): Promise<Guidance> {
  const { user, clipped } = await writeQuestion(input, deps);
  const question = { prompt: 'slow_update', stage: 'slow_update', user, schema: Reply } as const;
  const reply = await deps.limit.run(() => ask(question, deps));
  const content = (reply?.slowUpdateContent ?? '').trim();
  // No answer is not the answer that there is nothing to say: the guidance that is there stays.
  const candidateSkill = content === '' ? input.skill : writeBlock(input.skill, 'slowUpdate', content);
  const candidateHash = skillHash(candidateSkill);
  return { content, reasoning: reply?.reasoning ?? '', candidateSkill, candidateHash, ...clipped };
}

function writeQuestion({ previousSkill, skill, pairs }: SlowUpdateInput, deps: StageDeps) {
  const guidance = readBlock(skill, 'slowUpdate');
  const head = [
    skillSection(skill),
    previousSkillSection(previousSkill),
    guidance === ''
      ? promptSection(HEADINGS.guidance, 'None: this is the first.')
      : dataSection(HEADINGS.guidance, 'guidance', guidance),
  ].join('\n\n');
  return withComparison({ pairs, prompt: 'slow_update', head }, deps);
}
