import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type ChatModel, chunk, isOutOfBudget, ModelCallError, parseConfig } from '../../core/contracts/index.ts';
import { redactSecrets, redactValue } from '../../core/guard/index.ts';
import type { RunObserver } from '../../core/run/index.ts';
import { fence, memoize, strip } from '../../core/text/index.ts';
import type { Budget } from '../../models/index.ts';
import { askForJson, createLimit, createStop, type Stop } from '../../pipeline/index.ts';
import { ANSWERS_FOLDER, makeFolderBelow, openCaches } from '../../stores/index.ts';
import { wrapModels } from '../../train/index.ts';
import type { SessionDigest } from '../../transcripts/index.ts';
import { nightConfig, type SleepSettings } from '../settings/sleep-settings.ts';
import { NEEDS_FILES_TAG, type TaskRecord, type Tasks } from '../task-record.ts';
import { commonFields, excerptOf, isTooShort, minedTaskId, short } from './heuristic-miner.ts';

export type SessionYield = {
  readonly digest: SessionDigest;
  readonly tasks: Tasks;
  readonly uncheckable: number;
  /** The model gave no answer that could be used; nothing is known about the session. */
  readonly failure?: {
    readonly reason: 'unreadable-reply' | 'call-failed' | 'over-budget';
    readonly error?: ModelCallError;
    readonly limit?: string;
  };
};

export type MinerSettings = {
  /** What the person wrote about themselves in the settings. */
  readonly preferences?: string | undefined;
  /** `miner` replaces our prompt. */
  readonly promptOverrides?: { readonly miner?: string | undefined } | undefined;
  /** The rule judge's opinion of checks. Default: any check will do. */
  readonly validateChecks?: ValidateChecks | undefined;
  /** For what a model proposes, before it becomes a task. */
  readonly redact?: ((text: string) => string) | undefined;
  /** Whether tasks may need files of the project and tools. Default: only what can be answered in words. */
  readonly hasTools?: boolean | undefined;
  readonly workers?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly signal?: AbortSignal | undefined;
};

type ModelMinerOptions = MinerSettings & {
  readonly model: ChatModel;
  /** Sessions are read until there are this many tasks, counted by id. */
  readonly maxTasks: number;
  readonly onSession: (found: SessionYield) => void;
};

const MOST_TASKS_OF_A_SESSION = 3;
/** Sessions that are read at once. */
export const MINERS = 4;

/**
 * One question per session, several at once, in the order of `digests` up to the one that fills the list: the result does
 * not depend on `workers`. Throws if the model is out of reach for good, or for most sessions.
 */
export async function mineWithModel(digests: readonly SessionDigest[], options: ModelMinerOptions) {
  const { workers = MINERS, maxTasks, onSession } = options;
  using stop = createStop(options.signal);
  const limit = createLimit(workers, stop);
  const mineSession = async (digest: SessionDigest) => {
    const found = await readSession(digest, options, stop);
    onSession(found);
    return found;
  };
  const found: SessionYield[] = [];
  for (const wave of chunk(digests, workers)) {
    if (
      maxTasks <= 0 ||
      untilFull(found, maxTasks).isFull ||
      found.some(({ failure }) => failure?.reason === 'over-budget')
    )
      break;
    found.push(...(await limit.map(wave, mineSession)));
  }
  const errors = found.flatMap(({ failure }) => failure?.error ?? []);
  if (errors.length * 2 > found.length) throw errors[0]!; // a provider that is down is not a night without tasks
  return untilFull(found, maxTasks).sessions;
}

async function readSession(digest: SessionDigest, options: ModelMinerOptions, stop: Stop): Promise<SessionYield> {
  const { model, validateChecks, redact = redactSecrets, maxOutputTokens = 2_048 } = options;
  const failed = (failure: SessionYield['failure']) => ({ digest, tasks: [], uncheckable: 0, failure: failure! });
  const question = { system: systemPrompt(options), user: sessionPrompt(digest), stage: 'mine', maxOutputTokens };
  try {
    const reply = await askForJson({ ...question, schema: MinerReply, isAskedAgain: true }, { model, stop });
    if (!reply) return failed({ reason: 'unreadable-reply' });
    const proposals = reply.tasks.slice(0, MOST_TASKS_OF_A_SESSION).map((one) => redactValue(one, redact));
    const tasks = proposals.flatMap((proposal) => toMinedTask(proposal, digest, validateChecks) ?? []);
    return { digest, tasks, uncheckable: proposals.length - tasks.length };
  } catch (error) {
    // The night continues with the tasks that were found.
    if (isOutOfBudget(error)) return failed({ reason: 'over-budget', limit: error.message });
    if (!(error instanceof ModelCallError) || error.isFatal) throw error;
    return failed({ reason: 'call-failed', error });
  }
}

