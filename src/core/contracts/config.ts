import { z } from 'zod';
import { SKILL_PARTS, trainsMore, UPDATE_MODES } from '../document/index.ts';
import { DEFAULT_BATCH_SIZE, DEFAULT_CONFIDENCE, MAX_MISSING_SHARE } from '../stats/index.ts';
import { isObject } from '../text/index.ts';
import { SkillError } from './errors.ts';
import { GATE_DEFAULTS, GATE_METRICS, GATES, knowsNoise } from './gate.ts';
import { LR_SCHEDULER_MODES } from './schedule.ts';
import { parseWith } from './schemas.ts';

const PRESET_NAMES = ['default', 'paper'] as const;

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
    tryShorter: false,
    gate: 'strict',
    racing: 'off',
    finalPasses: 0,
    fitValidation: false,
    doubtAfter: 0,
    maxLosses: 0,
    optimizerRatio: 0,
    leakCritic: false,
  },
};

/** The input over its preset. The schema refuses an unknown preset. */
export function withPreset<Input extends object>(input: Input): Input {
  if (typeof input !== 'object' || input === null) return input; // the schema says what is wrong with it
  const { preset = 'default' } = input as { preset?: keyof typeof PRESETS };
  const said = Object.entries(input).filter(([key, value]) => value !== undefined && !isWithoutEffect(key, value));
  return { ...PRESETS[preset], ...Object.fromEntries(said) } as Input;
}

type Together = Pick<
  z.output<typeof ConfigFields>,
  | ('minEditBudget' | 'editBudget' | 'gate' | 'useGate' | 'regressionVeto' | 'protectedItems' | 'parts')
  | ('skillUpdateMode' | 'useSlowUpdate' | 'useSkillAwareReflection')
>;
type Complain = { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void };

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

const positive = z.number().int().positive();
const whole = z.number().int().nonnegative();
const share = z.number().min(0).max(1);
const flag = (fallback: boolean) => z.boolean().default(fallback);
/** A schema, and what help and docs say about it. */
const setting = <Schema extends z.ZodType>(schema: Schema, about: string): Schema => schema.describe(about);

const Price = z.strictObject({
  input: z.number().nonnegative(),
  cachedInput: z.number().nonnegative().optional(),
  output: z.number().nonnegative(),
});

