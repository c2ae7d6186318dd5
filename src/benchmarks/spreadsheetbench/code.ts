import { strip } from '../../core/text/index.ts';

export const LANGUAGES = ['python', 'javascript'] as const;
export type Language = (typeof LANGUAGES)[number];

const FENCE = '```';

/** The first fenced block of a reply. Without a whole one, all of it. */
export function extractCode(reply: string): string {
  const open = reply.indexOf(FENCE);
  const start = open < 0 ? -1 : reply.indexOf('\n', open);
  const end = start < 0 ? -1 : reply.indexOf(FENCE, start + 1);
  return strip(end < 0 ? reply : reply.slice(start + 1, end));
}

const DECLARED: Readonly<Record<Language, RegExp>> = {
  python: /^\s*(?:INPUT_PATH|OUTPUT_PATH)\s*=./s,
  javascript: /^\s*(?:(?:const|let|var)\s+)?(?:INPUT_PATH|OUTPUT_PATH)\s*=./s,
};

/** Without the lines that set the two paths: they are set already. Line numbers stay. */
export function withoutPaths(code: string, language: Language): string {
  const lines = code.split('\n');
  return lines.map((line) => (DECLARED[language].test(line) ? '' : line)).join('\n');
}
