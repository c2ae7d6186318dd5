import { plural } from '../../core/text/index.ts';
import { resolvePath } from '../../project/index.ts';
import { placeOfProcess, readWaiting } from '../../sleep/index.ts';
import { stateFolderOf } from '../../stores/index.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** `sleep status --short` for a shell prompt, which asks at every line: neither flags nor the state are parsed in full. */
export function showShortStatus(project: string, { io, answer }: Terminal): void {
  const waiting = readWaiting(stateFolderOf(placeOfProcess(io.env)), resolvePath(io.cwd(), project));
  answer(waiting, shortLine(waiting));
}

/** One line about what waits; none if nothing does. */
export function shortLine({ proposals, hasQuestions, isCutOff }: ReturnType<typeof readWaiting>): string[] {
  if (isCutOff) return ['sleep: an adoption is not finished'];
  if (hasQuestions) return ['sleep: questions wait'];
  return proposals > 0 ? [`sleep: ${plural(proposals, 'proposal')}`] : [];
}
