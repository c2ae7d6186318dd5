import { partOf, trainsPackage } from '../core/document/index.ts';
import {
  hasPass,
  isAccepted,
  keptEdits,
  passScore,
  type RunState,
  type TestSubject,
  TRIAL_FOLDERS,
  type TrialAttempts,
  type TriedEdit,
  toEvidence,
  toObservations,
  winnerMeasurement,
} from '../core/run/index.ts';
import { addObservations, finalReport, noEvidence } from '../core/stats/index.ts';
import { skillHash } from '../core/text/index.ts';
import {
  countedTogether,
  inPhase,
  judgeSkill,
  pruneSkill,
  requireScores,
  type StageDeps,
  scorePasses,
  scoreSkill,
  settleAll,
} from '../pipeline/index.ts';
import { finalPassesOf, rolloutsLeft } from './budget/rollouts-left.ts';
import type { Run } from './run.ts';
import { hashTasks } from './setup/run-items.ts';
import { unusableBeside } from './step/guard-edits.ts';

/** The end of a search: the last skill may become the best, and the best may be pruned. */
export async function chooseWinner(start: RunState, run: Run): Promise<RunState> {
  let state = start.final ? start : await validateFinal(start, run);
  if (run.config.prune && !state.isPruned) state = await prune(state, run);
  return state;
}

/** The end of a run: the winner is measured by draws that the search has not seen, and all are tested. Nothing where nothing was tried. */
export async function finish(state: RunState, run: Run): Promise<RunState> {
  if (state.searchEnd === 'nothing_to_gain' && state.stepsDone === 0) return state;
  return measureOnTest(isWinnerMeasured(state, run) ? state : await measureBesideTest(state, run), run);
}

/** A measurement cannot change which texts are tested, unless they are three. The look at the test must be counted before. */
async function measureBesideTest(state: RunState, run: Run): Promise<RunState> {
  const texts = [...new Set([state.initialSkill, state.current.skill])];
  const isCounted = run.lookAtTest !== undefined; // beside the journal, where the measurement comes first
  const isEarly = run.ahead.isOn && isCounted && run.items.test.length > 0 && texts.includes(state.best.skill);
  if (isEarly) await countTestLook(state, run);
  const measuring = measureWinner(state, run, inPhase(run.deps, 'final measurement')); // first in line
  if (isEarly) run.ahead.begin(testOf(texts), (deps) => testAll(texts, run, deps));
  return measuring;
}

/** Whether the final measurement is made, or not wanted. */
export const isWinnerMeasured = (state: RunState, { config }: Pick<Run, 'config'>) =>
  config.finalPasses === 0 || winnerMeasurement(state) !== undefined;

export const isSeedWinner = ({ best, initialSkill }: RunState) => best.hash === skillHash(initialSkill);

async function validateFinal(state: RunState, { env, items, config, commit, deps }: Run): Promise<RunState> {
  const { skill: candidateSkill, hash: candidateHash, score: known } = state.current;
  if (candidateHash === state.best.hash) {
    return commit({ type: 'final-selection-end', evaluation: null, score: known, isPromoted: false });
  }
  const gate = { env, state, items: items.val, config: wholePass(config) };
  const { evaluation, score, results } = await judgeSkill({ candidateSkill, candidateHash }, gate, deps);
  requireScores(results, deps.maxErroredShare); // there is no other candidate to continue with
  const best = await passOfBest(gate, deps);
  const fact = { type: 'final-selection-end', evaluation, score, isPromoted: score > best.score } as const;
  return commit(fact, { results, further: { best: best.results } });
}

/** A skill that was accepted early has met some of the items only: its estimate cannot be compared with a whole pass. */
async function passOfBest(gate: Parameters<typeof judgeSkill>[1], deps: StageDeps) {
  const { state } = gate;
  if (hasPass(state, state.best)) return { score: passScore(state, state.best), results: [] };
  const { skill: candidateSkill, hash: candidateHash } = state.best;
  return judgeSkill({ candidateSkill, candidateHash }, gate, deps);
}

/** Here whole passes are compared: there is no incumbent to race against. */
const wholePass = (config: Run['config']) => ({ ...config, gate: 'strict', racing: 'off' }) as const;

/** Draws from here on are new: no search asks for so many of one task. */
export const FRESH_FROM = 1_000_000;

