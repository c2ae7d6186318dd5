import { PROOF_LOOKS } from '../../core/stats/index.ts';
import { isAgentSpec } from '../../project/index.ts';
import type { SessionDigest } from '../../transcripts/index.ts';
import { excerptOf, heuristicTask } from '../mine/heuristic-miner.ts';
import { REPORT_PASSES } from '../night/prove.ts';
import type { SleepSettings } from '../settings/sleep-settings.ts';
import { LEAST_HELD_OUT } from '../splits.ts';
import type { TaskRecord, Tasks } from '../task-record.ts';

export type MinerKind = 'model' | 'heuristic';

/** All text of one session that a night may send to a model: what is not on its page is not sent. */
export type Page = Readonly<Pick<SessionDigest, 'sessionId' | 'source' | 'project'>> & {
  /** Such as `2026-01-31`; empty when it is not known. */
  readonly day: string;
  readonly texts: readonly string[];
  /** Whose text it is: the person's, the agent's, or our marks of how the person took it. */
  readonly speakers: readonly Speaker[];
};

type Speaker = 'you' | 'agent' | 'marks';
type SpokenText = readonly [by: Speaker, text: string];

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

/** What a miner model reads. Every task of the night is made from its answers. */
function minedTexts(digest: SessionDigest): readonly SpokenText[] {
  const { requests, answer, feedback } = excerptOf(digest);
  return [
    ...requests.map((text) => ['you', text] as const),
    ['agent', answer],
    ...feedback.map((text) => ['marks', text] as const),
  ];
}

/** Without a miner model the task is the request itself. */
function taskTexts(digest: SessionDigest): readonly SpokenText[] {
  const task = heuristicTask(digest);
  return task ? [task.intent, task.reference].map((text) => ['you', text] as const) : [];
}

/** Passes over the held-out tasks for one document: two as it is, half a pass of the candidate, its measurement and proof. */
const PASSES = 2 + 0.5 + PROOF_LOOKS[0]!.passes + 2 * REPORT_PASSES;
/** One call of the agent; two of the judge if no rule scores the answer. */
const [CALLS_BY_RULE, CALLS_JUDGED] = [1, 3];

/** Model calls of an agent with tools per task, roughly. */
const USUAL_TURNS = 6;

type NightSize = Pick<SleepSettings, 'dreamRollouts' | 'gateMode' | 'target'>;

/** Roughly the fewest calls for a proposal: attempts, one analyst, a first look at the evidence. */
function leastOf({ train, val }: { train: number; val: number }, { dreamRollouts, gateMode }: NightSize): number {
  const measured = gateMode === 'off' ? 0 : Math.ceil(PASSES * val);
  return measured + train * Math.max(1, dreamRollouts) + 1;
}

/** For these tasks of one document; `undefined` if they are too few to prove anything. */
export function leastCallsFor(tasks: Tasks, asked: NightSize): number | undefined {
  const of = (wanted: TaskRecord['split']) => tasks.filter(({ split }) => split === wanted);
  const calls = (some: Tasks) => some.reduce((sum, task) => sum + callsAt(task) + moreCalls(asked), 0);
  const [train, val] = [of('train'), of('val')];
  const isEnough = train.length > 0 && (asked.gateMode === 'off' || val.length >= LEAST_HELD_OUT);
  return isEnough ? leastOf({ train: calls(train), val: calls(val) }, asked) : undefined;
}

const callsAt = ({ referenceKind }: TaskRecord) =>
  referenceKind === 'rubric' || referenceKind === 'none' ? CALLS_JUDGED : CALLS_BY_RULE;

const moreCalls = ({ target }: NightSize) => (isAgentSpec(target) ? USUAL_TURNS - 1 : 0);

export function smallestNight(asked: NightSize): number {
  const calls = 1 + moreCalls(asked);
  return leastOf({ train: calls, val: LEAST_HELD_OUT * calls }, asked);
}

/** For a number of tasks that are not known yet: most need a judge. */
export function usualCalls(
  tasks: number,
  { valFraction, testFraction, ...asked }: NightSize & Pick<SleepSettings, 'valFraction' | 'testFraction'>,
): number {
  const val = Math.max(LEAST_HELD_OUT, Math.round(tasks * valFraction));
  const train = Math.max(1, tasks - val - Math.round(tasks * testFraction));
  const calls = CALLS_JUDGED + moreCalls(asked);
  return leastOf({ train: calls * train, val: calls * val }, asked);
}
