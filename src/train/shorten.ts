import { partOf, trainsPackage } from '../core/document/index.ts';
import { editSupport, isAccepted, keptEdits, type RunState, type StepRecord } from '../core/run/index.ts';
import { skillHash } from '../core/text/index.ts';
import { inPhase, judgeSkill, withoutPassageIn } from '../pipeline/index.ts';
import { rolloutsLeft } from './budget/rollouts-left.ts';
import type { Run } from './run.ts';
import { candidateGate, canTryWithout } from './step/candidate-gate.ts';

type Lines = readonly string[];

/** All lines together, both halves, and a half of each: more would cost more than it is worth. */
export const MOST_SHORTER = 5;
/** Fewer tasks cannot tell a useful line from a useless one. */
export const LEAST_TO_SHORTEN = 20;

/**
 * After the search: the skill is tried without all lines that nothing supports, then without the halves of what was missed. A
 * shorter skill wins where it is not worse. No optimizer is asked, and `maxRollouts` holds.
 */
export async function shorten(start: RunState, run: Run): Promise<RunState> {
  if (!isOn(start, run)) return start;
  let state = start;
  const deps = inPhase(run.deps, 'shorten');
  for (let parts = partsOf(state, run); parts.length > 0 && mayTry(state, run); parts = partsOf(state, run)) {
    state = await tryWithout(parts, state, { ...run, deps });
  }
  return state;
}

/** Not once the search is over: an earlier version may have ended it without. */
const isOn = ({ current, best, final }: RunState, { config, items }: Run) =>
  final === undefined &&
  config.tryShorter &&
  canTryWithout(config) &&
  !hasOtherLimits(config) &&
  current.hash === best.hash &&
  items.val.length >= LEAST_TO_SHORTEN;

/** Under these only the final measurement is kept back: the tests need what is left. */
const hasOtherLimits = ({ maxCalls, maxTotalTokens, maxCostUsd, maxMinutes }: Run['config']) =>
  [maxCalls, maxTotalTokens, maxCostUsd, maxMinutes].some((limit) => limit !== undefined);

/** What is left to be tried; at first all lines at once. */
function partsOf(state: RunState, run: Run): readonly Lines[] {
  const lines = unsupportedLines(state, run);
  return state.shortening?.next ?? (lines.length > 0 ? [lines] : []);
}

function mayTry(state: RunState, { config, items }: Run): boolean {
  const left = rolloutsLeft(state, config, items) ?? Number.POSITIVE_INFINITY;
  return left >= items.val.length && (state.shortening?.tries ?? 0) < MOST_SHORTER;
}

async function tryWithout([removed = [], ...others]: readonly Lines[], state: RunState, run: Run): Promise<RunState> {
  const candidateSkill = removed.reduce((text, line) => withoutLine(text, line, run.config), state.current.skill);
  const candidate = { candidateSkill, candidateHash: skillHash(candidateSkill) };
  const race = { ...candidateGate(state, run), seed: run.config.seed, isShorter: true };
  const { results, further, ...verdict } = await judgeSkill(candidate, race, run.deps);
  const next = [...others, ...(isAccepted(verdict.action) ? [] : halve(removed))];
  const place = (state.shortening?.tries ?? 0) + 1;
  return run.commit({ type: 'shorten-end', place, removed, next, ...candidate, ...verdict }, { results, further });
}

/** Only whole lines: a later edit may have made a longer line of it. */
function withoutLine(skill: string, line: string, config: Run['config']): string {
  const isWhole = `\n${skill}\n`.includes(`\n${line}\n`);
  return isWhole ? (withoutPassageIn(skill, line, trainsPackage(config)) ?? skill) : skill;
}

function halve(lines: Lines): Lines[] {
  const middle = Math.ceil(lines.length / 2);
  return lines.length > 1 ? [lines.slice(0, middle), lines.slice(middle)] : [];
}

/** What accepted steps have added, and what nothing speaks for. */
function unsupportedLines({ history, current: { skill } }: RunState, { config }: Run): Lines {
  const lines = history.filter(({ action }) => isAccepted(action)).flatMap(unsupportedIn);
  return [...new Set(lines)].filter((line) => withoutLine(skill, line, config) !== skill);
}

function unsupportedIn(record: StepRecord): string[] {
  const added = keptEdits(record).filter((index) => {
    const { op, file = '' } = record.edits[index]!;
    return (op === 'append' || op === 'insert_after') && partOf(file) !== 'scripts';
  });
  const unsupported = added.filter((index) => editSupport(record, index).standing === 'unsupported');
  return unsupported.map((index) => record.edits[index]!.content.trim());
}
