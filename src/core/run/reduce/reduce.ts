import { bucketScores, type Evaluation } from '../../contracts/index.ts';
import { addObservations, noEvidence } from '../../stats/index.ts';
import { defined, objectWith, skillHash } from '../../text/index.ts';
import { type RunEvent, type Stamp, toFact } from '../event.ts';
import { ACCEPTANCE_RULE, type Trial } from '../events/event-data.ts';
import { addFailures } from '../failures.ts';
import { openEvidence, toObservations, toTable } from '../gate-evidence.ts';
import { type RunState, type ScoredSkill, unscored } from '../run-state.ts';
import { addAnswers, addStageUsage, timeOfRollout } from '../stage-usage.ts';
import {
  acceptedScore,
  addMeasurement,
  evidenceAfterAccept,
  isAccepted,
  isNewBest,
  noteEffect,
  passOf,
  recordPass,
  recordPasses,
  scoresOf,
} from './acceptance.ts';
import { reduceStage } from './stage.ts';
import { decideRate, endStep, reduceRemoval, reduceSalvage, reduceShortening, startStep } from './step.ts';

type Event<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

function startRun(_state: RunState, event: Event<'run-start'>): Partial<RunState> {
  const { config, initialSkill, skillSource, projectFile, isRunNamed, totalSteps, items, at } = event;
  const { drafts, aboutTasks, card } = event;
  const named = { ...(projectFile ? { projectFile } : {}), ...(isRunNamed ? { isRunNamed } : {}) };
  const source = { ...(skillSource ? { skillSource } : {}), ...named };
  const own = Object.hasOwn(event.identity, ACCEPTANCE_RULE) ? { hasOwnGate: true } : {};
  const about = { env: event.env, target: event.target, optimizer: event.optimizer, ...own };
  const seed = { ...unscored, skill: initialSkill, hash: skillHash(initialSkill) };
  const facts = { config, about, initialSkill, ...source, totalSteps, items, ...defined({ drafts, aboutTasks, card }) };
  return { ...facts, current: seed, best: seed, startedAt: at };
}

function setBaseline(state: RunState, event: Event<'baseline-end'>): RunState {
  const { evaluation, score, passes = [] } = event;
  const seed = { ...state.current, score };
  const baseline = { hard: evaluation.hard, soft: evaluation.soft, score };
  const all = [evaluation, ...passes].map((pass) => pass.scores);
  const gate = state.config ? openEvidence(all, state.config) : state.gate;
  const rolloutMs = timeOfRollout(event);
  return recordPass({ ...state, gate, current: seed, best: seed, baseline, rolloutMs }, seed.hash, evaluation);
}

function takeGuidance(state: RunState, event: Event<'slow-update-end'>): RunState {
  const { epoch, action, candidateSkill: skill, candidateHash: hash, leakReason: reason, leakKind: kind } = event;
  const known = addMeasurement(state, hash, event);
  const gate = isAccepted(action) ? evidenceAfterAccept(known, scoresOf(event), action) : known.gate;
  const origin = `slow_update_epoch_${String(epoch).padStart(2, '0')}`;
  const score = acceptedScore(known, gate, action, event.score);
  const candidate = { skill, hash, score, step: state.stepsDone, origin };
  const current = isAccepted(action) ? candidate : known.current;
  const best = isNewBest(action, candidate, known) ? candidate : known.best;
  const refused = { stage: 'slow_update' as const, at: epoch, ...(kind === undefined ? {} : { kind }) };
  const leak = reason === undefined ? [] : [{ ...refused, reason }];
  return { ...known, gate, current, best, leaks: [...known.leaks, ...leak], slowUpdateEpoch: epoch };
}

/** A comparison that taught nothing does not take away what was learned before. */
function takeNotes(state: RunState, { epoch, action, content }: Event<'meta-skill-end'>): Partial<RunState> {
  return { metaSkill: action === 'no_content' ? state.metaSkill : content, metaSkillEpoch: epoch };
}

function endEpoch(state: RunState, { epoch }: Event<'epoch-end'>): Partial<RunState> {
  const stepBuffer = state.config?.stepBufferScope === 'run' ? state.stepBuffer : [];
  const isIdle = state.rollouts === state.lastEpoch?.rollouts;
  const lastEpoch = { epoch, skill: state.current.skill, rollouts: state.rollouts, isIdle };
  return { lastEpoch, stepBuffer };
}

