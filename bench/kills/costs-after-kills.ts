import {
  agentWorld,
  type CostOutcome,
  type CostWorld,
  enoughFor,
  nightWorld,
  spendWithKills,
  trainerWorld,
} from '../../test/e2e/costs-after-kills.ts';
import type { BenchRow } from '../row.ts';

const KILLS = 50;
/** The most answers between two kills: the work must not be over before the last one. */
const PACE = 3;

/** Whether what is told after kills is what the provider has answered, with limits and without. */
export const costsAfterKills: BenchRow = {
  name: 'costs-after-kills',
  what: `${KILLS} × kill -9 of a training, of a training with an agent, and of a night, each without limits of its own and under limits`,
  goal: 'told ≤ answered ≤ told + in flight at the kills; limits never passed, and never used up by kills',
  async run(say) {
    const worlds = { trainer: trainerWorld, agent: agentWorld, night: nightWorld };
    const figures: Record<string, number> = {};
    const faults: string[] = [];
    const parts: string[] = [];
    for (const [name, open] of Object.entries(worlds)) {
      const outcomes = await spendTwice(open, KILLS);
      const sum = (of: (outcome: CostOutcome) => number) => outcomes.reduce((total, one) => total + of(one), 0);
      const [kills, told, answered] = [sum((one) => one.kills), sum((one) => one.told.calls), sum((one) => one.calls)];
      const mayHaveBeen = sum((one) => one.told.mayHaveBeen?.calls ?? 0);
      parts.push(`${name} ${told} told, ${answered} answered, ${mayHaveBeen} may have been after ${kills} kills`);
      say(parts.at(-1)!);
      faults.push(...outcomes.flatMap((one) => one.faults.map((fault) => `${name}: ${fault}`)));
      faults.push(...outcomes.flatMap(({ code }) => (code === 0 ? [] : [`${name}: ended with ${code}`])));
      Object.assign(figures, { [`${name} told`]: told, [`${name} answered`]: answered, [`${name} kills`]: kills });
    }
    for (const fault of faults) say(fault);
    const measured = `${parts.join('; ')}: ${faults.length} faults`;
    return { measured, holds: faults.length === 0, figures: { ...figures, faults: faults.length } };
  },
};

/** Without limits, and under limits that pay for the work and for the calls in flight at the kills. */
async function spendTwice(open: () => Promise<CostWorld>, kills: number): Promise<CostOutcome[]> {
  await using undisturbed = await open();
  const whole = await spendWithKills(undisturbed, { kills: 0, seed: 0 });
  await using unlimited = await open();
  await using limited = await open();
  return [
    await spendWithKills(unlimited, { kills, seed: 11, pace: PACE }),
    await spendWithKills(limited, { kills, seed: 12, pace: PACE, limits: enoughFor(whole, limited, kills) }),
  ];
}
