import type { z } from 'zod';
import { ROLLOUT_FIELDS, RolloutResult, SkillError } from '../../core/contracts/index.ts';
import { head, toSnakeCase } from '../../core/text/index.ts';

const SNAKE_FIELDS = Object.entries(toSnakeCase(Object.fromEntries(ROLLOUT_FIELDS.map((key) => [key, key]))) as object);
/** A result's fields under both spellings. */
const FIELD_OF = new Map<string, string>([...ROLLOUT_FIELDS.map((key) => [key, key] as const), ...SNAKE_FIELDS]);

/** What an adapter gave for an episode, as a result. Throws `ENV_INVALID` that shows what came; `where` names it. */
export function toRolloutResult(dict: unknown, where: string): RolloutResult {
  if (typeof dict !== 'object' || dict === null || Array.isArray(dict)) throw malformed(where, dict, 'it is no object');
  const checked = RolloutResult.safeParse(toFields(dict));
  if (checked.success) return checked.data;
  const problems = checked.error.issues.map((issue) => `"${issue.path.join('.')}": ${plain(issue)}`);
  throw malformed(where, dict, problems.join('; '));
}

function toFields(dict: object): Record<string, unknown> {
  // Python's None means that a field was left out.
  const entries = Object.entries(dict).filter(([, value]) => value != null);
  const fields = entries.flatMap(([key, value]) => (FIELD_OF.has(key) ? [[FIELD_OF.get(key)!, value] as const] : []));
  const unknown = Object.fromEntries(entries.filter(([key]) => !FIELD_OF.has(key)));
  const { id, hard, soft, extras = {}, ...rest } = Object.fromEntries(fields) as Record<string, unknown>;
  const all = { ...unknown, ...(extras as object) };
  return {
    ...rest,
    id: typeof id === 'number' ? String(id) : id,
    hard: toNumber(hard),
    soft: toNumber(soft),
    ...(Object.keys(all).length > 0 ? { extras: all } : {}),
  };
}

const toNumber = (score: unknown) => (typeof score === 'boolean' ? Number(score) : score);

const plain = (issue: z.core.$ZodIssue) => issue.message.replace(/^Invalid input: /, '');

function malformed(where: string, dict: unknown, problem: string): SkillError {
  const shown = head(JSON.stringify(dict) ?? String(dict), 200);
  return new SkillError('ENV_INVALID', `${where} is malformed: ${problem}, in ${shown}`, {
    hint: 'A result has an id, and hard and soft from 0 to 1.',
  });
}
