import {
  AS_BEFORE,
  type ChatModel,
  type Item,
  isWithoutEffect,
  knowsNoise,
  noTarget,
  type PromptOverrides,
  SkillError,
  type SkillOptConfig,
} from '../../core/contracts/index.ts';
import { trainsMore } from '../../core/document/index.ts';
import { hashKeys, hideSecrets } from '../../core/guard/index.ts';
import {
  ACCEPTANCE_RULE,
  emptyRun,
  type RunEvent,
  type RunFact,
  type RunIdentity,
  type RunStore,
  reduce,
} from '../../core/run/index.ts';
import { defined, parseJson, skillHash } from '../../core/text/index.ts';
import { countTokens } from '../../models/index.ts';
import { loadPackagePrompts, loadPrompts, surelyFits } from '../../pipeline/index.ts';
import { sizeWords } from '../budget/validation-size.ts';
import { likelySteps } from '../plan.ts';
import type { TrainerOptions } from '../run.ts';
import type { RunItems } from './run-items.ts';

export type Start = Extract<RunFact, { type: 'run-start' }>;

type StartOptions<I extends Item> = Omit<TrainerOptions<I>, 'config' | 'promptOverrides'> & {
  readonly config: SkillOptConfig;
  readonly items: RunItems;
  readonly promptOverrides: PromptOverrides;
};

/** The first event of a journal. */
export async function describeStart<I extends Item>(options: StartOptions<I>): Promise<Start> {
  const { config, items, promptOverrides, env, target = noTarget, optimizer, judge, agent } = options;
  const { gate, skillSource, projectFile, isRunNamed } = options;
  const initialSkill = options.initialSkill ?? (await env.getInitialSkill?.()) ?? '';
  requireReadable(initialSkill);
  const more = trainsMore(config) ? loadPackagePrompts() : {};
  const fitted = sizeWords(items, config.maxRollouts);
  const aboutTasks = [...(env.warnings ?? []), ...(fitted === undefined ? [] : [fitted])];
  const prompts = { ...loadPrompts(promptOverrides, config.extras), ...more };
  return {
    type: 'run-start',
    format: 1,
    identity: runIdentity({ config, env, items, initialSkill, target, optimizer, judge, agent, gate, prompts }),
    config: { ...config, extras: hideSecrets(config.extras) as SkillOptConfig['extras'] },
    env: env.name,
    target: target.id,
    optimizer: optimizer.id,
    initialSkill,
    ...defined({ skillSource, projectFile: projectFile || undefined, isRunNamed: isRunNamed || undefined }),
    totalSteps: likelySteps(config, items.train.length, items.val.length),
    items: { train: items.train.length, val: items.val.length, test: items.test.length },
    ...(env.drafts && env.drafts.drafted > 0 ? { drafts: env.drafts } : {}),
    ...(env.card ? { card: env.card } : {}),
    ...(aboutTasks.length > 0 ? { aboutTasks } : {}),
  };
}

/** More than any context holds. */
const MAX_SKILL_LENGTH = 1_000_000;

/** Refuses a document that no model could read, before anything is paid for. */
export function requireReadable(skill: string): void {
  if (skill.length <= MAX_SKILL_LENGTH) return;
  const [size, most] = [skill.length, MAX_SKILL_LENGTH].map((length) => length.toLocaleString('en-US'));
  throw new SkillError('CONFIG_INVALID', `the skill document has ${size} characters, and at most ${most} can be used`, {
    hint: 'Check that it is the right file. A model reads all of it with every task.',
  });
}

/** The longest skill of a run, in tokens. A longer initial skill is not cut: then its size is the limit. */
export async function skillCap({ maxSkillTokens }: Pick<SkillOptConfig, 'maxSkillTokens'>, initialSkill: string) {
  const size = surelyFits(initialSkill, maxSkillTokens) ? 0 : await countTokens(initialSkill);
  if (size <= maxSkillTokens) return { maxSkillTokens, warnings: [] };
  const warning = `The initial skill has ${size} tokens, more than maxSkillTokens (${maxSkillTokens}): its size is the limit now.`;
  return { maxSkillTokens: size, warnings: [warning] };
}

/** Keys that change how a run is carried out, but not what comes out of it. Such a key may differ on resume. */
export const OPERATIONAL_KEYS: ReadonlySet<string> = new Set<keyof SkillOptConfig>([
  ...(['workers', 'outRoot', 'saveEveryStep', 'maxRetries', 'callTimeoutMs', 'rolloutTimeoutMs'] as const),
  ...(['maxCalls', 'maxTotalTokens', 'maxCostUsd', 'maxMinutes', 'prices'] as const),
  ...(['maxConsecutiveFailures', 'maxErroredShare', 'maxCacheMb', 'verbose'] as const),
]);

