import {
  type Blame,
  type GateDecision,
  isAccepted,
  type RunState,
  type StepAction,
  type StepRecord,
} from '../../core/run/index.ts';
import { oneLine, percent, plural, points } from '../../core/text/index.ts';

/** What a candidate is compared with: what is believed of the current skill now, and the state after the judgement. */
type Compared = { readonly now: number; readonly after: RunState };

export function symbolOf(action: StepAction): string {
  if (isAccepted(action)) return '✓';
  return action === 'reject' ? '✗' : '·';
}

export const WORDS: Readonly<Record<StepAction, string>> = {
  accept_new_best: 'new best',
  accept: 'accepted',
  force_accept: 'accepted',
  reject: 'rejected',
  unchanged: 'unchanged',
  skip_no_patches: 'no edits',
  skip_no_rewrite: 'no edits',
  skip_invalid: 'invalid',
};

/** Verdicts that an action does not tell. */
const VERDICTS: Readonly<Record<string, string>> = { inconclusive: 'undecided', invalid: 'invalid' };

export function wordOf({ verdict, action }: StepRecord): string {
  return VERDICTS[verdict ?? ''] ?? WORDS[action];
}

/** What the skill has won by the step, or why it has not. */
export function judgementText(record: StepRecord, compared: Compared): string {
  const { action, verdict, verdictReason = '', expectedGain, chance = 0 } = record;
  if (verdict === 'invalid') return verdictReason;
  if (record.blame) return blameText(record.blame);
  if (isAccepted(action))
    return [scoreChange(compared), partText(record, compared)].filter((text) => text !== '').join('  ');
  if (action !== 'reject') return '';
  if (expectedGain === undefined) return lossText(record, compared);
  if (verdict === 'inconclusive')
    return partText(record, compared) || `after all ${plural(record.nItems ?? 0, 'task')}`;
  return chance < 0.5 ? figures({ expectedGain, chance }) : verdictReason; // by a veto
}

/** The candidate, not the environment. */
export const blameText = ({ threw, total, reason }: Blame) =>
  `it made ${threw} of ${plural(total, 'task')} throw: ${oneLine(reason)}`;

/** `31.2 → 45.0 %  +13.8`: what is believed of the current skill before and after. */
export function scoreChange({ now, after }: Compared): string {
  const { score } = after.current;
  return `${bare(now).padStart(5)} → ${percent(score).padStart(7)}  ${points(rounded(score) - rounded(now)).padStart(5)}`;
}

/** As it is shown, so that the figures of a line add up. */
const rounded = (score: number) => Math.round(1000 * score) / 1000;

export const bare = (score: number) => percent(score).replace(' %', '');

/** What a candidate measured that lost by its score. */
function lossText(record: StepRecord, compared: Compared): string {
  const { candidateGateScore: score } = record;
  if (record.nItemsMet !== undefined) return partText(record, compared);
  return `${''.padStart(8)}${percent(score).padStart(7)}  ${points(score - compared.now).padStart(5)}`;
}

function partText({ nItemsMet, nItems }: StepRecord, { after }: Compared): string {
  return nItemsMet === undefined ? '' : `after ${nItemsMet} of ${plural(nItems ?? after.items.val ?? 0, 'task')}`;
}

export function figures({ expectedGain, chance }: Pick<GateDecision, 'expectedGain' | 'chance'>): string {
  return `expected ${points(expectedGain)} points, chance ${(100 * chance).toFixed(0)} %`;
}
