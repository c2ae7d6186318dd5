import type { Place, RunState, Verdict, VerdictOptions } from '../../core/run/index.ts';
import type { Colors } from '../../report/index.ts';
import type { SkillChange } from '../../train/index.ts';

/** `run` is what the user may call it: its name below `runs`, or a path. */
export type ReportOptions = Place &
  VerdictOptions & {
    readonly width: number;
    readonly colors: Colors;
    /** Commands of ours as the person types them. */
    readonly called?: (text: string) => string;
    /** All that is known, and every edit in full. */
    readonly isComplete?: boolean;
    /** What tasks are called whose ids say nothing, by their ids. */
    readonly names?: ReadonlyMap<string, string>;
    /** The night that the run belongs to: what it came to is decided and measured there, with attempts of its own. */
    readonly night?: string | undefined;
  };

/** For lines that nobody is going to copy into a shell. */
export const asWritten = (text: string): string => text;

/** A run with what is to be said of it. */
export type Told = {
  readonly state: RunState;
  readonly verdict: Verdict;
  readonly change: SkillChange;
  readonly options: ReportOptions;
};
