import { parseConfig, SkillError, type SkillOptConfigInput } from '../../core/contracts/index.ts';
import {
  type RunEvent,
  type RunIdentity,
  type RunState,
  toEvidence,
  toObservations,
  totalCost,
} from '../../core/run/index.ts';
import { addObservations, comparePaired, type Evidence, noEvidence } from '../../core/stats/index.ts';
import { plural } from '../../core/text/index.ts';
import { type Caller, type LoadedProject, resolveScoring, type ScoringModels } from '../../project/index.ts';
import type { CompareReport, ScoredDocument, Side, SideComparison } from '../../report/index.ts';
import { loadRun } from '../load-run.ts';
import { scoreElsewhere } from '../work-elsewhere.ts';
import {
  planSplits,
  requireTrueTasks,
  type ScoringOptions,
  type Subject,
  scoreDocuments,
  wireDocument,
} from './score.ts';

type Metric = Pick<SkillOptConfigInput, 'gateMetric' | 'gateMixedWeight' | 'confidence'>;

export function compareSides(before: Side, after: Side, config: Metric): SideComparison {
  const { confidence, gateMetric: metric } = parseConfig(config);
  const compared = comparePaired(before.evidence, after.evidence, confidence);
  const isSame = before.text === after.text && before.version === after.version;
  if (isSame && compared) {
    const { gain: _gain, ...comparison } = compared; // a text has no gain over itself
    return { kind: 'no-change', metric, comparison: { ...comparison, isProven: false, isWorse: false } };
  }
  const kind = compared?.isWorse ? 'worse' : compared?.isProven ? 'better' : 'not-proven';
  return { kind, metric, comparison: compared };
}

export function sideOf({ document: name, text, whole, cost, version }: ScoredDocument, config: Metric): Side {
  const observations = toObservations(whole.evaluation.scores, parseConfig(config));
  return { name, text, evidence: addObservations(noEvidence, observations), cost, version };
}

type RunSide = Side & { readonly identity: RunIdentity; readonly config: NonNullable<RunState['config']> };

/** Makes no call: what a run measured is in its journal. Throws if it has not measured that split. */
async function runSide(path: string, name: string, split: string): Promise<RunSide> {
  let identity: RunIdentity = {};
  const watch = (event: RunEvent) => {
    if (event.type === 'run-start') identity = event.identity;
  };
  const { state } = await loadRun(path, watch);
  requireSplit(state, name, split);
  const evidence = evidenceOf(state, split);
  if (!state.config || !evidence) throw unmeasured(name, split);
  const { best, config } = state;
  const version = String(identity.env);
  return { name, text: best.skill, evidence, cost: totalCost(state.usage), version, identity, config };
}

/** Attempts that the search did not choose by: the test, or the fresh ones at its end. */
function evidenceOf(state: RunState, split: string): Evidence | undefined {
  const { config, testEvidence, best, gate, finalMeasurement } = state;
  if (split === 'test' || split === config?.testSplit) return testEvidence.best && toEvidence(testEvidence.best);
  if (!config || (split !== 'val' && split !== config.selectionSplit)) return undefined;
  if (best.skill === state.initialSkill) return toEvidence(gate.seed);
  if (finalMeasurement?.hash !== best.hash) return undefined;
  const scores = finalMeasurement.passes.flatMap((pass) => pass.scores);
  return addObservations(noEvidence, toObservations(scores, config));
}

function requireSplit({ config }: RunState, name: string, split: string): void {
  const { selectionSplit = 'val', testSplit = 'test' } = config ?? {};
  if (['train', 'val', 'test', selectionSplit, testSplit].includes(split)) return;
  const hint = `A run measures its best skill on ${testSplit} and ${selectionSplit} tasks: choose one of these splits.`;
  throw new SkillError('USAGE', `there is no split ${split} in ${name}`, { hint });
}

const DOCUMENTS = 'the documents themselves, which scores both: best_skill.md in the folder of each run.';

function unmeasured(name: string, split: string): SkillError {
  const hint = `Let the run end, or compare ${DOCUMENTS}`;
  return new SkillError('USAGE', `${name} has not measured its best skill on ${split} tasks`, { hint });
}

const ALIKE = { target: 'target', judge: 'judge', env: 'environment' } as const;

