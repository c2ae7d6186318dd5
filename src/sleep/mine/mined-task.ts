import { z } from 'zod';
import { strip } from '../../core/text/index.ts';
import type { SessionDigest } from '../../transcripts/index.ts';
import { NEEDS_FILES_TAG } from '../replay/replayable.ts';
import type { TaskRecord } from '../task-record.ts';
import { commonFields } from './heuristic-miner.ts';
import { isTooShort, minedTaskId, short } from './task-text.ts';

/** A rule about an answer, as the rule judge takes it. */
export type Check = { readonly op: string; readonly arg?: unknown };

/** What the rule judge says about a task's `judge`: an error is a check that it cannot carry out. */
export type ValidateChecks = (judge: unknown) => {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
};

/** Before a check is believed, all that can be said is that it has a name. */
export const anyChecks: ValidateChecks = () => ({ errors: [], warnings: [] });

/** Anything in a list: one strange task must not cost the others of its reply. */
export const MinerReply = z.object({ tasks: z.array(z.unknown()) });

const Proposal = z.object({
  intent: z.string().catch(''),
  rubric: z.string().catch(''),
  checks: z.array(z.unknown()).catch([]),
  satisfied: z.boolean().nullish().catch(null),
  needsFiles: z.boolean().catch(false),
});

/** Lengths in code points. */
const [INTENT, RUBRIC] = [800, 600];

/**
 * A model's proposal as a task: measured by its rubric, else by its checks. `undefined` when it has neither, or asks for
 * nothing: what cannot be checked cannot be learned from.
 */
export function toMinedTask(
  proposal: unknown,
  digest: SessionDigest,
  validateChecks: ValidateChecks = anyChecks,
): TaskRecord | undefined {
  const { data } = Proposal.safeParse(proposal);
  if (!data || isTooShort(data.intent)) return undefined;
  const reference = referenceOf(data, validateChecks);
  if (!reference) return undefined;
  const intent = short(data.intent, INTENT);
  const outcome = data.satisfied === true ? 'success' : data.satisfied === false ? 'fail' : 'unknown';
  const id = minedTaskId(digest.project, intent);
  const common = commonFields(digest);
  const tags = data.needsFiles ? [...common.tags, NEEDS_FILES_TAG] : common.tags;
  return { ...common, tags, id, intent, contextExcerpt: '', outcome, ...reference };
}

type Reference = Pick<TaskRecord, 'referenceKind' | 'reference' | 'judge'>;

function referenceOf({ rubric, checks }: z.infer<typeof Proposal>, validate: ValidateChecks): Reference | undefined {
  if (strip(rubric) !== '') return { referenceKind: 'rubric', reference: short(rubric, RUBRIC), judge: {} };
  const sound = checks.flatMap((check) => soundCheck(check, validate) ?? []);
  return sound.length === 0 ? undefined : { referenceKind: 'rule', reference: '', judge: { checks: sound } };
}

const Sound = z.object({ op: z.string(), arg: z.unknown() });

function soundCheck(raw: unknown, validate: ValidateChecks): Check | undefined {
  const { data } = Sound.safeParse(raw);
  const check = data && withCleanArg(data);
  return check && validate({ checks: [check] }).errors.length === 0 ? check : undefined;
}

const TEXT_OPS = new Set(['section_present', 'section_contains', 'regex', 'contains', 'not_contains', 'tool_called']);
const BOUND_OPS = new Set(['max_chars', 'min_chars']);

function withCleanArg({ op, arg }: Check): Check | undefined {
  if (op === 'no_refusal') return { op, arg: null };
  const clean = TEXT_OPS.has(op) ? cleanText(op, arg) : BOUND_OPS.has(op) ? cleanBound(arg) : undefined;
  return clean === undefined ? undefined : { op, arg: clean };
}

/** The spaces of a pattern belong to it. */
function cleanText(op: string, arg: unknown): string | undefined {
  if (typeof arg !== 'string' || strip(arg) === '') return undefined;
  return op === 'regex' ? arg : strip(arg);
}

function cleanBound(arg: unknown): number | undefined {
  const bound = typeof arg === 'string' && /^\s*\+?\d+\s*$/.test(arg) ? Number(arg) : arg;
  return typeof bound === 'number' && Number.isSafeInteger(bound) && bound >= 0 ? bound : undefined;
}
