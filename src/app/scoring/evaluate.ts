import { parseConfig, type SkillOptConfigInput } from '../../core/contracts/index.ts';
import { type Cost, resultCard } from '../../core/run/index.ts';
import { pooledMean } from '../../core/stats/index.ts';
import { type Caller, type LoadedProject, resolvePath, resolveScoring } from '../../project/index.ts';
import type {
  CheckKind,
  CompareReport,
  CostEstimate,
  EvalReport,
  ScoredDocument,
  SkillCheck,
} from '../../report/index.ts';
import { estimateScoring } from '../estimate.ts';
import { scoreElsewhere } from '../work-elsewhere.ts';
import { openBaseline } from './baseline.ts';
import { compareSides, sideOf } from './compare.ts';
import {
  planSplits,
  requireTrueScores,
  requireTrueTasks,
  type ScoringOptions,
  scoreDocuments,
  wireDocument,
} from './score.ts';

type EvalInput = {
  /** A document, or a folder with a SKILL.md. */
  readonly skill: string;
  /** Another document, or `git:REVISION`: the same one, earlier. */
  readonly baseline?: string | undefined;
  /** A split, or `all`. */
  readonly split: string;
  /** Paths are read from here. */
  readonly cwd: string;
  /** Whether it continues with tasks from which no true number can be measured. */
  readonly isForced?: boolean | undefined;
  /** The address of a queue, if workers make the attempts. */
  readonly queue?: string | undefined;
};

type EvalOptions = Pick<ScoringOptions, 'observers' | 'signal' | 'isCached'> & {
  /** The check fails below this score. */
  readonly minScore?: number | undefined;
};

/** A document that is ready to be scored: everything is read, and nothing is paid yet. */
export type OpenEval = AsyncDisposable & {
  readonly config: SkillOptConfigInput;
  /** What scoring will ask for. Makes no call. */
  estimate(options: Pick<EvalOptions, 'isCached'>): Promise<CostEstimate>;
  score(options: EvalOptions): Promise<EvalReport>;
};

/** Reads a document, and what it is compared with, for a score on tasks of a project. */
export async function openEval(loaded: LoadedProject, input: EvalInput, caller: Caller): Promise<OpenEval> {
  const { skill, baseline, split, cwd } = input;
  const { notices } = caller;
  const onWarning = (message: string) => notices?.warn(message);
  const subject = await wireDocument(loaded, resolvePath(cwd, skill), skill);
  const older = await openBaseline(loaded, subject, { baseline, cwd, notices });
  const subjects = [subject, ...(older.subject ? [older.subject] : [])];
  const { config } = subject.wiring;
  try {
    requireTrueTasks(subjects, { isForced: input.isForced, onWarning });
    const models = await resolveScoring(loaded, caller);
    const plan = await planSplits(subject.wiring, split);
    await requireTrueScores(subject.wiring, { isForced: input.isForced, onWarning });
    for (const reason of plan.leftOut) onWarning(`left out: ${reason}`);
    return {
      config,
      estimate: ({ isCached }) =>
        estimateScoring(loaded, {
          ...{ wiring: subject.wiring, tasks: plan.tasks, isCached },
          texts: subjects.map(({ text }) => text),
        }),
      async score({ minScore, ...options }) {
        const elsewhere = scoreElsewhere(loaded, { agent: models.agent, queue: input.queue, caller });
        const scoring = { ...models, ...options, plan, onWarning, elsewhere };
        const [scored, before] = await scoreDocuments(subjects, scoring);
        const check = checkSkill({ scored: scored!, baseline: before, minScore, config });
        const looks = before?.testLooks ?? scored!.testLooks;
        const card = check.unmeasured
          ? undefined
          : resultCard(subject.wiring.env.card, scored!.whole.evaluation.scores, looks);
        return { split, scored: scored!, baseline: before, check, card };
      },
      [Symbol.asyncDispose]: () => older[Symbol.asyncDispose](),
    };
  } catch (error) {
    await older[Symbol.asyncDispose]();
    throw error;
  }
}

/** A check against a baseline as a comparison of two documents; nothing without one. */
export function comparisonOf(
  { split, scored, baseline, check }: EvalReport,
  config: SkillOptConfigInput,
): CompareReport | undefined {
  if (!baseline || !check.against?.comparison) return undefined;
  const [a, b] = [sideOf(baseline, config), sideOf(scored, config)];
  return { a, b, split, against: check.against, notes: [], costOf: 'scoring them' };
}

type CheckInput = {
  readonly scored: ScoredDocument;
  readonly baseline: ScoredDocument | undefined;
  readonly minScore: number | undefined;
  readonly config: SkillOptConfigInput;
};

/** Sums of thirds and tenths miss a bar by less than this. */
const ROUNDING = 1e-9;

/** Fails a skill only for what is proven: worse by the whole interval, or a score below the bar. */
export function checkSkill({ scored, baseline, minScore, config }: CheckInput): SkillCheck {
  const side = sideOf(scored, config);
  const against = baseline && compareSides(sideOf(baseline, config), side, config);
  const score = pooledMean(side.evidence) ?? null;
  const isBelowBar = minScore !== undefined && score !== null && score < minScore - ROUNDING;
  const unmeasured = scored.unmeasured ?? baseline?.unmeasured;
  const kind = kindOf({ unmeasured, against, isBelowBar });
  return {
    ...{ kind, isPassed: !FAILED.has(kind), score, metric: parseConfig(config).gateMetric, minScore },
    ...{ isBelowBar, against, cost: baseline ? addCosts(scored.cost, baseline.cost) : scored.cost, unmeasured },
  };
}

const FAILED: ReadonlySet<CheckKind> = new Set(['not-measured', 'worse', 'below-bar']);

function kindOf({ unmeasured, against, isBelowBar }: Pick<SkillCheck, 'unmeasured' | 'against' | 'isBelowBar'>) {
  if (unmeasured) return 'not-measured';
  if (against?.kind === 'worse') return 'worse';
  return isBelowBar ? 'below-bar' : (against?.kind ?? 'scored');
}

const addCosts = (one: Cost, other: Cost): Cost => ({
  calls: one.calls + other.calls,
  tokens: one.tokens + other.tokens,
  costUsd: one.costUsd + other.costUsd,
  isPriced: one.isPriced && other.isPriced,
});
