import type { PromptName } from '../../core/contracts/index.ts';
import type { StageDeps } from '../stage-deps.ts';

type Around = {
  readonly prompt: PromptName;
  /** What else the prompt holds. */
  readonly head: string;
  /** Longest reply, in tokens, when it is not the usual. */
  readonly maxOutputTokens?: number | undefined;
};

type RoomDeps = Pick<
  StageDeps,
  'prompts' | 'countTokens' | 'maxTrajectoryTokens' | 'optimizerContextTokens' | 'optimizerMaxCompletionTokens'
>;

/** Tokens left for trajectories: what the settings allow, and never more than the context holds. */
export async function trajectoryRoom({ prompt, head, maxOutputTokens }: Around, deps: RoomDeps): Promise<number> {
  const { maxTrajectoryTokens, optimizerContextTokens, optimizerMaxCompletionTokens } = deps;
  const asked = (await deps.countTokens(head)) + (await deps.countTokens(deps.prompts[prompt]));
  const answered = maxOutputTokens ?? optimizerMaxCompletionTokens;
  // A tenth is kept back: another tokenizer may see more tokens than ours.
  return Math.min(maxTrajectoryTokens, Math.floor(0.9 * optimizerContextTokens) - asked - answered);
}
