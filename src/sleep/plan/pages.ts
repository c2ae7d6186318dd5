import { PROOF_LOOKS } from '../../core/stats/index.ts';
import { isAgentSpec } from '../../project/index.ts';
import type { SessionDigest } from '../../transcripts/index.ts';
import { excerptOf, heuristicTask } from '../mine/heuristic-miner.ts';
import { REPORT_PASSES } from '../night/prove.ts';
import type { SleepSettings } from '../settings/sleep-settings.ts';
import { LEAST_HELD_OUT } from '../splits.ts';
import type { TaskRecord } from '../task-record.ts';

export type MinerKind = 'model' | 'heuristic';

/** All text of one session that a night may send to a model: what is not on its page is not sent. */
export type Page = {
  readonly sessionId: string;
  readonly source: string;
  readonly project: string;
  /** Such as `2026-01-31`; empty when it is not known. */
  readonly day: string;
  readonly texts: readonly string[];
  /** Who each of them is of: the person, the agent, or us, who noted how the person took it. */
  readonly speakers: readonly Speaker[];
};

type Speaker = 'you' | 'agent' | 'marks';
type Said = readonly [by: Speaker, text: string];

/** A page for each session that gives something to send. */
export function pagesOf(digests: readonly SessionDigest[], miner: MinerKind): Page[] {
  return digests.map((digest) => pageOf(digest, miner)).filter(({ texts }) => texts.length > 0);
}

function pageOf(digest: SessionDigest, miner: MinerKind): Page {
  const { sessionId, source, project, startedAt, endedAt } = digest;
  const said = (miner === 'model' ? minedTexts(digest) : taskTexts(digest)).filter(([, text]) => text !== '');
  const day = (startedAt || endedAt).slice(0, 10);
  const [texts, speakers] = [said.map(([, text]) => text), said.map(([by]) => by)];
  return { sessionId, source, project, day, texts, speakers };
}

/** A miner model reads this; every task of the night is made from what it answers. */
function minedTexts(digest: SessionDigest): readonly Said[] {
  const { requests, answer, feedback } = excerptOf(digest);
  return [
    ...requests.map((text) => ['you', text] as const),
    ['agent', answer],
    ...feedback.map((text) => ['marks', text] as const),
  ];
}

/** Without one, the task is the request itself, and the models that attempt and judge it read that. */
function taskTexts(digest: SessionDigest): readonly Said[] {
  const task = heuristicTask(digest);
  return task
    ? [
        ['you', task.intent],
        ['you', task.reference],
      ]
    : [];
}

/** Over the held-out tasks, for one document: twice as it is, half a pass of the candidate, and what is kept for its measurement and proof. */
const PASSES = 2 + 0.5 + PROOF_LOOKS[0]!.passes + 2 * REPORT_PASSES;
/** One of the agent, two of the judge where no rule scores the answer. */
const [CALLS_BY_RULE, CALLS_JUDGED] = [1, 3];

/** About as many times an agent with tools calls its model for a task. */
const USUAL_TURNS = 6;

type Asked = Pick<SleepSettings, 'dreamRollouts' | 'gateMode' | 'target'>;
type AttemptCalls = { readonly train: number; readonly val: number };

/** About the fewest calls with which a night proposes something: attempts, one analyst, a first look at the evidence. */
function leastOf({ train, val }: AttemptCalls, { dreamRollouts, gateMode }: Asked): number {
  const measured = gateMode === 'off' ? 0 : Math.ceil(PASSES * val);
  return measured + train * Math.max(1, dreamRollouts) + 1;
}

/** For these tasks of one document; nothing, where they are too few to prove anything. */
export function leastCallsFor(tasks: readonly TaskRecord[], asked: Asked): number | undefined {
  const of = (wanted: TaskRecord['split']) => tasks.filter(({ split }) => split === wanted);
  const calls = (some: readonly TaskRecord[]) => some.reduce((sum, task) => sum + callsAt(task) + moreCalls(asked), 0);
  const [train, val] = [of('train'), of('val')];
  const isEnough = train.length > 0 && (asked.gateMode === 'off' || val.length >= LEAST_HELD_OUT);
  return isEnough ? leastOf({ train: calls(train), val: calls(val) }, asked) : undefined;
}

const callsAt = ({ referenceKind }: TaskRecord) =>
  referenceKind === 'rubric' || referenceKind === 'none' ? CALLS_JUDGED : CALLS_BY_RULE;

const moreCalls = ({ target }: Asked) => (isAgentSpec(target) ? USUAL_TURNS - 1 : 0);

/** For the smallest night that can prove anything, whatever its tasks are. */
export function smallestNight(asked: Asked): number {
  const calls = 1 + moreCalls(asked);
  return leastOf({ train: calls, val: LEAST_HELD_OUT * calls }, asked);
}

/** For so many tasks that nobody has seen yet: most are judged. */
export function usualCalls(
  tasks: number,
  { valFraction, testFraction, ...asked }: Asked & Pick<SleepSettings, 'valFraction' | 'testFraction'>,
): number {
  const val = Math.max(LEAST_HELD_OUT, Math.round(tasks * valFraction));
  const train = Math.max(1, tasks - val - Math.round(tasks * testFraction));
  const calls = CALLS_JUDGED + moreCalls(asked);
  return leastOf({ train: calls * train, val: calls * val }, asked);
}
