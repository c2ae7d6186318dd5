import { strip } from '../../core/text/index.ts';
import type { Row } from './row.ts';
import { tasksInvalid } from './tasks-invalid.ts';

/** One JSON value per line. Empty lines are skipped, and counted. */
export function readJsonl(text: string, path: string): Row[] {
  const lines = text.split('\n').map((line, index) => ({ line, where: `${path}:${index + 1}` }));
  return lines
    .filter(({ line }) => strip(line) !== '')
    .map(({ line, where }) => ({ value: parseLine(line, where), where }));
}

function parseLine(line: string, where: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    const problem = `${where}: expected one JSON object on the line: ${(error as Error).message}`;
    throw tasksInvalid(
      [problem],
      'A task takes exactly one line; a list over several lines belongs in a .json file.',
      error,
    );
  }
}
