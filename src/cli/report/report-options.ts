import type { Colors } from '../terminal/colors.ts';

export type ReportOptions = {
  /** What the user may call the run: its name below `runs`, or a path. */
  readonly run: string;
  readonly bestSkillPath: string;
  readonly width: number;
  readonly colors: Colors;
  /** Every edit, in full. */
  readonly isComplete?: boolean;
};
