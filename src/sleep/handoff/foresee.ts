import {
  type ChatModel,
  type ChatRequest,
  noUsage,
  type SkillEnv,
  type SkillOptConfigInput,
} from '../../core/contracts/index.ts';
import type { ProofLook } from '../../core/stats/index.ts';
import { FRESH_FROM } from '../../train/index.ts';
import { firstDrawOf } from '../dream/multi-rollout.ts';
import type { DocumentNight } from '../night/cycle-input.ts';
import { REPORT_FROM, REPORT_PASSES } from '../night/prove.ts';
import { replayOne } from '../replay/replay.ts';
import { readFor } from '../replay/sleep-env.ts';
import type { TaskRecord } from '../task-record.ts';
import type { Handoff } from './handoff.ts';

/**
 * A night in few rounds: everybody is asked at once, one analyst reads all that failed, one candidate is tried, and nothing is
 * tried again. What limits calls and tokens does not apply: whoever answers has limits of their own.
 */
export const HANDOFF_CONFIG: SkillOptConfigInput = {
  workers: 10_000,
  maxRetries: 0,
  minibatchSize: 1_000,
  failureOnly: true,
  proposalsPerBatch: 1,
  tryRemovals: false,
  prune: false,
  maxTotalTokens: undefined,
};

const PASSES = 2;

/** One look with all of the error: each further one would be two rounds. */
const HANDOFF_LOOKS: readonly ProofLook[] = [{ passes: PASSES, share: 1 }];

const passes = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index);
/** As the gate of a run draws them. */
const SEARCH = [0, 1];
const PROOF = [...passes(FRESH_FROM, PASSES), ...passes(REPORT_FROM, REPORT_PASSES)];

/** What a foresight knows of the run of a document. */
type Foreseen = Pick<DocumentNight, 'documents' | 'trained' | 'skillTexts' | 'scorers' | 'prompt' | 'error'> & {
  /** Of all splits, as the run attempts them. */
  readonly tasks: readonly TaskRecord[];
  /** The learned block as it was. */
  readonly seed: string;
  /** Whether another document is trained beside what became of this one. */
  readonly hasNext: boolean;
};

/** What a night is given whose questions are files. */
export function handoffNight(handoff: Handoff, evolveMemory: boolean): Pick<DocumentNight, 'proofLooks' | 'foresee'> {
  return {
    proofLooks: HANDOFF_LOOKS,
    foresee: (env, night, run) =>
      foreseeing(env, { ...night, ...run, hasNext: evolveMemory && night.trained === 'skill' }, handoff),
  };
}

type Attempt = { readonly task: TaskRecord; readonly draw: number };

/**
 * The same environment; as soon as a text is attempted for the first time, all that the run will ask about it later is asked
 * too. A run asks for one thing after the other, and each of them would be a round.
 */
function foreseeing(env: SkillEnv<TaskRecord>, night: Foreseen, handoff: Handoff): SkillEnv<TaskRecord> {
  const seen = new Set<string>();
  const start = (skill: string, attempts: readonly Attempt[]) => {
    for (const attempt of attempts) handoff.during(attemptAhead(attempt, skill, night, handoff));
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

const of = (split: TaskRecord['split'], draws: readonly number[], { tasks }: Foreseen): Attempt[] =>
  tasks.filter((task) => task.split === split).flatMap((task) => draws.map((draw) => ({ task, draw })));

const isGated = ({ error }: Foreseen) => error !== undefined;
const forProof = (night: Foreseen) => (isGated(night) ? of('val', PROOF, night) : []);

const forSeed = (night: Foreseen) => [
  ...of('val', SEARCH, night),
  ...of('train', [0], night),
  ...of('test', [0], night),
];

/** The next document is trained beside it, if it is taken: then these are the attempts that it begins with. */
const forCandidate = (night: Foreseen) => [
  ...of('val', isGated(night) || night.hasNext ? SEARCH : [0], night),
  ...forProof(night),
  ...of('test', [0], night),
  ...(night.hasNext ? of('train', [0], night) : []),
];

/** Asks what an attempt would ask. What it comes to is for the run to find. */
async function attemptAhead({ task, draw }: Attempt, skill: string, night: Foreseen, handoff: Handoff): Promise<void> {
  const { prompt } = night;
  const scorers = night.scorers?.filter(({ kind }) => kind !== 'command'); // a program asks nobody
  const models = { target: targetAhead(handoff), judge: judgeAhead(handoff) };
  const sampleIndex = firstDrawOf(task.id) + draw;
  await replayOne(models, task, readFor(task, skill, night), { sampleIndex, scorers, prompt });
}

const targetAhead = ({ ask }: Handoff): ChatModel => ({
  id: 'handoff',
  async complete(request) {
    const text = await ask('target', request);
    if (text === undefined) throw new Error('not answered yet: there is nothing to judge');
    return { text, usage: noUsage, finishReason: 'stop' };
  },
});

const NOT_ANSWERED = '(not answered yet)';

/** A judge is asked several questions, one after the other. This one lets them all be asked. */
const judgeAhead = ({ ask }: Handoff): ChatModel => ({
  id: 'handoff',
  async complete(request) {
    const text = isAboutNothing(request) ? undefined : await ask('judge', request);
    return { text: text ?? NOT_ANSWERED, usage: noUsage, finishReason: 'stop' };
  },
});

/** Such a reply cannot be read, and is complained about. */
const isAboutNothing = ({ messages }: ChatRequest) =>
  messages.some(({ role, content }) => role === 'assistant' && content === NOT_ANSWERED);
