// An optimizer without a model: it brings forward prepared proposals, one a step, in the words the trainer expects.
import { type ChatModel, type ChatRequest, type Edit, type RunObserver, scripted, skillHash } from 'skillopt';
import type { Proposal } from './proposals.ts';

/**
 * Step k proposes the k-th of the list, and after the last one the first again. A request does not say at which step it
 * is made, so the optimizer watches the run too: give it to the trainer as `optimizer` and among the `observers`.
 */
export function scriptedOptimizer(proposals: readonly Proposal[]): ChatModel & RunObserver {
  let step = 1;
  const names = skillHash(proposals.map(({ name }) => name).join('\n')).slice(0, 8);
  const model = scripted(`scripted-optimizer ${names}`, (request) => {
    const { name, editFor } = proposalOf(proposals, step);
    return JSON.stringify(answer(request, name, editFor));
  });
  return {
    ...model,
    onEvent(event) {
      if (event.type === 'step-start') ({ step } = event);
    },
  };
}

export function proposalOf(proposals: readonly Proposal[], step: number): Proposal {
  return proposals[(step - 1) % proposals.length]!;
}

/** All analysts of a step propose the same edit and merging keeps it once. There is nothing to say at an epoch's end. */
function answer({ stage, messages }: ChatRequest, reasoning: string, editFor: (skill: string) => Edit): object {
  const patch = () => ({ reasoning, edits: [editFor(skillIn(messages.at(1)!.content))] });
  if (stage === 'analyst') return { patch: patch() };
  if (stage === 'merge') return patch();
  if (stage === 'ranking') return { selected_indices: [0] };
  return stage === 'slow_update' ? { slow_update_content: '' } : { meta_skill_content: '' };
}

/** The current skill is the first thing that the optimizer is shown. */
function skillIn(question: string): string {
  return /<skill-(\w+)>\n(.*?)\n<\/skill-\1>/s.exec(question)?.[2] ?? '';
}