function prune(state: RunState, event: Event<'prune-end'>): RunState {
  const { removed, skill, hash, score, evaluations, measured = [] } = event;
  const history = measured.reduce<RunState['history']>(
    (records, one) => noteEffect(records, { ...one, measuredBy: 'prune' }),
    state.history,
  );
  const best = removed.length > 0 ? { ...state.best, skill, hash, score, origin: 'prune' } : state.best;
  return { ...recordPasses(state, evaluations), best, history, isPruned: true };
}

/** The last skill has its chance to be the best. */
function selectFinal(state: RunState, event: Event<'final-selection-end'>): RunState {
  const { evaluation, score, isPromoted } = event;
  const known = evaluation ? recordPass(state, state.current.hash, evaluation) : state;
  const { hard = 0, soft = 0 } = passOf(known, state.current.hash) ?? {};
  const best = isPromoted ? { ...state.current, score } : state.best;
  return { ...known, best, final: { hard, soft, score } };
}

function measureFinal(state: RunState, event: Event<'final-measurement-end'>): Partial<RunState> {
  const { type: _type, ...finalMeasurement } = toFact(event) as Omit<typeof event, keyof Stamp>;
  const isOver = state.final !== undefined; // a run that stopped at its budget continues with its winner
  if (!event.isSeedBetter || !isOver) return { finalMeasurement };
  const { initialSkill: skill, baseline } = state;
  return { finalMeasurement, best: { ...unscored, skill, hash: skillHash(skill), score: baseline?.score ?? 0 } };
}

function endTest(state: RunState, { evaluation, subject, taskTypes }: Event<'test-end'>): Partial<RunState> {
  const buckets = bucketScores(evaluation.scores, taskTypes);
  const report = { hard: evaluation.hard, soft: evaluation.soft, n: evaluation.scores.length, buckets };
  const observed = toObservations(evaluation.scores, { gateMetric: 'hard', gateMixedWeight: 0.5, ...state.config });
  const evidence = toTable(addObservations(noEvidence, observed));
  const testEvidence = { ...state.testEvidence, [subject]: evidence };
  return { tests: { ...state.tests, [subject]: report }, testEvidence };
}

/**
 * Runs of an earlier version with `finalists` above 1 measured earlier best skills again at their end. Such a run cannot be
 * resumed, but it is still shown. The event names the winner by its hash alone, so earlier best skills are kept.
 */
function withFormerBest(before: { best: ScoredSkill; isMeasured: boolean }, after: RunState): RunState {
  const isReplaced = before.isMeasured && after.best.hash !== before.best.hash;
  if (!isReplaced || !hasFinalists(after)) return after;
  const isOther = ({ hash }: RunState['best']) => hash !== before.best.hash && hash !== after.best.hash;
  return { ...after, formerBests: [...(after.formerBests ?? []).filter(isOther), before.best] };
}

const hasFinalists = ({ config }: RunState) => ((config as { finalists?: number } | undefined)?.finalists ?? 1) > 1;

function chooseFinalist(state: RunState, { finalists, hash }: Event<'finalists-end'>): Partial<RunState> {
  const winner = [state.best, ...(state.formerBests ?? [])].find((skill) => skill.hash === hash) ?? state.best;
  const score = finalists.find((finalist) => finalist.hash === hash)?.score ?? winner.score;
  return { best: { ...winner, score } };
}

/** The only place where a run's state changes. Resuming a run is folding this over its journal. */
export function reduce(before: RunState, event: RunEvent): RunState {
  const usage = addStageUsage(before.usage, event.usage);
  const answers = addAnswers(before.answers, event.answers);
  const threw = before.threw + (event.threw ?? 0);
  const failures = addFailures(before.failures, event.failures);
  const wallTimeMs = before.wallTimeMs + event.ms;
  const { rollouts, attempted } = countRollouts(before, event);
  const known = { best: before.best, isMeasured: before.baseline !== undefined };
  const counted = objectWith(before, { usage, answers, threw, failures, wallTimeMs, rollouts, attempted });
  return withFormerBest(known, objectWith(counted, changeBy(counted, event)));
}

