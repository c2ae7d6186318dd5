import {
  type AgentRunner,
  type ChatModel,
  isWithoutEffect,
  type SkillEnv,
  SkillError,
  type SkillOptConfig,
} from '../../core/contracts/index.ts';
import { trainsMore } from '../../core/document/index.ts';
import { hideSecrets } from '../../core/guard/index.ts';
import type { RunEvent, RunFact, RunIdentity, RunStore } from '../../core/run/index.ts';
import { parseJson, skillHash } from '../../core/text/index.ts';
import { describeChanges } from './describe-changes.ts';
import type { RunItems } from './run-items.ts';

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
export function runIdentity({
  config,
  env,
  items,
  initialSkill,
  target,
  optimizer,
  judge,
  agent,
  prompts,
}: IdentityInput): RunIdentity {
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

type Start = Extract<RunFact, { type: 'run-start' }>;

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
