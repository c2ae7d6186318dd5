// An optimizer without a model: it brings forward prepared proposals, one a step, in the words the trainer expects.
import { type ChatModel, type ChatRequest, type Edit, scripted, skillHash } from 'skillopt';
import type { Proposal } from './proposals.ts';

/**
 * Step k proposes the k-th of the list, and after the last one the first again. The step is read from the request, which
 * tells of the steps before (`stepBufferScope: run`, the default): the same request has the same answer, also in a run that is
 * resumed, or whose observers hear of a step late.
 */
export function scriptedOptimizer(proposals: readonly Proposal[]): ChatModel {
  const names = skillHash(proposals.map(({ name }) => name).join('\n')).slice(0, 8);
  return scripted(`scripted-optimizer ${names}`, ({ stage, messages }) => {
    const question = messages.at(1)!.content;
    if (stage === 'analyst')
      return JSON.stringify({ patch: propose(proposalOf(proposals, stepOf(question)), question) });
    return JSON.stringify(answer(stage, question));
  });
}

export function proposalOf(proposals: readonly Proposal[], step: number): Proposal {
  return proposals[(step - 1) % proposals.length]!;
}

/** All analysts of a step propose the same edit and merging keeps it once. There is nothing to say at an epoch's end. */
function answer(stage: ChatRequest['stage'], question: string): object {
  if (stage === 'merge') return firstPatchIn(question);
  if (stage === 'ranking') return { selected_indices: [0] };
  return stage === 'slow_update' ? { slow_update_content: '' } : { meta_skill_content: '' };
}

function propose({ name, editFor }: Proposal, question: string): { reasoning: string; edits: Edit[] } {
  return { reasoning: name, edits: [editFor(fencedIn(question, 'skill'))] };
}

/** The steps before are listed by number. */
function stepOf(question: string): number {
  const numbers = [...fencedIn(question, 'steps').matchAll(/^step (\d+):/gm)].map(([, step]) => Number(step));
  return Math.max(0, ...numbers) + 1;
}

const firstPatchIn = (question: string): object => JSON.parse(fencedIn(question, 'patches'))[0];

/** What the question sets apart as data of a kind, the first time. */
function fencedIn(question: string, kind: string): string {
  return new RegExp(`<${kind}-(\\w+)>\\n(.*?)\\n</${kind}-\\1>`, 's').exec(question)?.[2] ?? '';
}
