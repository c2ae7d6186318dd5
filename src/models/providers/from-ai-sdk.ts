import { type ChatModel, SkillError } from '../../core/contracts/index.ts';
import { type AiSdkLanguageModel, aiSdkModel, type CallSettings, modelId } from '../ai-sdk/ai-sdk-model.ts';
import { linkedController, untilAborted } from '../on-abort.ts';

export type FromAiSdkOptions = CallSettings & {
  /** Names the model, also in cached replies. Default: its provider and model. A function has no default. */
  readonly id?: string | undefined;
  /** Keys and tokens that must not appear in any message. */
  readonly secrets?: readonly string[] | undefined;
};

/**
 * Any language model of the AI SDK, or a function that the first call loads it with. Every failure is a
 * `ModelCallError`, a reply without text too. Settings that change answers are added to the id.
 */
export function fromAiSdk(
  model: AiSdkLanguageModel | (() => Promise<AiSdkLanguageModel>),
  { id, secrets = [], ...settings }: FromAiSdkOptions = {},
): ChatModel {
  const who = id ?? defaultName(model);
  const { temperature, sendSeed, providerOptions, structuredOutput } = settings;
  const seed = sendSeed ? 'sampleIndex' : undefined;
  const structured = structuredOutput === 'auto' ? { structuredOutput } : {};
  const named = { temperature, seed, providerOptions, ...structured };
  const options = { ...settings, id: modelId(who, named), call: { who, secrets } };
  return withOwnSignals(aiSdkModel(typeof model === 'function' ? model : async () => model, options));
}

/** Code that is not ours may leave listeners on a signal, or not listen to it: every call gets one of its own. */
function withOwnSignals({ id, complete }: ChatModel): ChatModel {
  return {
    id,
    async complete(request) {
      const { controller, release } = linkedController(request.signal);
      const { signal } = controller;
      try {
        return await untilAborted(complete({ ...request, signal }), signal);
      } finally {
        release();
      }
    },
  };
}

function defaultName(model: AiSdkLanguageModel | (() => unknown)): string {
  if (typeof model !== 'function') return `${model.provider}:${model.modelId}`;
  throw new SkillError('CONFIG_INVALID', 'fromAiSdk got a function and no id, and cannot know which model it loads', {
    hint: "Name the model: fromAiSdk(load, { id: 'provider:model' })",
  });
}