/** Every setting of a run, each with its default: types, flags, help and docs are made from this. */
export const configShape = {
  preset: setting(z.enum(PRESET_NAMES).default('default'), "Defaults to start from: ours, or the paper's protocol."),
  numEpochs: setting(positive.default(4), 'Passes over the training split.'),
  batchSize: setting(positive.default(DEFAULT_BATCH_SIZE), 'Training tasks rolled out per step.'),
  minibatchSize: setting(positive.default(5), 'Trajectories that one analyst reads together.'),
  mergeBatchSize: setting(z.number().int().min(2).default(8), 'Patches merged at once while aggregating.'),
  editBudget: setting(positive.default(4), 'Most edits applied in a step: the learning rate.'),
  minEditBudget: setting(positive.default(2), 'What the edit budget decays to.'),
  lrScheduler: setting(z.enum(LR_SCHEDULER_MODES).default('constant'), 'How the edit budget decays.'),
  lrControlMode: setting(
    z.enum(['fixed', 'autonomous', 'none']).default('fixed'),
    'Who sets the edit budget: the scheduler, the optimizer, or nobody.',
  ),
  proposalsPerBatch: setting(
    positive.default(3),
    'Most candidates made from one batch, each a step, while none is accepted.',
  ),
  accumulation: setting(positive.default(1), 'Batches rolled out and reflected on before one update.'),
  skillUpdateMode: setting(
    z.enum(UPDATE_MODES).default('patch'),
    'Edits, a rewriter with suggestions, or whole rewrites.',
  ),
  parts: setting(
    z.array(z.enum(SKILL_PARTS)).min(1).optional(),
    'What of a skill is trained: body, description, references, scripts. Default: body.',
  ),
  useStepBuffer: setting(flag(true), 'Tell later steps of an epoch what failed and was rejected.'),
  stepBufferScope: setting(
    z.enum(['run', 'epoch']).default('run'),
    'How far back these reports reach: eight steps of the run, or the epoch.',
  ),
  retryRejectedEdits: setting(flag(true), 'Let a rejected edit be tried again word for word.'),
  dropRepeats: setting(flag(true), 'Leave out edits that add what the skill says already.'),
  tryRemovals: setting(flag(true), 'Try the skill without what an accepted step added last, when nothing else helps.'),
  tryShorter: setting(
    flag(true),
    'After the search, try the skill without the lines that nothing supports (gate: paired).',
  ),
  useSlowUpdate: setting(flag(false), 'Write guidance at epoch ends, from comparing epochs.'),
  slowUpdateSamples: setting(positive.default(20), 'Training tasks that such a comparison attempts.'),
  slowUpdateGate: setting(flag(true), 'Keep the guidance only if it is better on validation.'),
  longitudinalPairPolicy: setting(
    z.enum(['mixed', 'changed', 'unchanged']).default('mixed'),
    'Which compared tasks are shown.',
  ),
  useMetaSkill: setting(flag(false), 'Keep notes for the optimizer on which edits helped.'),
  useSkillAwareReflection: setting(
    flag(false),
    'Tell defects of the skill from lapses, which become reminders in its appendix.',
  ),
  skillAwareAppendixSource: setting(z.enum(['both', 'failure_only']).default('both'), 'Who may give reminders.'),
  skillAwareConsolidateThreshold: setting(whole.default(0), 'More reminders than this are merged. 0: never.'),
  maxSkillTokens: setting(whole.default(2000), 'Longest skill, in tokens. 0: no limit.'),
  salvage: setting(flag(false), 'Try the halves of a rejected patch.'),
  salvageRollouts: setting(whole.default(0), 'Most rollouts for that. 0: enough for two candidates.'),
  prune: setting(flag(false), 'At the end, take out edits that do not help.'),
  gate: setting(
    z.enum(GATES).default('paired'),
    'Compare with what the current skill is known to do, or with one number.',
  ),
  racing: setting(z.enum(['exact', 'off']).default('exact'), 'Let the strict gate stop when its decision is certain.'),
  regressionVeto: setting(
    flag(false),
    'Let two tasks that surely got worse, asked again on both sides, stop a better candidate.',
  ),
  protectedItems: setting(
    z.array(z.string().min(1)).default([]),
    'Ids of validation tasks of which not even one may get worse.',
  ),
  confidence: setting(
    z.number().min(0.5).max(0.999).default(DEFAULT_CONFIDENCE),
    'Of the interval that a claimed gain must pass.',
  ),
  finalPasses: setting(
    whole.optional(),
    'Fresh passes over validation that measure the winner. 0: none. Default: 2, or 1 if maxRollouts is small.',
  ),
  maxRollouts: setting(
    positive.optional(),
    'Most attempts at tasks in training, all passes but the test counted; as many epochs as that pays for.',
  ),
  fitValidation: setting(
    flag(true),
    'Where maxRollouts cannot afford all validation tasks, use a sample of them (gate: paired). selEnvNum wins.',
  ),
  leastLead: setting(
    z.number().min(0).max(1).default(0.3),
    'How far ahead a winner must be on a small set, in tasks. A larger one asks for one in forty.',
  ),
  doubtAfter: setting(
    whole.default(3),
    'Candidates in a row that did not win, after which the current skill is measured again (gate: paired). 0: never.',
  ),
  maxLosses: setting(
    whole.default(16),
    'The search ends after so many candidates in a row that did not win; each winner allows 3 more (gate: paired). 0: no limit.',
  ),
  optimizerRatio: setting(
    z.number().nonnegative().default(1.4),
    'Most steps, as a multiple of those that maxRollouts pays for if each measures its candidate on all tasks (gate: paired). 0: no limit.',
  ),
  leakCritic: setting(flag(true), 'Refuse edits that repeat held-out tasks, or answers of training tasks.'),
  maxMemorisedShare: setting(share.optional(), 'Most training tasks that an edit may repeat.'),
  useGate: setting(flag(true), 'Keep a candidate only if it is better.'),
  gateMetric: setting(z.enum(GATE_METRICS).default(GATE_DEFAULTS.metric), 'Score that a candidate must improve.'),
  gateMixedWeight: setting(share.default(GATE_DEFAULTS.mixedWeight), 'Weight of soft in the mixed metric.'),
  failureOnly: setting(flag(false), 'Learn from failures alone.'),
  workers: setting(positive.default(8), 'Model calls in flight at once.'),
  seed: setting(z.number().int().default(42), 'Seed of every shuffle.'),
  outRoot: setting(z.string().min(1).optional(), 'Run directory. Default: runs/<env name>.'),
  selectionSplit: setting(z.string().min(1).default('val'), 'Split that the gate measures on.'),
  testSplit: setting(z.string().min(1).default('test'), 'Split of the final report.'),
  evalTest: setting(flag(true), 'Measure baseline and best on the test split at the end.'),
  trainSize: setting(whole.default(0), 'Training tasks that the data must have. 0: any.'),
  selEnvNum: setting(whole.default(0), 'First tasks of the selection split to use. 0: all.'),
  testEnvNum: setting(whole.default(0), 'First tasks of the test split to use. 0: all.'),
  saveEveryStep: setting(flag(true), 'Keep the skill of every step under skills/.'),
  optimizerMaxCompletionTokens: setting(positive.default(4096), 'Longest optimizer reply, in tokens.'),
  rewriteMaxCompletionTokens: setting(positive.default(64_000), 'Longest reply that holds a whole skill, in tokens.'),
  maxTrajectoryTokens: setting(positive.default(40_000), 'Most tokens of trajectories in one optimizer prompt.'),
  optimizerContextTokens: setting(positive.default(128_000), "The optimizer's context window, in tokens."),
  maxRetries: setting(
    whole.default(4),
    'Further tries of a failed call. While every call is refused (429), the run waits 30 s for each try, then stops and can be resumed.',
  ),
  callTimeoutMs: setting(positive.default(120_000), 'Longest time for one model call.'),
  rolloutTimeoutMs: setting(positive.default(600_000), 'Longest time for one task.'),
  maxCalls: setting(
    positive.optional(),
    'Most model calls, retries included. The run stops there and can be resumed with more.',
  ),
  maxTotalTokens: setting(positive.optional(), 'Most tokens in and out, of both models.'),
  maxCostUsd: setting(z.number().positive().optional(), 'Most dollars. Every model needs a known price.'),
  maxMinutes: setting(
    z.number().positive().optional(),
    'Most minutes, counted from each start. Setting the clock changes nothing; on Linux, time asleep does not count.',
  ),
  prices: setting(
    z.record(z.string(), Price).default({}),
    'Dollars per million tokens, by model name: input, output, and cachedInput (default: as input).',
  ),
  maxConsecutiveFailures: setting(positive.default(5), 'Calls failing in a row, retries included, that stop a run.'),
  maxErroredShare: setting(share.default(MAX_MISSING_SHARE), 'Maximum share of unscored tasks per stage.'),
  maxCacheMb: setting(z.number().positive().default(1024), 'Largest cache of a run. Beyond it the oldest texts go.'),
  verbose: setting(z.boolean().optional(), 'Accepted and ignored: the library is silent, observers are notified.'),
  extras: setting(z.record(z.string(), z.unknown()).default({}), 'Free-form values for environments and prompts.'),
};

