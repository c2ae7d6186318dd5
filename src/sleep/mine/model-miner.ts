import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type ChatModel, chunk, ModelCallError, parseConfig, SkillError } from '../../core/contracts/index.ts';
import { redactSecrets, redactValue } from '../../core/guard/index.ts';
import type { RunObserver } from '../../core/run/index.ts';
import { fence, memoize, strip } from '../../core/text/index.ts';
import type { Budget } from '../../models/index.ts';
import { askForJson, createLimit, createStop, type Stop } from '../../pipeline/index.ts';
import { ANSWERS_FOLDER, makeFolderBelow, openCaches } from '../../stores/index.ts';
import { wrapModels } from '../../train/index.ts';
import type { SessionDigest } from '../../transcripts/index.ts';
import { nightConfig, type SleepSettings } from '../settings/sleep-settings.ts';
import { NEEDS_FILES_TAG, type TaskRecord } from '../task-record.ts';
import { commonFields, excerptOf, isTooShort, minedTaskId, short } from './heuristic-miner.ts';

/** What a session came to. */
export type SessionYield = {
  readonly digest: SessionDigest;
  readonly tasks: readonly TaskRecord[];
  /** Proposals that nothing could measure. */
  readonly uncheckable: number;
  /** The model gave no answer that could be used; nothing is known about the session. */
  readonly failure?: {
    readonly reason: 'unreadable-reply' | 'call-failed' | 'over-budget';
    readonly error?: ModelCallError;
    /** Which limit, in words. */
    readonly limit?: string;
  };
};

type ModelMinerOptions = {
  readonly model: ChatModel;
  /** Sessions are read until there are so many tasks, counted by id. */
  readonly maxTasks: number;
  readonly validateChecks: ValidateChecks;
  readonly redact: (text: string) => string;
  /** What the person wrote about themselves in the settings. */
  readonly preferences?: string | undefined;
  /** Whether tasks may need files of the project and tools. */
  readonly hasTools?: boolean | undefined;
  /** In the place of our prompt. */
  readonly prompt?: string | undefined;
  readonly workers: number;
  readonly maxOutputTokens: number;
  readonly onSession?: ((found: SessionYield) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
};

const MOST_TASKS_OF_A_SESSION = 3;

/**
 * One question a session, several at once, in the order of `digests` up to the one that fills the list: what comes of it
 * does not depend on how many are asked at the same time. A model out of reach for good, or for most sessions, throws.
 */
export async function mineWithModel(
  digests: readonly SessionDigest[],
  options: ModelMinerOptions,
): Promise<readonly SessionYield[]> {
  const stop = createStop(options.signal);
  const limit = createLimit(options.workers, stop);
  try {
    const found: SessionYield[] = [];
    for (const wave of chunk(digests, options.workers)) {
      if (isFull(found, options.maxTasks) || found.some(({ failure }) => failure?.reason === 'over-budget')) break;
      found.push(...(await limit.map(wave, (digest) => mineSession(digest, options, stop))));
    }
    refuseIfMostFailed(found);
    return untilFull(found, options.maxTasks).sessions;
  } finally {
    stop[Symbol.dispose]();
  }
}

async function mineSession(digest: SessionDigest, options: ModelMinerOptions, stop: Stop): Promise<SessionYield> {
  const found = await readSession(digest, options, stop);
  options.onSession?.(found);
  return found;
}

async function readSession(digest: SessionDigest, options: ModelMinerOptions, stop: Stop): Promise<SessionYield> {
  const { model, validateChecks, maxOutputTokens } = options;
  const question = { system: systemPrompt(options), user: sessionPrompt(digest), stage: 'mine', maxOutputTokens };
  try {
    const reply = await askForJson({ ...question, schema: MinerReply, isAskedAgain: true }, { model, stop });
    if (!reply) return { digest, tasks: [], uncheckable: 0, failure: { reason: 'unreadable-reply' } };
    const proposals = reply.tasks.slice(0, MOST_TASKS_OF_A_SESSION).map((one) => redactValue(one, options.redact));
    const tasks = proposals.flatMap((proposal) => toMinedTask(proposal, digest, validateChecks) ?? []);
    return { digest, tasks, uncheckable: proposals.length - tasks.length };
  } catch (error) {
    if (error instanceof SkillError && error.code === 'BUDGET_EXHAUSTED')
      return { digest, tasks: [], uncheckable: 0, failure: { reason: 'over-budget', limit: error.message } }; // what was found is enough for a night
    if (!(error instanceof ModelCallError) || error.isFatal) throw error;
    return { digest, tasks: [], uncheckable: 0, failure: { reason: 'call-failed', error } };
  }
}

const promptNamed = memoize((name: string) => readFileSync(new URL(`./prompts/${name}.md`, import.meta.url), 'utf8'));

function systemPrompt({ prompt, preferences = '', hasTools = false }: ModelMinerOptions): string {
  const words = prompt ?? promptNamed('miner');
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

const isFull = (found: readonly SessionYield[], maxTasks: number) => maxTasks <= 0 || untilFull(found, maxTasks).isFull;

/** The sessions up to the one that fills the list. */
function untilFull(found: readonly SessionYield[], maxTasks: number) {
  const ids = new Set<string>();
  for (const [at, { tasks }] of found.entries()) {
    for (const { id } of tasks) ids.add(id);
    if (ids.size >= maxTasks) return { sessions: found.slice(0, at + 1), isFull: true };
  }
  return { sessions: found, isFull: false };
}

/** A provider that is down is not a night without tasks. */
function refuseIfMostFailed(found: readonly SessionYield[]): void {
  const errors = found.flatMap(({ failure }) => failure?.error ?? []);
  if (errors.length * 2 > found.length) throw errors[0]!;
}

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
const MinerReply = z.object({ tasks: z.array(z.unknown()) });

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

type MinerOptions = {
  readonly model: ChatModel;
  readonly settings: SleepSettings;
  /** The state folder: what was answered is kept there, so that nothing is paid for twice. */
  readonly folder: string;
  /** For what the model answers, before it is kept: a model may repeat what it was not told, or guess it. */
  readonly redact?: ((text: string) => string) | undefined;
  readonly observers?: readonly RunObserver[];
  readonly signal?: AbortSignal | undefined;
  /** The limits of the night that it is a part of. Default: those of the settings. */
  readonly budget?: Budget | undefined;
};

type OpenMiner = Disposable & { readonly miner: ChatModel };

/** A miner model in what every run has: cache, meter, retry, rate limit, and the hard limit of a night. */
export async function openMiner(options: MinerOptions): Promise<OpenMiner> {
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
