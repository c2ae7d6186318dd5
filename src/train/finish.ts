import { partOf, trainsPackage } from '../core/document/index.ts';
import {
  hasPass,
  isAccepted,
  keptEdits,
  passScore,
  type RunState,
  type TestSubject,
  toEvidence,
  toObservations,
  winnerMeasurement,
} from '../core/run/index.ts';
import { addObservations, finalReport, noEvidence } from '../core/stats/index.ts';
import { skillHash } from '../core/text/index.ts';
import {
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

/** The end of a search: the last skill has its chance to be the best; then it is pruned if wished. */
export async function chooseWinner(start: RunState, run: Run): Promise<RunState> {
  let state = start.final ? start : await validateFinal(start, run);
  if (run.config.prune && !state.isPruned) state = await prune(state, run);
  return state;
}

/** The end of a run: the winner is measured by what the search has not seen, and all are tested. */
export async function finish(state: RunState, run: Run): Promise<RunState> {
  return measureOnTest(isWinnerMeasured(state, run) ? state : await measureWinner(state, run), run);
}

/** Also when nobody wants it to be. */
export function isWinnerMeasured(state: RunState, { config }: Pick<Run, 'config'>): boolean {
  return config.finalPasses === 0 || winnerMeasurement(state) !== undefined;
}

export const isSeedWinner = ({ best, initialSkill }: RunState) => best.hash === skillHash(initialSkill);

async function validateFinal(state: RunState, { env, items, config, commit, deps }: Run): Promise<RunState> {
  const { skill: candidateSkill, hash: candidateHash, score: known } = state.current;
  if (candidateHash === state.best.hash) {
    return commit({ type: 'final-selection-end', evaluation: null, score: known, isPromoted: false });
  }
  const gate = { env, state, items: items.val, config: wholePass(config) };
  const { evaluation, score, results } = await judgeSkill({ candidateSkill, candidateHash }, gate, deps);
  requireScores(results, deps.maxErroredShare); // there is no other candidate to continue with
  const isPromoted = score > (await passScoreOfBest(gate, deps));
  return commit({ type: 'final-selection-end', evaluation, score, isPromoted }, { results });
}

/** What was accepted early has met a part of the items only, and what is believed of it is no match for a whole pass. */
async function passScoreOfBest(gate: Parameters<typeof judgeSkill>[1], deps: StageDeps): Promise<number> {
  const { state } = gate;
  if (hasPass(state, state.best)) return passScore(state, state.best);
  const { skill: candidateSkill, hash: candidateHash } = state.best;
  return (await judgeSkill({ candidateSkill, candidateHash }, gate, deps)).score;
}

/** Scores of whole passes: what is compared here has no incumbent to race against. */
const wholePass = (config: Run['config']) => ({ ...config, gate: 'strict', racing: 'off' }) as const;

/** Draws that no search has seen: none asks for so many of one task. */
export const FRESH_FROM = 1_000_000;

/**
 * The winner by fresh rollouts alone: what it was chosen by flatters it. So does what the seed skill has won by, if it is the
 * winner; it has no gain over itself, whatever the dice say.
 */
export async function measureWinner(
  state: RunState,
  { env, items, config, commit, reserve: { deps } }: Run,
): Promise<RunState> {
  const { skill, hash } = state.best;
  const draws = { from: FRESH_FROM, passes: finalPassesOf(config, items) };
  const measured = await scorePasses({ env, skill, items: items.val }, draws, deps);
  const passes = measured.map(({ evaluation }) => evaluation);
  const observations = passes.flatMap(({ scores }) => toObservations(scores, config));
  const fresh = addObservations(noEvidence, observations);
  const isSeed = isSeedWinner(state);
  const report = finalReport({ fresh, seed: toEvidence(state.gate.seed), confidence: config.confidence, isSeed });
  const detail = { results: measured.flatMap(({ results }) => results) };
  return commit({ type: 'final-measurement-end', hash, passes, ...report }, detail);
}

async function prune(state: RunState, run: Run): Promise<RunState> {
  const { env, items, config, commit, deps } = run;
  const passages = acceptedPassages(state);
  const left = rolloutsLeft(state, { ...config, prune: false }, items);
  const maxPasses = left === undefined ? undefined : Math.floor(left / Math.max(1, items.val.length));
  const gate = { env, state, items: items.val, config: wholePass(config) };
  const whole = { isPackage: trainsPackage(config), whyUnusable: unusableBeside(state.best.skill, run) };
  const pruned = await pruneSkill({ ...gate, ...whole, passages, maxPasses }, deps);
  return commit({ type: 'prune-end', ...pruned });
}

/** A file as a whole, or a line of a script, is no passage. */
const isPassage = ({ op, file = '' }: RunState['history'][number]['edits'][number]) =>
  op !== 'create_file' && op !== 'delete_file' && partOf(file) !== 'scripts';

/** What accepted edits added, the least supported first. */
function acceptedPassages({ history }: RunState): string[] {
  const added = history
    .filter(({ action }) => isAccepted(action))
    .flatMap((record) =>
      keptEdits(record)
        .filter((index) => isPassage(record.edits[index]!))
        .map((index) => {
          return { content: record.edits[index]!.content.trim(), support: record.supportCounts[index] ?? 0 };
        }),
    );
  return added.sort((a, b) => a.support - b.support).map(({ content }) => content);
}

const SUBJECTS: readonly TestSubject[] = ['baseline', 'best', 'final'];

/** All that are left, at the same time. One text is measured once, whatever it is called. */
async function measureOnTest(start: RunState, run: Run): Promise<RunState> {
  const { env, items, commit, deps } = run;
  let state = start;
  const skills = { baseline: state.initialSkill, best: state.best.skill, final: state.current.skill };
  const subjects = items.test.length > 0 ? SUBJECTS.filter((subject) => !state.tests[subject]) : [];
  if (subjects.length > 0) state = await countTestLook(state, skills, run);
  const texts = [...new Set(subjects.map((subject) => skills[subject]))];
  const measured = await settleAll(texts.map((skill) => scoreSkill({ env, skill, items: items.test }, deps)));
  const taskTypes = env.getTaskTypes?.() ?? [];
  for (const subject of subjects) {
    const { evaluation, results } = measured[texts.indexOf(skills[subject])]!;
    state = await commit({ type: 'test-end', subject, evaluation, taskTypes }, { results });
  }
  return state;
}

/**
 * Counts a run's look at the test tasks, one for all its skills, before the first of the tasks is attempted. A run that
 * is resumed has looked already, and one that is made again from what is known shows nothing new.
 */
async function countTestLook(
  state: RunState,
  skills: Readonly<Record<string, string>>,
  { env, config, commit, lookAtTest, deps: { target, judge } }: Run,
): Promise<RunState> {
  if (state.testLooks !== undefined) return state;
  const tasks = await hashTasks(env, config.testSplit);
  const subjects = Object.fromEntries(Object.entries(skills).map(([name, skill]) => [name, skillHash(skill)]));
  const measurement = skillHash(JSON.stringify([target.id, judge?.id, subjects]));
  const looks = await lookAtTest({ measurement, tasks, subjects });
  return commit({ type: 'test-look', looks, tasks });
}
