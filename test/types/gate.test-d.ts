import { type AcceptanceRule, type GateRuling, pairedRule, SkillOptTrainer, type TrainerOptions } from 'skillopt';

// Checked by `tsc --noEmit`, never run.

const rule: AcceptanceRule = ({ candidate, current }, { ids, order, isLast }) => {
  if (isLast) return { verdict: 'inconclusive', reason: 'too little', needs: { rollouts: 12, power: 0.8 } };
  if (candidate.size === 0) return { verdict: 'continue', reason: 'look', candidate: order.slice(0, 3), current: ids };
  // @ts-expect-error evidence is read
  current.own.set('a', { sum: 1, sumSquares: 1, count: 1 });
  return { verdict: candidate.get('a')?.sum === 1 ? 'accept' : 'reject', reason: 'one task' };
};

declare const options: Omit<TrainerOptions, 'gate'>;
new SkillOptTrainer({ ...options, gate: rule });
new SkillOptTrainer({ ...options, gate: pairedRule });
new SkillOptTrainer({ ...options, gate: Object.assign(rule, { version: '0.02' }) });
// @ts-expect-error the gates that have a name are a setting
new SkillOptTrainer({ ...options, gate: 'strict' });
// @ts-expect-error a rule answers at once
new SkillOptTrainer({ ...options, gate: async () => ({ verdict: 'accept', reason: 'later' }) });

// @ts-expect-error every ruling has a reason
export const silent: GateRuling = { verdict: 'accept' };
// @ts-expect-error a decision asks for nothing
export const both: GateRuling = { verdict: 'accept', reason: 'and more', candidate: ['a'] };