/** Measures the winner by fresh rollouts alone: the rollouts that chose it flatter it. The seed has no gain over itself. */
export async function measureWinner(state: RunState, { env, items, config, commit }: Run, deps: StageDeps) {
  const { skill, hash } = state.best;
  const draws = { from: FRESH_FROM, passes: finalPassesOf(config, items) };
  const measured = await scorePasses({ env, skill, items: items.val }, draws, deps);
  const passes = measured.map(({ evaluation }) => evaluation);
  const observations = passes.flatMap(({ scores }) => toObservations(scores, config));
  const fresh = addObservations(noEvidence, observations);
  const isSeed = isSeedWinner(state);
  const report = finalReport({ fresh, seed: toEvidence(state.gate.seed), confidence: config.confidence, isSeed });
  const detail = { results: measured.flatMap(({ results }) => results) };
  // Once the search is over, `reduce` makes the seed the best again where `report.isSeedBetter`: then the seed ships.
  return commit({ type: 'final-measurement-end', hash, passes, ...report }, detail);
}

async function prune(state: RunState, run: Run): Promise<RunState> {
  const { env, items, config, commit, deps } = run;
  const passages = acceptedPassages(state);
  const left = rolloutsLeft(state, { ...config, prune: false }, items);
  const maxPasses = left === undefined ? undefined : Math.floor(left / Math.max(1, items.val.length));
  const gate = { env, state, items: items.val, config: wholePass(config) };
  const whole = { isPackage: trainsPackage(config), whyUnusable: unusableBeside(state.best.skill, run) };
  const onTried = (place: number, attempts: TrialAttempts) => run.keepAttempts(TRIAL_FOLDERS.prune(place), attempts);
  const pruned = await pruneSkill({ ...gate, ...whole, passages, maxPasses, onTried }, deps);
  return commit({ type: 'prune-end', ...pruned });
}

/** A whole file, or a line of a script, is no passage. */
const isPassage = ({ op, file = '' }: TriedEdit) =>
  op !== 'create_file' && op !== 'delete_file' && partOf(file) !== 'scripts';

/** What accepted edits added, the least supported first. */
function acceptedPassages({ history }: RunState): string[] {
  const accepted = history.filter(({ action }) => isAccepted(action));
  const kept = accepted.flatMap((record) =>
    keptEdits(record).map((index) => ({ edit: record.edits[index]!, support: record.supportCounts[index] ?? 0 })),
  );
  const passages = kept.filter(({ edit }) => isPassage(edit)).sort((a, b) => a.support - b.support);
  return passages.map(({ edit }) => edit.content.trim());
}

const SUBJECTS: readonly TestSubject[] = ['baseline', 'best', 'final'];

/** All subjects that are left, at the same time. Equal texts are measured once. */
async function measureOnTest(start: RunState, run: Run): Promise<RunState> {
  const { env, items, commit } = run;
  let state = start;
  const skills = { baseline: state.initialSkill, best: state.best.skill, final: state.current.skill };
  const subjects = items.test.length > 0 ? SUBJECTS.filter((subject) => !state.tests[subject]) : [];
  if (subjects.length > 0 && state.testLooks === undefined) {
    state = await commit({ type: 'test-look', ...(await countTestLook(state, run)) });
  }
  const texts = [...new Set(subjects.map((subject) => skills[subject]))];
  const measured = await run.ahead.join(testOf(texts), (deps) => testAll(texts, run, deps));
  const taskTypes = env.getTaskTypes?.() ?? [];
  for (const subject of subjects) {
    const { evaluation, results } = measured[texts.indexOf(skills[subject])]!;
    state = await commit({ type: 'test-end', subject, evaluation, taskTypes }, { results });
  }
  return state;
}

const testOf = (texts: readonly string[]) => `test ${texts.map(skillHash).join(' ')}`;

function testAll(texts: readonly string[], { env, items }: Run, deps: StageDeps) {
  const together = countedTogether(deps, texts.length * items.test.length);
  return settleAll(texts.map((skill) => scoreSkill({ env, skill, items: items.test }, together)));
}

/**
 * Counts a run's look at the test tasks before the first of them is attempted: one look for all its skills and resumes. The best
 * skill is the one that the search ended with, also where the final measurement has put the seed in its place.
 */
async function countTestLook(state: RunState, { env, config, lookAtTest, deps: { target, judge } }: Run) {
  const tasks = await hashTasks(env, config.testSplit);
  const { initialSkill, best, current } = state;
  const searched = winnerMeasurement(state)?.hash ?? best.hash;
  const subjects = { baseline: skillHash(initialSkill), best: searched, final: current.hash };
  const measurement = skillHash(JSON.stringify([target.id, judge?.id, subjects]));
  const looks = (await lookAtTest?.({ measurement, tasks, subjects })) ?? 1;
  return { looks, tasks };
}