function changeBy(state: RunState, event: RunEvent): Partial<RunState> {
  if (!Object.hasOwn(REDUCERS, event.type)) return {}; // an event of a later version
  const reduceEvent = REDUCERS[event.type] as (state: RunState, event: RunEvent) => Partial<RunState>;
  return reduceEvent(state, event);
}

/** What each event changes. */
const REDUCERS: { readonly [Type in RunEvent['type']]: (state: RunState, event: Event<Type>) => Partial<RunState> } = {
  'run-start': startRun,
  'baseline-end': setBaseline,
  'step-start': startStep,
  'lr-decision': decideRate,
  'stage-end': reduceStage,
  'salvage-end': reduceSalvage,
  'removal-end': reduceRemoval,
  'step-end': (state, { action }) => endStep(state, action),
  'slow-update-end': takeGuidance,
  'meta-skill-end': takeNotes,
  'epoch-end': endEpoch,
  'search-end': (_, { reason }) => ({ searchEnd: reason }),
  'shorten-end': reduceShortening,
  'prune-end': prune,
  'final-selection-end': selectFinal,
  'finalists-end': chooseFinalist,
  'final-measurement-end': measureFinal,
  'test-look': (_, { looks }) => ({ testLooks: looks }),
  'test-end': endTest,
  'run-end': (_, { memorisedShare }) => ({ memorisedShare, isDone: true }),
};

type Counted = Pick<RunState, 'rollouts' | 'attempted'>;

/**
 * Attempts are counted by the journal, also those that the cache knew: a resumed run must end where the whole one ends. A
 * training task counts once under each skill. By default an event holds one score for each attempt.
 */
function countRollouts(state: RunState, event: RunEvent): Counted {
  if (event.type === 'stage-end' && event.stage === 'rollout') return attempt(state, event.evaluation);
  const count = (ATTEMPTS[event.type] ?? scoresIn) as (event: RunEvent, state: RunState) => number;
  return { rollouts: state.rollouts + count(event, state), attempted: state.attempted };
}

const ATTEMPTS: { readonly [Type in RunEvent['type']]?: (event: Event<Type>, state: RunState) => number } = {
  'salvage-end': ({ tries, asked = 0 }, { items }) => tries.length * (items.val ?? 0) + asked,
  'slow-update-end': (event) => 2 * event.pairs.length + scoresIn(event),
  'meta-skill-end': (_, state) => compared(state),
  'finalists-end': ({ finalists }, { items }) => 2 * finalists.length * (items.val ?? 0),
  'prune-end': ({ evaluations, unscored = 0 }, { items }) =>
    Object.keys(evaluations).length * (items.val ?? 0) + unscored,
  'test-end': () => 0, // the test is no part of a search
};

/** Notes compare epochs by themselves where no guidance did. */
const compared = ({ config, items }: RunState): number =>
  !config || config.useSlowUpdate ? 0 : 2 * Math.min(config.slowUpdateSamples, items.train ?? 0);

function attempt({ rollouts, attempted, current }: RunState, { scores }: Evaluation): Counted {
  const before = attempted.hash === current.hash ? attempted.ids : [];
  const known = setsOfIds.get(before) ?? new Set(before);
  const news = scores.map(({ id }) => id).filter((id) => !known.has(id));
  const ids = [...known, ...news];
  for (const id of news) known.add(id);
  setsOfIds.delete(before);
  setsOfIds.set(ids, known);
  return { rollouts: rollouts + news.length, attempted: { hash: current.hash, ids } };
}

/** The set of the longest list so far: making it again for each step takes long. */
const setsOfIds = new WeakMap<readonly string[], Set<string>>();

type Measured = Pick<RunEvent, 'type'> &
  Partial<Pick<Trial, 'evaluation' | 'decision' | 'blame'>> & { readonly passes?: readonly Evaluation[] };

function scoresIn({ evaluation, passes = [], decision, blame }: Measured): number {
  const { refreshed = [], confirmation = [], veto } = decision ?? {};
  const measured = [evaluation, ...passes].map((pass) => pass?.scores ?? []);
  const asked = [...measured, refreshed, confirmation, veto?.incumbent ?? [], veto?.candidate ?? []];
  return asked.reduce((sum, { length }) => sum + length, blame?.asked ?? 0);
}
