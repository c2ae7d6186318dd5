import { z } from 'zod';
import { SKILL_PARTS, type SkillPart, trainsMore, UPDATE_MODES, type UpdateMode } from '../document/index.ts';
import { DEFAULT_BATCH_SIZE, DEFAULT_CONFIDENCE, MAX_MISSING_SHARE } from '../stats/index.ts';
import { parseWith, SkillError } from './errors.ts';
import { GATE_DEFAULTS, GATE_METRICS, GATES, type Gate, knowsNoise } from './gate.ts';
import { LR_SCHEDULER_MODES } from './schedule.ts';

const PRESET_NAMES = ['default', 'paper'] as const;

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

type Together = {
  readonly minEditBudget: number;
  readonly editBudget: number;
  readonly gate: Gate;
  readonly useGate: boolean;
  readonly regressionVeto: boolean;
  readonly protectedItems: readonly string[];
  readonly skillUpdateMode: UpdateMode;
  readonly useSlowUpdate: boolean;
  readonly useSkillAwareReflection: boolean;
  readonly parts?: readonly SkillPart[] | undefined;
};
type Complain = { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void };

/** What keys may not say together. */
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

const Price = z.strictObject({
  input: z.number().nonnegative(),
  cachedInput: z.number().nonnegative(),
  output: z.number().nonnegative(),
});

/** How the edit budget of a step is found: by the scheduler, by the optimizer, or not at all. */
const LR_CONTROL_MODES = ['fixed', 'autonomous', 'none'] as const;
/** Which tasks of an epoch's comparison are shown: all, those whose outcome changed, or the others. */
const PAIR_POLICIES = ['mixed', 'changed', 'unchanged'] as const;
export type PairPolicy = (typeof PAIR_POLICIES)[number];

