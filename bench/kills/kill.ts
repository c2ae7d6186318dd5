import { isDeepStrictEqual } from 'node:util';
import { type Outcome, startModels, trainWithKills, WORKERS } from '../../test/e2e/killed-run.ts';
import type { BenchRow } from '../row.ts';

const KILLS = 200;
const KILLS_PER_RUN = 10;

const lasting = ({ bestSkill, history, facts }: Outcome) => ({ bestSkill, history, facts });

/** Whether a run can be killed at any moment and still end the same, for the same money. */
export const kill: BenchRow = {
  name: 'kill',
  what: `${KILLS} × kill -9 of compiled training processes`,
  goal: `same end; ≤ ${WORKERS} calls repeated per kill`,
  async run(say) {
    await using server = await startModels();
    const undisturbed = await trainWithKills(server, 0, 0);
    const runs: Outcome[] = [];
    for (let kills = 0; kills < KILLS; kills += runs.at(-1)!.kills) {
      runs.push(await trainWithKills(server, Math.min(KILLS_PER_RUN, KILLS - kills), runs.length + 1));
      say(`run ${runs.length}: ${runs.at(-1)!.kills} kills, ${runs.at(-1)!.calls - undisturbed.calls} calls repeated`);
    }
    const differing = runs.filter((run) => !isDeepStrictEqual(lasting(run), lasting(undisturbed))).length;
    const killed = runs.reduce((sum, run) => sum + run.kills, 0);
    const repeated = runs.map((run) => (run.calls - undisturbed.calls) / Math.max(run.kills, 1));
    const worst = Math.max(...repeated);
    const measured = `${killed} kills in ${runs.length} runs: ${differing} ends differ, at worst ${worst.toFixed(1)} calls a kill`;
    return { measured, holds: differing === 0 && worst <= WORKERS, figures: { killed, differing, worst, repeated } };
  },
};
