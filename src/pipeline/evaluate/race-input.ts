import type { Item, RolloutResult, SkillEnv, SkillOptConfig } from '../../core/contracts/index.ts';
import type { Blame, RunFact, RunState, TrialAttempts } from '../../core/run/index.ts';
import { envFailed, mostThrown, requireReachable } from '../rollout/require-scores.ts';
import { runRollout } from '../rollout/rollout.ts';
import { withoutMemory } from '../rollout/rollout-memory.ts';
import type { StageDeps } from '../stage-deps.ts';
import type { AcceptanceRule } from './acceptance-rule.ts';

export type GateConfig = Pick<SkillOptConfig, 'gateMetric' | 'gateMixedWeight' | 'useGate'> &
  Partial<
    Pick<
      SkillOptConfig,
      'gate' | 'racing' | 'batchSize' | 'regressionVeto' | 'protectedItems' | 'maxErroredShare' | 'leastLead'
    >
  >;

/** Where candidates are measured, and what they must beat. */
export type RaceInput = {
  readonly env: SkillEnv;
  readonly state: RunState;
  readonly items: readonly Item[];
  readonly config: GateConfig;
  /** Decides in place of the rule that `config.gate` names. Only for a gate that keeps evidence of each task. */
  readonly rule?: AcceptanceRule | undefined;
  /** Seeds the order in which a race meets the items. */
  readonly seed?: number;
  /** Rollouts that the search may still make; no limit unless given. */
  readonly rolloutsLeft?: number | undefined;
  /** Whether the current skill may owe its score to luck: it is rolled out on all items beside the candidate. */
  readonly isDoubted?: boolean;
  /** Whether the candidate only leaves something out: then it wins where it is not worse. */
  readonly isShorter?: boolean;
  /** Why no agent could use a text, though it could use the current one. Asked before anything is paid for. */
  readonly whyUnusable?: ((skill: string) => Promise<string | undefined>) | undefined;
};

/** A verdict as the event of its stage keeps it. Its evaluation is `null` when the text was measured before. */
export type JudgedCandidate = Omit<Extract<RunFact, { stage: 'evaluate' }>, 'type' | 'step' | 'stage'> & TrialAttempts;

type Measured = {
  readonly skill: string;
  readonly results: readonly RolloutResult[];
  /** Tasks of the whole pass, and the rollouts that may still be made. */
  readonly total: number;
  readonly rolloutsLeft: number | undefined;
};

const MOST_ASKED = 3;

/**
 * Where most tasks throw under a candidate, either it makes them throw or the environment is down. The current skill has worked
 * before: some of the same tasks are attempted with it again to know which.
 */
export async function findBlame(measured: Measured, input: RaceInput, deps: StageDeps): Promise<Blame | undefined> {
  const { skill, total, rolloutsLeft = MOST_ASKED } = measured;
  const results = measured.results.filter(({ unjudged }) => !unjudged); // a candidate that lacks judgements is turned down
  const thrown = mostThrown(results, total);
  if (thrown && skill === input.state.current.skill) throw envFailed(thrown);
  if (!thrown) {
    requireReachable(results, deps.maxErroredShare, total);
    return undefined;
  }
  const ids = thrown.ids.slice(0, Math.max(0, Math.min(MOST_ASKED, rolloutsLeft)));
  const answers = await askCurrent(ids, input, deps);
  const failed = answers.filter(({ threw, errored }) => threw || errored);
  if (failed.length > answers.length / 2) throw envFailed(thrown);
  return { threw: thrown.ids.length, total, reason: thrown.reason, asked: ids.length };
}

/** Draws that nothing else makes. */
const ASKED_FROM = 800_000;

/** New attempts, even where the cache knows one: the question is whether the environment works now. */
async function askCurrent(ids: readonly string[], { env, items, state }: RaceInput, deps: StageDeps) {
  const asked = ids.flatMap((id) => items.find((item) => item.id === id) ?? []);
  const attempts = { env, skill: state.current.skill, items: asked, sampleIndex: ASKED_FROM + state.stepsDone };
  const rollouts = deps.rollouts && withoutMemory(deps.rollouts);
  return runRollout({ ...attempts, isPart: true }, { ...deps, rollouts, onProgress: () => {} });
}