/** Every setting of a run, each with its default: types, flags, help and docs are made from this. */
export const configShape = {
  preset: z.enum(PRESET_NAMES).default('default').describe("Defaults to start from: ours, or the paper's protocol."),
  numEpochs: positive.default(4).describe('Passes over the training split.'),
  batchSize: positive.default(DEFAULT_BATCH_SIZE).describe('Training tasks rolled out per step.'),
  minibatchSize: positive.default(5).describe('Trajectories that one analyst reads together.'),
  mergeBatchSize: z.number().int().min(2).default(8).describe('Patches merged at once while aggregating.'),
  editBudget: positive.default(4).describe('Most edits applied in a step: the learning rate.'),
  minEditBudget: positive.default(2).describe('What the edit budget decays to.'),
  lrScheduler: z.enum(LR_SCHEDULER_MODES).default('constant').describe('How the edit budget decays.'),
  lrControlMode: z
    .enum(LR_CONTROL_MODES)
    .default('fixed')
    .describe('Who sets the edit budget: the scheduler, the optimizer, or nobody.'),
  proposalsPerBatch: positive
    .default(3)
    .describe('Most candidates made from one batch, each a step, while none is accepted.'),
  accumulation: positive.default(1).describe('Batches rolled out and reflected on before one update.'),
  skillUpdateMode: z
    .enum(UPDATE_MODES)
    .default('patch')
    .describe('Edits, a rewriter with suggestions, or whole rewrites.'),
  parts: z
    .array(z.enum(SKILL_PARTS))
    .min(1)
    .optional()
    .describe('What of a skill is trained: body, description, references, scripts. Default: body.'),
  useStepBuffer: z.boolean().default(true).describe('Tell later steps of an epoch what failed and was rejected.'),
  stepBufferScope: z
    .enum(['run', 'epoch'])
    .default('run')
    .describe('How far back they are told: eight steps, or the epoch.'),
  retryRejectedEdits: z.boolean().default(true).describe('Let a rejected edit be tried again word for word.'),
  dropRepeats: z.boolean().default(true).describe('Leave out edits that add what the skill says already.'),
  tryRemovals: z
    .boolean()
    .default(true)
    .describe('Try the skill without what an accepted step added last, when nothing else helps.'),
  useSlowUpdate: z.boolean().default(false).describe('Write guidance at epoch ends, from comparing epochs.'),
  slowUpdateSamples: positive.default(20).describe('Training tasks that such a comparison attempts.'),
  slowUpdateGate: z.boolean().default(true).describe('Keep the guidance only if it is better on validation.'),
  longitudinalPairPolicy: z.enum(PAIR_POLICIES).default('mixed').describe('Which compared tasks are shown.'),
  useMetaSkill: z.boolean().default(false).describe('Keep notes for the optimizer on which edits helped.'),
  useSkillAwareReflection: z
    .boolean()
    .default(false)
    .describe('Tell defects of the skill from lapses, which become reminders in its appendix.'),
  skillAwareAppendixSource: z.enum(['both', 'failure_only']).default('both').describe('Who may give reminders.'),
  skillAwareConsolidateThreshold: z
    .number()
    .int()
    .nonnegative()
    .default(0)
    .describe('More reminders than this are merged. 0: never.'),
  maxSkillTokens: z.number().int().nonnegative().default(2000).describe('Longest skill, in tokens. 0: no limit.'),
  salvage: z.boolean().default(false).describe('Try the halves of a rejected patch.'),
  salvageRollouts: z
    .number()
    .int()
    .nonnegative()
    .default(0)
    .describe('Most rollouts for that. 0: enough for two candidates.'),
  prune: z.boolean().default(false).describe('At the end, take out edits that do not help.'),
  gate: z
    .enum(GATES)
    .default('paired')
    .describe('Compare with what the current skill is known to do, or with one number.'),
  racing: z.enum(['exact', 'off']).default('exact').describe('Let the strict gate stop when its decision is certain.'),
  regressionVeto: z
    .boolean()
    .default(false)
    .describe('Let two tasks that surely got worse, asked again on both sides, stop a better candidate.'),
  protectedItems: z
    .array(z.string().min(1))
    .default([])
    .describe('Ids of validation tasks of which not even one may get worse.'),
  confidence: z
    .number()
    .min(0.5)
    .max(0.999)
    .default(DEFAULT_CONFIDENCE)
    .describe('Of the interval that a claimed gain must pass.'),
  finalPasses: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .describe(
      'Fresh passes over validation that measure the winner. 0: none. Default: 2, or 1 if maxRollouts is small.',
    ),
  maxRollouts: positive
    .optional()
    .describe('Most attempts at tasks in training, all passes but the test counted; as many epochs as that pays for.'),
  leakCritic: z.boolean().default(true).describe('Refuse edits that repeat held-out tasks.'),
  maxMemorisedShare: z.number().min(0).max(1).optional().describe('Most training tasks that an edit may repeat.'),
  useGate: z.boolean().default(true).describe('Keep a candidate only if it is better.'),
  gateMetric: z.enum(GATE_METRICS).default(GATE_DEFAULTS.metric).describe('Score that a candidate must improve.'),
  gateMixedWeight: z
    .number()
    .min(0)
    .max(1)
    .default(GATE_DEFAULTS.mixedWeight)
    .describe('Weight of soft in the mixed metric.'),
  failureOnly: z.boolean().default(false).describe('Learn from failures alone.'),
  workers: positive.default(8).describe('Model calls in flight at once.'),
  seed: z.number().int().default(42).describe('Seed of every shuffle.'),
  outRoot: z.string().min(1).optional().describe('Run directory. Default: runs/<env name>.'),
  selectionSplit: z.string().min(1).default('val').describe('Split that the gate measures on.'),
  testSplit: z.string().min(1).default('test').describe('Split of the final report.'),
  evalTest: z.boolean().default(true).describe('Measure baseline and best on the test split at the end.'),
  trainSize: z.number().int().nonnegative().default(0).describe('Training tasks that the data must have. 0: any.'),
  selEnvNum: z.number().int().nonnegative().default(0).describe('First tasks of the selection split to use. 0: all.'),
  testEnvNum: z.number().int().nonnegative().default(0).describe('First tasks of the test split to use. 0: all.'),
  saveEveryStep: z.boolean().default(true).describe('Keep the skill of every step under skills/.'),
  optimizerMaxCompletionTokens: positive.default(4096).describe('Longest optimizer reply, in tokens.'),
  rewriteMaxCompletionTokens: positive.default(64_000).describe('Longest reply that holds a whole skill, in tokens.'),
  maxTrajectoryTokens: positive.default(40_000).describe('Most tokens of trajectories in one optimizer prompt.'),
  optimizerContextTokens: positive.default(128_000).describe("The optimizer's context window, in tokens."),
  maxRetries: z.number().int().nonnegative().default(4).describe('Further tries of a call that failed for the moment.'),
  callTimeoutMs: positive.default(120_000).describe('Longest time for one model call.'),
  rolloutTimeoutMs: positive.default(600_000).describe('Longest time for one task.'),
  maxCalls: positive
    .optional()
    .describe('Most model calls, retries included. The run stops there and can be resumed with more.'),
  maxTotalTokens: positive.optional().describe('Most tokens in and out, of both models.'),
  maxCostUsd: z.number().positive().optional().describe('Most dollars. Every model needs a known price.'),
  maxMinutes: z.number().positive().optional().describe('Most minutes, counted from each start.'),
  prices: z.record(z.string(), Price).default({}).describe('Dollars per million tokens, by model name.'),
  maxConsecutiveFailures: positive.default(5).describe('Calls failing in a row, retries included, that stop a run.'),
  maxErroredShare: z
    .number()
    .min(0)
    .max(1)
    .default(MAX_MISSING_SHARE)
    .describe('Share of tasks without a score that a stage bears.'),
  maxCacheMb: z.number().positive().default(1024).describe('Largest cache of a run. Beyond it the oldest texts go.'),
  verbose: z.boolean().optional().describe('Accepted and ignored: the library is silent, observers are notified.'),
  extras: z.record(z.string(), z.unknown()).default({}).describe('Free-form values for environments and prompts.'),
};

export const SkillOptConfig = z.strictObject(configShape).superRefine(checkTogether);
export type SkillOptConfig = z.output<typeof SkillOptConfig>;
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

/** A setting of an earlier version. */
type RemovedKey = {
  /** The value under which that version did what this one does anyway. A file may keep it, and a run made with it resumes. */
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

/** The removed keys that an input still asks something of, with what to tell the user. */
export function removedKeysIn(input: unknown): { readonly key: string; readonly why: string }[] {
  return Object.entries(input ?? {})
    .filter(([key, value]) => Object.hasOwn(REMOVED_KEYS, key) && value !== undefined && !isWithoutEffect(key, value))
    .map(([key, value]) => ({ key, why: `${REMOVED_KEYS[key]!.why}, got ${JSON.stringify(value)}` }));
}
