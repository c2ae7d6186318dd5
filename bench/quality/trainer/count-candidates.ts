import type { RunEvent } from '../../../src/index.ts';

type Candidate = { readonly skill: string; readonly action: string };

/** Scores of this world differ by more than that, or not at all. */
const EPSILON = 1e-9;

const isAccepted = (action: string) => action === 'accept' || action === 'accept_new_best';

/** What the gate was asked about, and what of it does nothing or harm, by the truth, beside the skill of that moment. */
export function countCandidates(
  events: readonly RunEvent[],
  initialSkill: string,
  truth: (skill: string) => number,
): Record<'offered' | 'nullOffered' | 'nullAccepted' | 'harmfulOffered' | 'harmfulAccepted', number> {
  const counts = { offered: 0, nullOffered: 0, nullAccepted: 0, harmfulOffered: 0, harmfulAccepted: 0 };
  let current = truth(initialSkill);
  for (const { skill, action } of candidatesOf(events)) {
    const score = truth(skill);
    counts.offered++;
    const kind = Math.abs(score - current) < EPSILON ? 'null' : score < current ? 'harmful' : undefined;
    if (kind) counts[`${kind}Offered`]++;
    if (!isAccepted(action)) continue;
    if (kind) counts[`${kind}Accepted`]++;
    current = score;
  }
  return counts;
}

/** Of steps and of epoch ends, in order. What was not measured was not offered. */
function candidatesOf(events: readonly RunEvent[]): Candidate[] {
  const found: Candidate[] = [];
  let skill = '';
  for (const event of events) {
    if (event.type === 'stage-end' && event.stage === 'update') skill = event.candidateSkill;
    if (event.type === 'stage-end' && event.stage === 'evaluate') found.push({ skill, action: event.action });
    if (event.type === 'slow-update-end') found.push({ skill: event.candidateSkill, action: event.action });
  }
  return found.filter(({ action }) => isAccepted(action) || action === 'reject');
}
