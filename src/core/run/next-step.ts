import type { RunState } from './run-state.ts';
import type { Verdict } from './verdict.ts';

export type Place = {
  /** What the run is called by on the command line. */
  readonly run: string;
  readonly bestSkillPath: string;
  /** Where the skill came from, if it is known. */
  readonly skillFile?: string | undefined;
};

/** The one thing to do now: a command or a path, and what it is for. */
export function nextStep(verdict: Verdict, { config }: RunState, place: Place): [what: string, why: string] {
  const { run, bestSkillPath, skillFile } = place;
  if (verdict.kind === 'better')
    return skillFile === undefined
      ? [bestSkillPath, 'is the better skill, ready to copy']
      : [`npx skillopt apply ${run}`, `puts it in place of ${skillFile}`];
  if (verdict.kind === 'broken') return ['npx skillopt doctor', 'asks each model one question'];
  const isHopeful = (verdict.comparison?.gain?.value ?? 1) > 0;
  if (verdict.kind === 'not-proven' && isHopeful)
    return ['npx skillopt calibrate', 'tells which gains these tasks can prove'];
  if (verdict.kind !== 'stopped') return [`npx skillopt show ${run} --all`, 'shows every edit and what became of it'];
  if (verdict.reason === 'running') return [`npx skillopt show ${run}`, 'shows how far it is'];
  return [`npx skillopt train${verdict.reason === 'limit' ? raised(config) : ''}`, 'resumes it where it stopped'];
}

const LIMITS = { maxCalls: 'max-calls', maxTotalTokens: 'max-total-tokens', maxCostUsd: 'max-cost-usd' } as const;

/** The limit that the run began with, doubled; of several nobody knows here which one it was. */
function raised(config: RunState['config']): string {
  const set = Object.entries(LIMITS).filter(([key]) => config?.[key as keyof typeof LIMITS] !== undefined);
  const [[key, flag] = []] = set;
  return set.length === 1 ? ` --${flag} ${2 * config![key as keyof typeof LIMITS]!}` : '';
}
