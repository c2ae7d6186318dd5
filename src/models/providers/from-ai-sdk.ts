import { type ChatModel, SkillError } from '../../core/contracts/index.ts';
import { knowKey, knowKeysSent } from '../../core/guard/index.ts';
import { type AiSdkLanguageModel, aiSdkModel, type CallSettings, modelId } from '../ai-sdk/ai-sdk-model.ts';
import { linkedSignal, untilAborted } from '../on-abort.ts';

export type FromAiSdkOptions = CallSettings & {
  /** Names the model, also in cached replies. Default: its provider and model. A function has no default. */
  readonly id?: string | undefined;
  /** Keys and tokens that must not appear in any reply or message. */
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
  const { providerOptions } = settings;
  secrets.forEach(knowKey);
  knowKeysSent(providerOptions);
  const options = { ...settings, id: modelId(who, settings, { providerOptions }), call: { who } };
  return withOwnSignals(aiSdkModel(typeof model === 'function' ? model : async () => model, options));
}

/** Foreign code may leave listeners on a signal, or not listen to it, so every call gets its own signal. */
const withOwnSignals = ({ complete, ...model }: ChatModel): ChatModel => ({
  ...model,
  async complete(request) {
    const { signal, release } = linkedSignal(request.signal);
    try {
      return await untilAborted(complete({ ...request, signal }), signal);
    } finally {
      release();
    }
  },
});

function defaultName(model: AiSdkLanguageModel | (() => unknown)): string {
  if (typeof model !== 'function') return `${model.provider}:${model.modelId}`;
  throw new SkillError('CONFIG_INVALID', 'fromAiSdk got a function and no id, and cannot know which model it loads', {
    hint: "Name the model: fromAiSdk(load, { id: 'provider:model' })",
  });
}
