import { isWithoutEffect } from './removed-keys.ts';

export const PRESET_NAMES = ['default', 'paper'] as const;

/** What a preset sets where nothing else is said. */
const PRESETS: Readonly<Record<(typeof PRESET_NAMES)[number], Readonly<Record<string, unknown>>>> = {
  default: {},
  paper: {
    minibatchSize: 8,
    lrScheduler: 'cosine',
    maxSkillTokens: 0,
    proposalsPerBatch: 1,
    stepBufferScope: 'epoch',
    useSlowUpdate: true,
    useMetaSkill: true,
    dropRepeats: false,
    tryRemovals: false,
    gate: 'strict',
    racing: 'off',
    finalPasses: 0,
    leakCritic: false,
  },
};

/** The input over what its preset says. An unknown preset is left for the schema to refuse. */
export function withPreset<Input extends object>(input: Input): Input {
  if (typeof input !== 'object' || input === null) return input; // the schema says what is wrong with it
  const { preset = 'default' } = input as { preset?: keyof typeof PRESETS };
  const said = Object.entries(input).filter(([key, value]) => value !== undefined && !isWithoutEffect(key, value));
  return { ...PRESETS[preset], ...Object.fromEntries(said) } as Input;
}
