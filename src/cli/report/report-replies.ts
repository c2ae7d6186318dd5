import { PLAIN_WORDS, type RunState } from '../../core/run/index.ts';
import { oneLine, plural } from '../../core/text/index.ts';
import { clip } from '../../report/index.ts';
import type { ReportOptions } from './report-options.ts';

/** Replies of the optimizer that could not be read, by stage, with the beginning of one. */
export function unreadableLines({ answers }: RunState, { width, colors }: ReportOptions): string[] {
  const stages = Object.entries(answers).filter(([, { unreadable }]) => unreadable > 0);
  return stages.flatMap(([stage, { read, unreadable, sample = '' }]) => [
    clip(
      `${PLAIN_WORDS[stage] ?? stage}: ${unreadable} of ${plural(read + unreadable, 'reply', 'replies')} could not be read`,
      width,
    ),
    colors.dim(clip(`  such as: ${oneLine(sample) || '(no text)'}`, width)),
  ]);
}
