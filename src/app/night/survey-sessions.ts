import {
  type FileTrouble,
  folderOf,
  type GatherEvent,
  lookbackFloor,
  type OpenSleep,
  type Overview,
  overview,
  readInstant,
  type SessionHead,
  scopeTest,
  timeOf,
  updateIndex,
} from '../../sleep/index.ts';
import { transcriptSources } from '../../transcripts/index.ts';

/** Why sessions that exist are not part of a survey. */
export type NotSurveyed = 'other-agent' | 'other-project' | 'too-old' | 'ignored';

export type SessionSurvey = {
  readonly overview: Overview;
  readonly trouble: readonly FileTrouble[];
  readonly filesRead: number;
  readonly notSurveyed: readonly (readonly [NotSurveyed, number])[];
  /** Folders that were looked at. */
  readonly lookedAt: readonly string[];
  /** Sessions of this project that could teach something. */
  readonly usableHere: number;
  /** Whether some of them, or else of all sessions, are young enough for the first night. */
  readonly isRecent: boolean;
};

type SurveyOptions = {
  readonly since?: string | undefined;
  readonly onGather?: ((event: GatherEvent) => void) | undefined;
  /** Only sessions of the project. Otherwise of all projects. */
  readonly isOfProject?: boolean | undefined;
};

/** What there is to learn from on this machine. Asks no model, and reads only files that have changed since the last time. */
export async function surveySessions(sleep: OpenSleep, options: SurveyOptions = {}): Promise<SessionSurvey> {
  const { index, sources, project, place, settings, isIgnored, redact } = sleep;
  const onProgress = (progress: { source: string; done: number; total: number }) =>
    options.onGather?.({ type: 'transcript-read', ...progress });
  const now = Date.now();
  const since = readInstant(options.since) ?? 0;
  const inScope = await scopeTest(options.isOfProject ? [project] : 'all', place);
  const isHere = await scopeTest([project], place);
  const names = new Set(sources.map(({ name }) => name));
  const whyNot = (head: SessionHead): NotSurveyed | undefined => {
    if (!names.has(head.source)) return 'other-agent';
    if (!inScope(folderOf(head))) return 'other-project';
    if (timeOf(head) < since) return 'too-old';
    return isIgnored(head) ? 'ignored' : undefined;
  };
  const { trouble, read } = await updateIndex({ ...sleep, now, onProgress });
  const heads = index.files().flatMap((file) => file.heads);
  const whyNots = new Map(heads.map((head) => [head, whyNot(head)]));
  const reasons = [...whyNots.values()].filter((why) => why !== undefined);
  const usable = heads.filter(
    (head) => whyNots.get(head) === undefined && head.leftOut === undefined && head.nUserTurns > 0,
  );
  const here = usable.filter((head) => isHere(folderOf(head)));
  const floor = lookbackFloor({ lookbackHours: settings.lookbackHours, now });
  return {
    ...{ trouble, filesRead: read, usableHere: here.length },
    overview: overview(index, { isIgnored: (head) => whyNots.get(head) !== undefined }),
    notSurveyed: [...new Set(reasons)].map((why) => [why, reasons.filter((one) => one === why).length] as const),
    lookedAt: (sources.length > 0 ? sources : transcriptSources).flatMap((one) => one.roots(place)).map(redact),
    isRecent: (here.length > 0 ? here : usable).some((head) => !(timeOf(head) < floor)),
  };
}