type IdentityInput = Pick<TrainerOptions, 'env' | 'optimizer' | 'judge' | 'agent' | 'gate'> & {
  readonly config: SkillOptConfig;
  readonly items: RunItems;
  readonly initialSkill: string;
  readonly target: ChatModel;
  readonly prompts: Readonly<Record<string, string>>;
};

/** Everything that may change the outcome, by a name that a person understands. */
function runIdentity(input: IdentityInput): RunIdentity {
  const { config, env, items, initialSkill, target, optimizer, judge, agent, gate, prompts } = input;
  const settings = Object.entries({ ...config, extras: hideSecrets(config.extras) }).filter(
    ([key]) => !OPERATIONAL_KEYS.has(key) && (key !== 'parts' || trainsMore(config)),
  );
  const hashOf = (value: unknown) => skillHash(typeof value === 'string' ? value : JSON.stringify(value));
  const hashes = (prefix: string, values: object) =>
    Object.entries(values).map(([key, value]) => [`${prefix} ${key}`, hashOf(value)]);
  return Object.fromEntries([
    ...settings.map(([key, value]) => [key, typeof value === 'object' ? JSON.stringify(value) : value]),
    ['env', `${env.name}@${env.version ?? ''}`],
    ['target', target.id],
    ['optimizer', optimizer.id],
    ...(judge ? [['judge', judge.id]] : []),
    ...(agent ? [['agent', agent.id]] : []),
    ...(gate ? [[ACCEPTANCE_RULE, skillHash(gate.version ?? `${gate}`)]] : []),
    [SKILL, skillHash(initialSkill)],
    ...hashes('items of', items),
    ...hashes('prompt', prompts),
  ]);
}

/** Refuses a rule of the user that could not decide: only `gate: paired` keeps what a rule is given as evidence. */
export function requireRule(rule: TrainerOptions['gate'], { gate, useGate }: SkillOptConfig): void {
  if (rule === undefined) return;
  if (typeof rule !== 'function') {
    throw new SkillError('CONFIG_INVALID', `gate: an acceptance rule must be a function, got ${typeof rule}`, {
      hint: 'The gates that have a name are a setting: config: { gate: "strict" }.',
    });
  }
  if (knowsNoise(gate) && useGate) return;
  const got = useGate ? `gate: ${gate}` : 'useGate: false';
  throw new SkillError('CONFIG_INVALID', `gate: an acceptance rule needs gate: paired in the settings, got ${got}`, {
    hint: 'Leave the setting out, or leave the rule out. Only this gate keeps the attempts at each task.',
  });
}

/** Throws `RUN_MISMATCH` when a journal is of another run than the one that would start, `JOURNAL_CORRUPT` when it is none. */
export function requireSameRun(store: RunStore, start: Start, journal: readonly RunEvent[]): void {
  const [first] = journal;
  if (!first) return;
  if (first.type !== 'run-start') {
    const message = `${store.name}: the journal does not begin with run-start but with ${first.type}`;
    throw new SkillError('JOURNAL_CORRUPT', message);
  }
  const now = start.identity;
  const known: RunIdentity = { ...first.identity, ...withoutSecrets(first.identity) };
  const keys = [...new Set([...Object.keys(known), ...Object.keys(now)])];
  const before: RunIdentity = { ...AS_BEFORE, ...known };
  const differing = keys.filter((key) => before[key] !== now[key] && !isWithoutEffect(key, before[key]));
  if (differing.length === 0) return;
  if (differing.join() === SKILL) refuseApplied(store, start, journal);
  const changes = describeChanges(differing, before, now);
  const said = changes.length === 1 ? ` ${changes[0]}` : changes.map((change) => `\n- ${change}`).join('');
  throw new SkillError('RUN_MISMATCH', `${store.name} holds a run of something else:${said}`, {
    hint: 'Set them back, choose another run directory (outRoot), or move this run away.',
  });
}

const SKILL = 'initial skill';

/** The skill is what the run itself has made of it. */
function refuseApplied({ name }: RunStore, { identity }: Start, journal: readonly RunEvent[]): void {
  const { best, isDone } = journal.reduce(reduce, emptyRun);
  if (identity[SKILL] !== skillHash(best.skill)) return;
  const resume = isDone ? '' : ' To resume this run instead, take back what was applied.';
  throw new SkillError('RUN_MISMATCH', `${name} has trained this skill, and its best version is applied already`, {
    hint: `To train on from there, move this run away.${resume}`,
  });
}