const ConfigFields = z.strictObject(configShape);
export const SkillOptConfig = ConfigFields.superRefine(checkTogether);
export type SkillOptConfig = z.output<typeof SkillOptConfig>;
export type PairPolicy = SkillOptConfig['longitudinalPairPolicy'];
export type SkillOptConfigInput = z.input<typeof SkillOptConfig>;

const INVALID = 'The configuration is not valid.';
export const CONFIG_HINT = 'Every key and its default: skillopt train --help-all';

/** Fills in the defaults, or throws `CONFIG_INVALID` with one line per problem. */
export function parseConfig(input: SkillOptConfigInput = {}): SkillOptConfig {
  const removed = removedKeysIn(input).map(({ key, why }) => `  ${key}: ${why}`);
  if (removed.length > 0) {
    throw new SkillError('CONFIG_INVALID', [INVALID, ...removed].join('\n'), { hint: CONFIG_HINT });
  }
  return parseWith(SkillOptConfig, withPreset(input), INVALID, CONFIG_HINT);
}

type RemovedKey = {
  /** With this value the earlier version did what this one always does: a file may keep it, and a run made with it resumes. */
  readonly withoutEffect: unknown;
  readonly why: string;
};

const REMOVED_KEYS: Readonly<Record<string, RemovedKey>> = {
  finalists: {
    withoutEffect: 1,
    why: 'was removed, since comparing former best skills at the end lost gain at equal cost; leave it out',
  },
};

export const isWithoutEffect = (key: string, value: unknown): boolean =>
  Object.hasOwn(REMOVED_KEYS, key) && REMOVED_KEYS[key]!.withoutEffect === value;

/** What earlier versions did, by keys that they did not have: a run that was begun with one goes on as it began. */
export const AS_BEFORE = {
  fitValidation: false,
  tryShorter: false,
  leastLead: 1,
  doubtAfter: 0,
  maxLosses: 0,
  optimizerRatio: 0,
} as const satisfies Partial<SkillOptConfig>;

/** The settings for a run that was begun with `begun`. What a user has set since stays: the run is refused as another one. */
export function asBegun(config: SkillOptConfig, begun: object): SkillOptConfig {
  const defaults = parseConfig();
  const isLeft = (key: string) => config[key as keyof SkillOptConfig] === defaults[key as keyof SkillOptConfig];
  const added = Object.entries(AS_BEFORE).filter(([key]) => !Object.hasOwn(begun, key) && isLeft(key));
  return { ...config, ...Object.fromEntries(added) };
}

/** The removed keys that an input still sets to something. */
export const removedKeysIn = (input: unknown): { readonly key: string; readonly why: string }[] =>
  Object.entries(isObject(input) ? input : {})
    .filter(([key, value]) => Object.hasOwn(REMOVED_KEYS, key) && value !== undefined && !isWithoutEffect(key, value))
    .map(([key, value]) => ({ key, why: `${REMOVED_KEYS[key]!.why}, got ${JSON.stringify(value)}` }));
