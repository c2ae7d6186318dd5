import type { RunEvent } from '../../../src/index.ts';

/** What the gate was asked about, and what it said. A step may ask about several, in their order. */
type Candidate = { readonly skill: string; readonly isAccepted: boolean };

/** Scores of these worlds differ by more than that, or not at all. */
const EPSILON = 1e-9;

/** What the gate was asked about, and what of it does nothing or harm, by the truth, beside the skill of that moment. */
export function countCandidates(
  events: readonly RunEvent[],
  initialSkill: string,
  truth: (skill: string) => number,
): Record<'offered' | 'nullOffered' | 'nullAccepted' | 'harmfulOffered' | 'harmfulAccepted', number> {
  const counts = { offered: 0, nullOffered: 0, nullAccepted: 0, harmfulOffered: 0, harmfulAccepted: 0 };
  let current = truth(initialSkill);
  for (const { skill, isAccepted } of candidatesOf(events)) {
    const score = truth(skill);
    const kind = Math.abs(score - current) < EPSILON ? 'null' : score < current ? 'harmful' : undefined;
    counts.offered++;
    if (kind) counts[`${kind}Offered`]++;
    if (!isAccepted) continue;
    if (kind) counts[`${kind}Accepted`]++;
    current = score;
  }
  return counts;
}

/** Of steps and of epoch ends, in order. */
function candidatesOf(events: readonly RunEvent[]): Candidate[] {
  let skill = '';
  return events.flatMap((event) => {
    if (event.type === 'stage-end' && event.stage === 'update') skill = event.candidateSkill;
    if (event.type === 'stage-end' && event.stage === 'evaluate') return judged(skill, event.action);
    return event.type === 'slow-update-end' ? judged(event.candidateSkill, event.action) : [];
  });
}

/** What was not measured was not offered. */
function judged(skill: string, action: string): Candidate[] {
  const isAccepted = action === 'accept' || action === 'accept_new_best';
  return isAccepted || action === 'reject' ? [{ skill, isAccepted }] : [];
}
