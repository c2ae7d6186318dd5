import type { Colors } from '../terminal/colors.ts';

export type ReportOptions = {
  /** What the user may call the run: its name below `runs`, or a path. */
  readonly run: string;
  readonly bestSkillPath: string;
  readonly width: number;
  readonly colors: Colors;
  /** Every edit, in full. */
  readonly isComplete?: boolean;
  /** The night that the run belongs to: what it came to is decided and measured there, with attempts of its own. */
  readonly night?: string | undefined;
};
