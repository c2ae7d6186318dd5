import { plural } from '../../core/text/index.ts';
import type { HarvestCounts } from '../../sleep/index.ts';

/** Why sessions that are there are not among those considered. */
export function notConsidered(counts: HarvestCounts): string[] {
  const reasons: readonly (readonly [number, string])[] = [
    [counts.otherProjects, 'of other projects (--all-projects takes them)'],
    [counts.tooOld, 'older than was asked for (--lookback-hours 0 takes all)'],
    [counts.seen, 'considered on an earlier night'],
    [counts.ignored, 'named in a .skilloptignore'],
    [counts.overLimit, 'over the limit of a night; they wait for the next'],
    [counts.leftOut['asked-not-to'] ?? 0, 'in which the person said that nothing shall be learned'],
    [counts.leftOut['no-prompt'] ?? 0, 'in which nobody asked for anything'],
    [counts.leftOut['sub-agent'] ?? 0, 'of sub-agents'],
    [counts.leftOut.headless ?? 0, 'started by a program'],
    [counts.leftOut['own-call'] ?? 0, 'of our own calls'],
  ];
  return reasons.filter(([times]) => times > 0).map(([times, what]) => `${plural(times, 'session')} ${what}`);
}
