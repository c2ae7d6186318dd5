import {
  type AgentRunner,
  type ChatModel,
  type Item,
  isWithoutEffect,
  noTarget,
  type PromptOverrides,
  type SkillEnv,
  SkillError,
  type SkillOptConfig,
} from '../../core/contracts/index.ts';
import { trainsMore } from '../../core/document/index.ts';
import { hideSecrets } from '../../core/guard/index.ts';
import type { RunEvent, RunFact, RunIdentity, RunStore } from '../../core/run/index.ts';
import { parseJson, skillHash } from '../../core/text/index.ts';
import { countTokens } from '../../models/index.ts';
import { loadPackagePrompts, loadPrompts } from '../../pipeline/index.ts';
import { countSteps } from '../plan.ts';
import type { TrainerOptions } from '../run.ts';
import type { RunItems } from './run-items.ts';

export type Start = Extract<RunFact, { type: 'run-start' }>;

type StartOptions<I extends Item> = Omit<TrainerOptions<I>, 'config' | 'promptOverrides'> & {
  readonly config: SkillOptConfig;
  readonly items: RunItems;
  readonly promptOverrides: PromptOverrides;
};

/** The first line of a journal: all that a run is made of. */
export async function describeStart<I extends Item>(options: StartOptions<I>): Promise<Start> {
  const { config, items, promptOverrides, env, target = noTarget, optimizer, judge, agent } = options;
  const { skillSource, projectFile, isRunNamed } = options;
  const initialSkill = options.initialSkill ?? (await env.getInitialSkill?.()) ?? '';
  requireReadable(initialSkill);
  const more = trainsMore(config) ? loadPackagePrompts() : {};
  const prompts = { ...loadPrompts(promptOverrides, config.extras), ...more };
  return {
    type: 'run-start',
    format: 1,
    identity: runIdentity({ config, env, items, initialSkill, target, optimizer, judge, agent, prompts }),
    config: { ...config, extras: hideSecrets(config.extras) as SkillOptConfig['extras'] },
    env: env.name,
    target: target.id,
    optimizer: optimizer.id,
    initialSkill,
    ...(skillSource ? { skillSource } : {}),
    ...(projectFile ? { projectFile } : {}),
    ...(isRunNamed ? { isRunNamed } : {}),
    totalSteps: countSteps(config, items.train.length, items.val.length),
    items: { train: items.train.length, val: items.val.length, test: items.test.length },
    ...(env.drafts && env.drafts.drafted > 0 ? { drafts: env.drafts } : {}),
  };
}

/** A document for a model to read with every task. A megabyte is more than any context holds. */
const MAX_SKILL_LENGTH = 1_000_000;

/** Refuses a document that no model could read, before anything is paid for. */
export function requireReadable(skill: string): void {
  if (skill.length <= MAX_SKILL_LENGTH) return;
  const [size, most] = [skill.length, MAX_SKILL_LENGTH].map((length) => length.toLocaleString('en-US'));
  throw new SkillError('CONFIG_INVALID', `the skill document has ${size} characters, and at most ${most} can be used`, {
    hint: 'Check that it is the right file. A model reads all of it with every task.',
  });
}

/** The longest skill of a run. A user that brings a longer one does not want it cut: then that is the limit. */
export async function skillCap({ maxSkillTokens }: Pick<SkillOptConfig, 'maxSkillTokens'>, initialSkill: string) {
  const size = maxSkillTokens === 0 ? 0 : await countTokens(initialSkill);
  if (size <= maxSkillTokens) return { maxSkillTokens, warnings: [] };
  const warning = `The initial skill has ${size} tokens, more than maxSkillTokens (${maxSkillTokens}): its size is the limit now.`;
  return { maxSkillTokens: size, warnings: [warning] };
}

/** Keys that change how a run is carried out, but not what comes out of it. Such a key may differ on resume. */
export const OPERATIONAL_KEYS: ReadonlySet<string> = new Set<keyof SkillOptConfig>([
  'workers',
  'outRoot',
  'saveEveryStep',
  'maxRetries',
  'callTimeoutMs',
  'rolloutTimeoutMs',
  'maxCalls',
  'maxTotalTokens',
  'maxCostUsd',
  'maxMinutes',
  'prices',
  'maxConsecutiveFailures',
  'maxErroredShare',
  'maxCacheMb',
  'verbose',
]);

type IdentityInput = {
  readonly config: SkillOptConfig;
  readonly env: SkillEnv;
  readonly items: RunItems;
  readonly initialSkill: string;
  readonly target: ChatModel;
  readonly optimizer: ChatModel;
  readonly judge?: ChatModel | undefined;
  readonly agent?: AgentRunner | undefined;
  readonly prompts: Readonly<Record<string, string>>;
};