/** What differs between two runs besides their skills: their scores differ by that, too. */
function otherDifferences(a: RunSide, b: RunSide, split: string): string[] {
  const differs = (key: string) => a.identity[key] !== b.identity[key];
  const notes = Object.entries(ALIKE)
    .filter(([key]) => differs(key))
    .map(([key, word]) => `${word} ${a.identity[key] ?? 'none'} and ${b.identity[key] ?? 'none'}`)
    .map((difference) => `the runs differ in more than their skills: ${difference}`);
  if (!differs(`items of ${split === a.config.testSplit ? 'test' : 'val'}`)) return notes;
  return [...notes, 'the tasks of the two runs are not the same; those with the same id are compared'];
}

function differentSettings({ identity: a }: RunSide, { identity: b }: RunSide) {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((name) => a[name] !== b[name]);
  return names.map((name) => ({ name, a: String(a[name] ?? 'not set'), b: String(b[name] ?? 'not set') }));
}

/** Scores of different metrics cannot be subtracted. */
function requireSameMetric(a: RunSide, b: RunSide): void {
  const [one, other] = [a.config.gateMetric, b.config.gateMetric];
  if (one === other) return;
  const message = `${a.name} counts ${one} scores and ${b.name} ${other} ones (gateMetric)`;
  throw new SkillError('USAGE', message, { hint: `Compare ${DOCUMENTS}` });
}

/** With fewer tasks an interval is too wide to be of use. */
const LEAST_COMMON = 10;

const commonTasks = (a: Side, b: Side) => [...a.evidence.keys()].filter((id) => b.evidence.has(id)).length;

function requireEnough(common: number, split: string): void {
  if (common >= LEAST_COMMON) return;
  const message = `${plural(common, `${split} task`)} of both can be compared, and at least ${LEAST_COMMON} are needed`;
  const hint =
    'Add tasks to the split, or choose another split (val, or all for documents). Runs with different tasks: compare their best_skill.md, which scores both on the same ones.';
  throw new SkillError('USAGE', message, { hint });
}

/** A run or a document, by its path. */
export type Compared = { readonly name: string; readonly path: string };

/** The best skills of two runs by what these measured. Makes no call. */
export async function compareRuns(first: Compared, second: Compared, split: string): Promise<CompareReport> {
  const a = await runSide(first.path, first.name, split);
  const b = await runSide(second.path, second.name, split);
  requireSameMetric(a, b);
  requireEnough(commonTasks(a, b), split);
  const against = compareSides(a, b, a.config);
  const notes = otherDifferences(a, b, split);
  return { a, b, split, against, notes, costOf: 'the runs', settings: differentSettings(a, b) };
}

export type CompareOptions = Omit<ScoringOptions, 'plan' | 'onWarning' | 'elsewhere' | keyof ScoringModels> & {
  readonly split: string;
  readonly caller: Caller;
  /** Whether it continues with tasks from which no true number can be measured. */
  readonly isForced?: boolean | undefined;
  /** The address of a queue, if workers make the attempts. */
  readonly queue?: string | undefined;
};

/** Two documents, both scored on the same tasks of a project. */
export async function compareDocuments(
  loaded: LoadedProject,
  documents: readonly [Compared, Compared],
  { split, caller, isForced, queue, ...options }: CompareOptions,
): Promise<CompareReport> {
  const onWarning = (message: string) => caller.notices?.warn(message);
  const subjects: Subject[] = [];
  for (const { path, name } of documents) subjects.push(await wireDocument(loaded, path, name));
  const { wiring } = subjects[0]!;
  requireTrueTasks(subjects, { isForced, onWarning });
  const models = await resolveScoring(loaded, caller);
  const plan = await planSplits(wiring, split);
  requireEnough(plan.tasks.length, split);
  const elsewhere = scoreElsewhere(loaded, { agent: models.agent, queue, caller });
  const scored = await scoreDocuments(subjects, { ...models, ...options, plan, onWarning, elsewhere });
  const unmeasured = scored.find((one) => one.unmeasured)?.unmeasured;
  if (unmeasured) throw unmeasured;
  const [a, b] = scored.map((one) => sideOf(one, wiring.config)) as [Side, Side];
  requireEnough(commonTasks(a, b), split);
  return { a, b, split, against: compareSides(a, b, wiring.config), notes: [], costOf: 'scoring them' };
}