/** A run of an earlier version recorded its extras with their secrets, and models with what they send along. */
function withoutSecrets(identity: RunIdentity): RunIdentity {
  const { extras } = identity;
  const ids = ['target', 'optimizer', 'judge'].flatMap((role) => {
    const id = identity[role];
    return typeof id === 'string' ? [[role, hashKeys(id)]] : [];
  });
  const hidden = typeof extras === 'string' ? { extras: JSON.stringify(hideSecrets(parseJson(extras))) } : {};
  return { ...Object.fromEntries(ids), ...hidden };
}

function describeChanges(keys: readonly string[], before: RunIdentity, now: RunIdentity): string[] {
  const isResized = keys.some((key) => SIZING.has(key)); // then it is no news that other validation tasks are used
  const all = keys.filter((key) => key.startsWith(ITEMS)).map((key) => key.slice(ITEMS.length));
  const splits = all.filter((split) => !isResized || (split !== 'val' && split !== 'spare'));
  const tasks = `the tasks have changed (${splits.join(', ')}): their text, their files, or how they are divided`;
  const others = keys.filter((key) => !key.startsWith(ITEMS));
  return [
    ...(splits.length > 0 ? [tasks] : []),
    ...others.flatMap((key) => describeChange(key, [before[key], now[key]])),
  ];
}

const ITEMS = 'items of ';

/** Settings by which the validation tasks are chosen. */
const SIZING: ReadonlySet<string> = new Set<keyof SkillOptConfig>(['maxRollouts', 'fitValidation', 'selEnvNum']);

type BeforeAndNow = readonly [before: unknown, now: unknown];

function describeChange(key: string, sides: BeforeAndNow): string[] {
  if (key === SKILL) return ['the text of the skill has changed'];
  if (key === 'env') return describeEnv(sides.map(String));
  return [isHash(sides) ? `${key} has changed` : wasAndIs(key, sides)];
}

const isHash = (sides: BeforeAndNow) =>
  sides.every((side) => side === undefined || (typeof side === 'string' && /^[0-9a-f]{16,64}$/.test(side)));

const wasAndIs = (what: string, [before, now]: BeforeAndNow) =>
  `${what}: was ${before ?? '(nothing)'}, is ${now ?? '(nothing)'}`;

/** Parts of an environment's version that are recorded by a hash, in words. */
const HASHED: Readonly<Record<string, string>> = {
  'files beside the skill': 'the files beside the skill',
  'skill files': 'the files that the skill refers to',
  neighbours: 'the neighbours',
};

const PART_NAMES = [...Object.keys(HASHED), 'rubric', 'limits'].join('|');

/** A version has parts, each a name and a value: `workspace 2 in bubblewrap, files beside the skill 0f3a…, limits {…}`. */
function describeEnv(versions: readonly string[]): string[] {
  const [before, now] = versions.map(partsOf) as [VersionParts, VersionParts];
  const names = [...new Set([...before.keys(), ...now.keys()])];
  return names.flatMap((name) => {
    const sides = [before.get(name), now.get(name)] as const;
    if (sides[0] === sides[1]) return [];
    if (name === 'limits') return describeLimits(sides);
    return [isHash(sides) ? `${HASHED[name] ?? name} have changed` : wasAndIs(name, sides)];
  });
}

type VersionParts = ReadonlyMap<string, string>;

function partsOf(version: string): VersionParts {
  const parts = version.split(new RegExp(`,? (?=(?:${PART_NAMES}) )`));
  return new Map(
    parts.map((part) => {
      const [, name, value] = new RegExp(`^(${PART_NAMES}) (.*)$`).exec(part) ?? [];
      if (name !== undefined) return [name, value!];
      const [, env, hash] = /^(.*)@([0-9a-f]{16})$/.exec(part) ?? []; // a module's version is that of its text
      return hash === undefined ? ['env', part] : [`the lines of the environment ${env}`, hash];
    }),
  );
}

function describeLimits([before, now]: BeforeAndNow): string[] {
  const read = (side: unknown) => (parseJson(String(side)) ?? {}) as Readonly<Record<string, unknown>>;
  const [old, present] = [read(before), read(now)];
  const changed = Object.keys({ ...old, ...present }).filter((key) => old[key] !== present[key]);
  return changed.map((key) => wasAndIs(`limits.${key}`, [old[key], present[key]]));
}
