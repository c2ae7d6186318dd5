import { describeRun, listNightRuns, type NightsPlace } from '../app/index.ts';
import type { RunListed, RunsPage } from '../core/page/index.ts';
import type { StepRecord } from '../core/run/index.ts';
import { suggestion } from '../core/text/index.ts';
import { listRuns, type RunListing } from '../stores/index.ts';
import { problemOf, Refusal, shortPlace, withoutPlaces } from './failure.ts';

export type RunFolder = {
  /** Every run that may be asked for, by the name that the list shows. */
  find(name: string): Promise<RunListing>;
  page(): Promise<RunsPage>;
};

type Place = { readonly root: string; readonly nights?: NightsPlace | undefined };

/** The runs below a folder and the nights of a project, as `skillopt runs` lists them. */
export function runFolder({ root, nights }: Place): RunFolder {
  const known = new Map<string, RunListed>();
  const list = async () => {
    const [runs, nightRuns] = [await listRuns(root), await nightsOf(nights)];
    return { all: [...runs, ...nightRuns.runs], warning: nightRuns.warning };
  };
  return {
    async find(name) {
      const { all } = await list();
      const found = all.find((run) => run.name === name);
      if (found) return found;
      const names = all.map((run) => run.name);
      throw new Refusal(
        404,
        `there is no run ${name}${suggestion(name, names)}`,
        `Runs: ${names.join(', ') || 'none'}`,
      );
    },
    async page() {
      const { all, warning } = await list();
      all.sort((a, b) => Number(b.modifiedAt) - Number(a.modifiedAt));
      const runs: RunListed[] = [];
      // One by one: long journals are large.
      for (const run of all) runs.push(await describe(run, known));
      return { folder: shortPlace(root), runs, ...(warning === undefined ? {} : { warning }) };
    },
  };
}

/** Nights that cannot be read do not hide the other runs: the page says what is missing. */
async function nightsOf(place: NightsPlace | undefined): Promise<{ runs: RunListing[]; warning?: string }> {
  try {
    return { runs: place ? await listNightRuns(place) : [] };
  } catch (error) {
    const { message } = problemOf(error);
    return { runs: [], warning: `The nights of this project are not listed: ${message}` };
  }
}

/** A run that is done changes only with its journal. */
async function describe(run: RunListing, known: Map<string, RunListed>): Promise<RunListed> {
  const key = `${run.path} ${Number(run.modifiedAt)}`;
  const listed = known.get(key) ?? (await listedRun(run));
  if (listed.state.startsWith('done')) known.set(key, listed);
  return listed;
}

export async function listedRun(listing: RunListing): Promise<RunListed> {
  const { row, read } = await describeRun(listing);
  const { name, state, verdict, accepted, rejected, cost, modifiedAt, problem } = row;
  const { comparison } = read?.verdict ?? {};
  const undecided = (read?.state.history ?? []).filter(isUndecided).length;
  return {
    ...{ name, state, verdict, accepted, rejected: rejected - undecided, undecided, cost },
    isRunning: read?.isRunning ?? false,
    on: comparison?.on ?? null,
    baselineScore: comparison?.before ?? null,
    bestScore: comparison?.after ?? null,
    gain: comparison?.gain ?? null,
    isProven: comparison?.isProven ?? false,
    sparkline: thinned(read?.state.history.map((record) => record.bestScore) ?? []),
    modifiedAt: modifiedAt.toISOString(),
    ...(problem === undefined ? {} : { problem: withoutPlaces(problem) }),
  };
}

/** As the steps call it: a candidate that was neither taken nor shown to be worse. */
const isUndecided = ({ action, verdict }: StepRecord) => action === 'reject' && verdict === 'inconclusive';

const MOST_POINTS = 60;

/** Every so-manieth, and always the last. */
function thinned(points: readonly number[]): number[] {
  const every = Math.ceil(points.length / MOST_POINTS);
  return points.filter((_, place) => (points.length - 1 - place) % every === 0);
}
