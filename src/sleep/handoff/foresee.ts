import {
  type ChatModel,
  type ChatRequest,
  noUsage,
  type SkillEnv,
  type SkillOptConfigInput,
} from '../../core/contracts/index.ts';
import type { ProofLook } from '../../core/stats/index.ts';
import { FRESH_FROM } from '../../train/index.ts';
import { firstDrawOf } from '../dream/contrast.ts';
import type { DocumentNight } from '../night/cycle-input.ts';
import { REPORT_FROM, REPORT_PASSES } from '../night/prove.ts';
import { replayOne } from '../replay/replay.ts';
import { readFor } from '../replay/sleep-env.ts';
import type { TaskRecord } from '../task-record.ts';
import type { Handoff } from './handoff.ts';

/**
 * A night in few rounds: all questions of a wave at once, one analyst for all failures, one candidate, no retries. Limits of
 * calls and tokens do not apply: the session that answers has limits of its own.
 */
export const HANDOFF_CONFIG: SkillOptConfigInput = {
  workers: 10_000,
  maxRetries: 0,
  minibatchSize: 1_000,
  failureOnly: true,
  proposalsPerBatch: 1,
  tryRemovals: false,
  tryShorter: false,
  doubtAfter: 0,
  prune: false,
  maxTotalTokens: undefined,
};

const PASSES = 2;

/** One look with all of the error: each further look would take two rounds. */
export const HANDOFF_LOOKS: readonly ProofLook[] = [{ passes: PASSES, share: 1 }];

const passes = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index);
const SEARCH = [0, 1];
const PROOF = [...passes(FRESH_FROM, PASSES), ...passes(REPORT_FROM, REPORT_PASSES)];

type AskingAhead = NonNullable<DocumentNight['asksAhead']>;
type ForeseenRun = DocumentNight & { readonly seed: string; readonly asksAhead: AskingAhead };

const hasNext = ({ asksAhead, trained }: ForeseenRun) => asksAhead.evolveMemory && trained === 'skill';

type PlannedAttempt = { readonly task: TaskRecord; readonly draw: number };

/** When a text is attempted first, asks all later questions about it too: one after the other, each would take a round. */
export function foreseeing(env: SkillEnv<TaskRecord>, night: ForeseenRun): SkillEnv<TaskRecord> {
  const { handoff } = night.asksAhead;
  const seen = new Set<string>();
  const start = (skill: string, attempts: readonly PlannedAttempt[]) => {
    for (const attempt of attempts) handoff.during(attemptAhead(attempt, skill, night));
  };
  return {
    ...env,
    rolloutOne(context) {
      const skill = context.skill.trim();
      const isSeed = skill === night.seed.trim();
      if (!seen.has(skill)) start(skill, isSeed ? forSeed(night) : forCandidate(night));
      if (!seen.has(skill) && !isSeed) start(night.seed, forProof(night));
      seen.add(skill);
      return env.rolloutOne!(context);
    },
  };
}

const of = (split: TaskRecord['split'], draws: readonly number[], { tasks }: ForeseenRun): PlannedAttempt[] =>
  tasks.filter((task) => task.split === split).flatMap((task) => draws.map((draw) => ({ task, draw })));

const isGated = ({ error }: ForeseenRun) => error !== undefined;
const forProof = (night: ForeseenRun) => (isGated(night) ? of('val', PROOF, night) : []);

const forSeed = (night: ForeseenRun) => [
  ...of('val', SEARCH, night),
  ...of('train', [0], night),
  ...of('test', [0], night),
];

/** If the candidate is taken, the next document's run begins with these attempts. */
const forCandidate = (night: ForeseenRun) => [
  ...of('val', isGated(night) || hasNext(night) ? SEARCH : [0], night),
  ...forProof(night),
  ...of('test', [0], night),
  ...(hasNext(night) ? of('train', [0], night) : []),
];

async function attemptAhead({ task, draw }: PlannedAttempt, skill: string, night: ForeseenRun): Promise<void> {
  const { prompt, asksAhead } = night;
  const scorers = night.scorers?.filter(({ kind }) => kind !== 'command'); // a program asks nobody
  const models = { target: targetAhead(asksAhead.handoff), judge: judgeAhead(asksAhead.handoff) };
  const sampleIndex = firstDrawOf(task.id) + draw;
  await replayOne(models, task, readFor(task, skill, night), { sampleIndex, scorers, prompt });
}

const targetAhead = (handoff: Handoff): ChatModel => ({
  id: 'handoff',
  async complete(request) {
    const text = await handoff.ask('target', request);
    if (text === undefined) throw new Error('not answered yet: there is nothing to judge');
    return { text, usage: noUsage, finishReason: 'stop' };
  },
});

const NOT_ANSWERED = '(not answered yet)';

/** A judge asks several questions one after the other. A stand-in reply lets it ask them all. */
const judgeAhead = (handoff: Handoff): ChatModel => ({
  id: 'handoff',
  async complete(request) {
    const text = isAboutNothing(request) ? undefined : await handoff.ask('judge', request);
    return { text: text ?? NOT_ANSWERED, usage: noUsage, finishReason: 'stop' };
  },
});

/** The judge's complaint about a stand-in reply. */
const isAboutNothing = ({ messages }: ChatRequest) =>
  messages.some(({ role, content }) => role === 'assistant' && content === NOT_ANSWERED);