/** Everything that may change what comes out, by a name that a person understands. */
function runIdentity(input: IdentityInput): RunIdentity {
  const { config, env, items, initialSkill, target, optimizer, judge, agent, prompts } = input;
  const settings = Object.entries({ ...config, extras: hideSecrets(config.extras) }).filter(
    ([key]) => !OPERATIONAL_KEYS.has(key) && (key !== 'parts' || trainsMore(config)),
  );
  const hashes = (prefix: string, values: object) =>
    Object.entries(values).map(([key, value]) => [`${prefix} ${key}`, skillHash(asText(value))]);
  return Object.fromEntries([
    ...settings.map(([key, value]) => [key, typeof value === 'object' ? JSON.stringify(value) : value]),
    ['env', `${env.name}@${env.version ?? ''}`],
    ['target', target.id],
    ['optimizer', optimizer.id],
    ...(judge ? [['judge', judge.id]] : []),
    ...(agent ? [['agent', agent.id]] : []),
    ['initial skill', skillHash(initialSkill)],
    ...hashes('items of', items),
    ...hashes('prompt', prompts),
  ]);
}

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

/** A run resumes only as what it was: otherwise its numbers would be about two different things. */
function requireSameIdentity(run: string, recorded: RunIdentity, now: RunIdentity): void {
  const keys = [...new Set([...Object.keys(recorded), ...Object.keys(now)])];
  const before: RunIdentity = { ...recorded, ...withoutSecrets(recorded) };
  const differing = keys.filter((key) => before[key] !== now[key] && !isWithoutEffect(key, before[key]));
  if (differing.length === 0) return;
  const changes = describeChanges(differing, before, now);
  const said = changes.length === 1 ? ` ${changes[0]}` : changes.map((change) => `\n- ${change}`).join('');
  throw new SkillError('RUN_MISMATCH', `${run} holds a run of something else:${said}`, {
    hint: 'Set them back, choose another run directory (outRoot), or move this run away.',
  });
}

/** A run of an earlier version wrote its extras down as they were. */
function withoutSecrets({ extras }: RunIdentity): RunIdentity {
  return typeof extras === 'string' ? { extras: JSON.stringify(hideSecrets(parseJson(extras))) } : {};
}

/** Throws `RUN_MISMATCH` when a journal is of another run than the one that would start, `JOURNAL_CORRUPT` when it is none. */
export function requireSameRun(store: RunStore, start: Start, journal: readonly RunEvent[]): void {
  const [first] = journal;
  if (!first) return;
  if (first.type !== 'run-start') {
    throw new SkillError(
      'JOURNAL_CORRUPT',
      `${store.name}: the journal does not begin with run-start but with ${first.type}`,
    );
  }
  requireSameIdentity(store.name, first.identity, start.identity);
}

/** What has changed since a run began, in words: what is known by a hash alone can only be said to be another. */
function describeChanges(keys: readonly string[], before: RunIdentity, now: RunIdentity): string[] {
  const splits = keys.filter((key) => key.startsWith(ITEMS)).map((key) => key.slice(ITEMS.length));
  const tasks = `the tasks have changed (${splits.join(', ')}): their text, their files, or how they are divided`;
  const others = keys.filter((key) => !key.startsWith(ITEMS));
  return [
    ...(splits.length > 0 ? [tasks] : []),
    ...others.flatMap((key) => describeChange(key, [before[key], now[key]])),
  ];
}

const ITEMS = 'items of ';

type BeforeAndNow = readonly [before: unknown, now: unknown];

function describeChange(key: string, sides: BeforeAndNow): string[] {
  if (key === 'initial skill') return ['the text of the skill has changed'];
  if (key === 'env') return describeEnv(sides.map(String));
  return [isHash(sides) ? `${key} has changed` : wasAndIs(key, sides)];
}

/** By a hash on both sides, or on one and nothing on the other. */
const isHash = (sides: BeforeAndNow) =>
  sides.every((side) => side === undefined || (typeof side === 'string' && /^[0-9a-f]{16,64}$/.test(side)));

const wasAndIs = (what: string, [before, now]: BeforeAndNow) =>
  `${what}: was ${before ?? '(nothing)'}, is ${now ?? '(nothing)'}`;

/** Parts of an environment's version that are known by a hash, and what they are. */
const HASHED: Readonly<Record<string, string>> = {
  'files beside the skill': 'the files beside the skill',
  'skill files': 'the files that the skill refers to',
  neighbours: 'the neighbours',
};

const PART_NAMES = [...Object.keys(HASHED), 'rubric', 'limits'].join('|');

/** Its version has parts, each a name and what it is: `workspace 2 in bubblewrap, files beside the skill 0f3a…, limits {…}`. */
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

function describeLimits(sides: BeforeAndNow): string[] {
  const [before, now] = sides.map((side) => (parseJson(String(side)) ?? {}) as Readonly<Record<string, unknown>>);
  const keys = [...new Set([...Object.keys(before!), ...Object.keys(now!)])];
  return keys.flatMap((key) =>
    before![key] === now![key] ? [] : [wasAndIs(`limits.${key}`, [before![key], now![key]])],
  );
}