const promptNamed = memoize((name: string) => readFileSync(new URL(`./prompts/${name}.md`, import.meta.url), 'utf8'));

function systemPrompt({ promptOverrides, preferences = '', hasTools = false }: MinerSettings): string {
  const words = promptOverrides?.miner ?? promptNamed('miner');
  const system = hasTools ? `${words}\n${promptNamed('miner-with-tools')}` : words;
  return preferences.trim() === '' ? system : `${system}\n## What this person prefers\n${preferences.trim()}\n`;
}

function sessionPrompt(digest: SessionDigest): string {
  const { requests, answer, feedback } = excerptOf(digest);
  const numbered = requests.map((text, at) => `${at + 1}. ${text}`);
  return [
    `## Requests\n${fence('requests', numbered.join('\n'))}`,
    `## The agent's last answer\n${fence('answer', answer)}`,
    `## How the person took it\n${fence('feedback', feedback.join('\n'))}`,
  ].join('\n\n');
}

/** The sessions up to the one that fills the list. */
function untilFull(found: readonly SessionYield[], maxTasks: number) {
  const ids = new Set<string>();
  for (const [at, { tasks }] of found.entries()) {
    for (const { id } of tasks) ids.add(id);
    if (ids.size >= maxTasks) return { sessions: found.slice(0, at + 1), isFull: true };
  }
  return { sessions: found, isFull: false };
}

export type Check = { readonly op: string; readonly arg?: unknown };

/** The rule judge's opinion of a task's `judge`: an error is a check that it cannot carry out. */
export type ValidateChecks = (judge: unknown) => {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
};

export const anyChecks: ValidateChecks = () => ({ errors: [], warnings: [] });

/** Anything in a list: one strange task must not spoil the others of its reply. */
const MinerReply = z.object({ tasks: z.array(z.unknown()) });

const Proposal = z.object({
  intent: z.string().catch(''),
  rubric: z.string().catch(''),
  checks: z.array(z.unknown()).catch([]),
  satisfied: z.boolean().nullish().catch(null),
  needsFiles: z.boolean().catch(false),
});

const [INTENT, RUBRIC] = [800, 600];

/** A model's proposal as a task, measured by its rubric, else by its checks; `undefined` if it has neither, or no intent. */
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

function cleanText(op: string, arg: unknown): string | undefined {
  if (typeof arg !== 'string' || strip(arg) === '') return undefined;
  return op === 'regex' ? arg : strip(arg);
}

function cleanBound(arg: unknown): number | undefined {
  const bound = typeof arg === 'string' && /^\s*\+?\d+\s*$/.test(arg) ? Number(arg) : arg;
  return typeof bound === 'number' && Number.isSafeInteger(bound) && bound >= 0 ? bound : undefined;
}

type MinerOptions = {
  readonly model: ChatModel;
  readonly settings: SleepSettings;
  /** The state folder, where answers are kept: nothing is paid for twice. */
  readonly folder: string;
  /** For replies before they are kept: a model may invent or repeat a secret. */
  readonly redact?: ((text: string) => string) | undefined;
  readonly observers?: readonly RunObserver[];
  readonly signal?: AbortSignal | undefined;
  readonly budget?: Budget | undefined;
};

/** A miner model with cache, meter, retry, rate limit and the hard limit of a night. */
export async function openMiner(options: MinerOptions): Promise<Disposable & { readonly miner: ChatModel }> {
  const { settings, folder, observers = [], signal, budget: shared } = options;
  const model = withRedaction(options.model, options.redact ?? redactSecrets);
  const config = parseConfig(nightConfig(settings));
  const answers = join(folder, ANSWERS_FOLDER);
  await makeFolderBelow(folder, answers);
  const caches = await openCaches(answers, config);
  const stop = createStop(signal);
  const { optimizer } = wrapModels({ config, target: model, optimizer: model, caches, observers, stop, shared });
  return {
    miner: optimizer,
    [Symbol.dispose]() {
      stop[Symbol.dispose]();
      caches.close();
    },
  };
}

const withRedaction = (model: ChatModel, redact: (text: string) => string): ChatModel => ({
  ...model,
  async complete(request) {
    const reply = await model.complete(request);
    return { ...reply, text: redact(reply.text) };
  },
});
