import { type Item, type SkillEnv, SkillError, type SkillOptConfig } from '../../core/contracts/index.ts';

type GuardOptions = {
  /** The module's file name, for messages. */
  readonly name: string;
  /** For an environment that names none. */
  readonly version: string;
};

/**
 * A user's export as an environment, or `ENV_INVALID`. What its set-up throws later is `ENV_INVALID` too: a mistake in a
 * module must not look like one of ours. Rollouts may throw as they like.
 */
export function guardEnv(exported: unknown, { name, version }: GuardOptions): SkillEnv {
  const env = requireEnv(exported, name);
  const guard = <Args extends unknown[], Answer>(method: string, call: (...args: Args) => Answer | Promise<Answer>) => {
    return async (...args: Args): Promise<Answer> => {
      try {
        return await call(...args);
      } catch (cause) {
        throw cause instanceof SkillError ? cause : broken(name, method, cause);
      }
    };
  };
  // Wrapped method by method, not copied: a class may keep its items in private fields.
  return {
    name: env.name,
    get version() {
      return env.version ?? version; // some know it once they are set up
    },
    ...(env.prompts ? { prompts: env.prompts } : {}),
    ...(env.isVersionWhole === undefined ? {} : { isVersionWhole: env.isVersionWhole }),
    ...(env.judgeCalls === undefined ? {} : { judgeCalls: env.judgeCalls }),
    ...(env.warnings ? { warnings: env.warnings } : {}),
    ...(env.drafts ? { drafts: env.drafts } : {}),
    getItems: guard('getItems', async (split: string) => requireList(await env.getItems(split), name, split)),
    rolloutOne: (context) => env.rolloutOne(context),
    ...(env.rolloutMany ? { rolloutMany: (context) => env.rolloutMany!(context) } : {}),
    ...(env.planTrainEpoch ? { planTrainEpoch: (plan) => env.planTrainEpoch!(plan) } : {}),
    ...(env.reflect ? { reflect: (context) => env.reflect!(context) } : {}),
    ...(env.setup ? { setup: guard('setup', (config: SkillOptConfig) => env.setup!(config)) } : {}),
    ...(env.close ? { close: () => env.close!() } : {}),
    ...(env.getInitialSkill ? { getInitialSkill: guard('getInitialSkill', () => env.getInitialSkill!()) } : {}),
    ...(env.getTaskTypes ? { getTaskTypes: () => env.getTaskTypes!() } : {}),
    ...(env.surroundings === undefined ? {} : { surroundings: env.surroundings }),
    ...(env.checkSkill ? { checkSkill: (candidate, parent) => env.checkSkill!(candidate, parent) } : {}),
    ...(env.tryScoring ? { tryScoring: guard('tryScoring', () => env.tryScoring!()) } : {}),
    ...(env.refuseText ? { refuseText: (text) => env.refuseText!(text) } : {}),
  };
}

function requireEnv(exported: unknown, name: string): SkillEnv {
  const env = (typeof exported === 'object' ? exported : null) as Partial<SkillEnv> | null;
  const isEnv =
    typeof env?.name === 'string' && typeof env.getItems === 'function' && typeof env.rolloutOne === 'function';
  if (isEnv) return env as SkillEnv;
  const hint = 'export default ({ defineEnv, z }) => defineEnv({ name, schema, items, rolloutOne })';
  const expected = 'expected a default export with name, getItems and rolloutOne, or an EnvAdapter';
  throw new SkillError('ENV_INVALID', `${name}: ${expected}, got ${describe(exported)}`, { hint });
}

function describe(value: unknown): string {
  if (value === undefined) return 'none';
  if (typeof value !== 'object' || value === null) return `${value === null ? 'null' : typeof value}`;
  return Object.keys(value).length === 0 ? 'an empty object' : `an object with ${Object.keys(value).join(', ')}`;
}

function requireList(items: unknown, name: string, split: string): readonly Item[] {
  if (Array.isArray(items)) return items as readonly Item[];
  throw new SkillError('ENV_INVALID', `${name}: getItems("${split}") must return a list, got ${describe(items)}`, {
    hint: 'Return a list of objects that have an id, and [] for a split that does not exist.',
  });
}

function broken(name: string, method: string, cause: unknown): SkillError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new SkillError('ENV_INVALID', `${name}: ${method} failed: ${message}`, {
    cause,
    hint: `Fix it in ${name}. The run has not begun.`,
  });
}
