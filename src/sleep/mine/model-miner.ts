import { readFileSync } from 'node:fs';
import { type ChatModel, chunk, ModelCallError, SkillError } from '../../core/contracts/index.ts';
import { redactValue } from '../../core/guard/index.ts';
import { fence, memoize } from '../../core/text/index.ts';
import { askForJson, createLimit, createStop, type Stop } from '../../pipeline/index.ts';
import type { SessionDigest } from '../../transcripts/index.ts';
import type { TaskRecord } from '../task-record.ts';
import { MinerReply, toMinedTask, type ValidateChecks } from './mined-task.ts';
import { excerptOf } from './session-excerpt.ts';

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

export type ModelMinerOptions = {
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
