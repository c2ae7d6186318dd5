import { PROOF_LOOKS } from '../../core/stats/index.ts';
import { isAgentSpec } from '../../project/index.ts';
import { REPORT_PASSES } from '../night/prove.ts';
import type { SleepSettings } from '../settings/sleep-settings.ts';
import { LEAST_HELD_OUT } from '../splits.ts';
import type { TaskRecord } from '../task-record.ts';

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
