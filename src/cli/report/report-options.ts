import type { VerdictOptions } from '../../core/run/verdict.ts';
import type { Place } from '../../core/run/verdict-words.ts';
import type { Colors } from '../terminal/colors.ts';

/** `run` is what the user may call it: its name below `runs`, or a path. */
export type ReportOptions = Place &
  VerdictOptions & {
    readonly width: number;
    readonly colors: Colors;
    /** All that is known, and every edit in full. */
    readonly isComplete?: boolean;
    /** The night that the run belongs to: what it came to is decided and measured there, with attempts of its own. */
    readonly night?: string | undefined;
  };
