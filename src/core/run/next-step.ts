import { changedFiles, SKILL_FILE, trainsPackage } from '../document/index.ts';
import { shellWord } from '../text/index.ts';
import { NO_ANSWER } from './failures.ts';
import type { RunState } from './run-state.ts';
import type { Verdict } from './verdict.ts';

export type Place = {
  /** What the run is called by on the command line. */
  readonly run: string;
  /** Its folder, where that is another name. */
  readonly path?: string;
  readonly bestSkillPath: string;
  /** Where the skill came from, if it is known. */
  readonly skillFile?: string | undefined;
  /** The project file, where commands about the project have to name it. */
  readonly projectFile?: string | undefined;
};

type Step = [what: string, why: string];

/** The one thing to do now: a command or a path, and what it is for. */
export function nextStep(verdict: Verdict, state: RunState, place: Place): Step {
  const [what, why] = stepAfter(verdict, state, place);
  const named = place.projectFile === undefined ? '' : ` --config ${shellWord(place.projectFile)}`;
  return [what.replace(/(?<=skillopt (?:doctor|calibrate|train)\b)/, named), why];
}

function stepAfter(verdict: Verdict, state: RunState, place: Place): Step {
  const { config, isRunNamed } = state;
  const { run, path = run, bestSkillPath, skillFile } = place;
  if (verdict.kind === 'better')
    return skillFile === undefined
      ? [bestSkillPath, 'is the better skill, ready to copy']
      : [`npx skillopt apply ${run}`, `puts ${whatAndWhere(state, skillFile)}`];
  if (verdict.kind === 'broken') return mendStep(verdict, run);
  const isHopeful = (verdict.comparison?.gain?.value ?? 1) > 0;
  if (verdict.kind === 'not-proven' && isHopeful)
    return ['npx skillopt calibrate', 'tells which gains these tasks can prove'];
  if (verdict.kind !== 'stopped') return [`npx skillopt show ${run} --all`, 'shows every edit and what became of it'];
  if (verdict.reason === 'running') return [`npx skillopt watch ${run}`, 'shows how far it is'];
  const named = isRunNamed ? ` --run ${shellWord(path)}` : '';
  return [`npx skillopt train${named}${raised(verdict, config)}`, 'resumes it where it stopped'];
}

/** Attempts that came to something are looked at; where there is none, the models are asked. */
function mendStep({ failure }: Verdict, run: string): [what: string, why: string] {
  if (!failure || failure.reason === NO_ANSWER) return ['npx skillopt doctor', 'asks each model one question'];
  return [`npx skillopt show ${run} --task ${shellWord(failure.task)}`, 'shows such an attempt, and how it was judged'];
}

/** Of a package only the files that changed are written, and SKILL.md may not be among them. */
function whatAndWhere({ config, initialSkill, best }: RunState, skillFile: string): string {
  const paths = trainsPackage(config ?? {}) ? changedFiles(initialSkill, best.skill) : [SKILL_FILE];
  const [only = SKILL_FILE] = paths;
  const folder = skillFile.replace(/[^/\\]*$/, '');
  if (paths.length > 1) return `${paths.length} changed files in place in ${folder === '' ? 'this folder' : folder}`;
  return `it in place of ${only === SKILL_FILE ? skillFile : `${folder}${only}`}`;
}

const FLAGS = {
  maxCalls: 'max-calls',
  maxTotalTokens: 'max-total-tokens',
  maxCostUsd: 'max-cost-usd',
  maxMinutes: 'max-minutes',
} as const;

/** As the stop has advised; else twice the limit that the run began with, or twice what is spent where a later start was given more. */
function raised({ limit, advised, calls, tokens, costUsd }: Verdict, config: RunState['config']): string {
  if (limit === undefined) return '';
  if (advised !== undefined) return ` --${FLAGS[limit]} ${advised}`;
  const spent = { maxCalls: calls, maxTotalTokens: tokens, maxCostUsd: Math.ceil(costUsd * 100) / 100, maxMinutes: 0 };
  const more = 2 * Math.max(config?.[limit] ?? 0, spent[limit]);
  return more > 0 ? ` --${FLAGS[limit]} ${more}` : '';
}
