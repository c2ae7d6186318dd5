import { z } from 'zod';
import { dataSection, HEADINGS, promptSection, skillSection } from '../../core/contracts/index.ts';
import { keepProtected, type UpdateItem } from '../../core/document/index.ts';
import { ask } from '../ask/ask.ts';
import { type Memory, noMemory, stepSections } from '../epoch/memory.ts';
import type { StageDeps } from '../stage-deps.ts';
import { ChangeSummary, toWireItem } from './wire-patch.ts';

type RewriteInput = {
  readonly skill: string;
  readonly suggestions: readonly UpdateItem[];
  readonly memory?: Memory;
  /** Longest document, in tokens; 0 is no limit. */
  readonly maxSkillTokens: number;
};

export type Rewrite = { readonly skill: string; readonly changeSummary: readonly string[] };

const Reply = z.object({
  newSkill: z.string(),
  changeSummary: ChangeSummary,
});

/** The document as a rewriter makes it from suggestions. What is protected stays, whatever the rewriter did to it. */
export async function rewriteSkill(input: RewriteInput, deps: StageDeps): Promise<Rewrite | undefined> {
  const question = {
    prompt: 'rewrite',
    stage: 'rewrite',
    user: writeQuestion(input),
    schema: Reply,
    maxOutputTokens: deps.rewriteMaxCompletionTokens,
  } as const;
  const reply = await deps.limit.run(() => ask(question, deps));
  const skill = reply && keepProtected(input.skill, reply.newSkill);
  return skill === undefined ? undefined : { skill, changeSummary: reply?.changeSummary ?? [] };
}

function writeQuestion({ skill, suggestions, memory = noMemory, maxSkillTokens }: RewriteInput): string {
  const limit = `At most ${maxSkillTokens} tokens for the whole document.`;
  const list = JSON.stringify(suggestions.map(toWireItem), null, 2);
  return [
    skillSection(skill),
    ...stepSections(memory),
    ...(maxSkillTokens > 0 ? [promptSection(HEADINGS.lengthLimit, limit)] : []),
    dataSection(HEADINGS.suggestions, 'suggestions', list, `${suggestions.length}`),
  ].join('\n\n');
}
