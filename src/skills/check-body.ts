import type { Finding, Rule } from './finding.ts';
import { lineFinder } from './finding.ts';

const MAX_LINES = 500;
const MAX_TOKENS = 5000;
/** A rough measure of English text; other languages need more tokens for as many characters. */
const CHARACTERS_PER_TOKEN = 4;

/** Advice about the text after the frontmatter. What is too long is reported where it becomes too long. */
export function checkBody(text: string, bodyStart: number): Finding[] {
  const lineAt = lineFinder(text);
  if (text.slice(bodyStart).trim() === '') {
    return [warning(lineAt(Math.max(bodyStart - 1, 0)), 'body-empty', 'expected instructions after the frontmatter')];
  }
  return [...checkLines(text, lineAt(bodyStart)), ...checkTokens(text, bodyStart)];
}

function checkLines(text: string, first: number): Finding[] {
  const lines = lineFinder(text)(text.length - 1) - first + 1;
  if (lines <= MAX_LINES) return [];
  return [warning(first + MAX_LINES, 'body-lines', `expected at most ${MAX_LINES} lines, got ${lines}; ${ADVICE}`)];
}

function checkTokens(text: string, bodyStart: number): Finding[] {
  const tokens = Math.ceil((text.length - bodyStart) / CHARACTERS_PER_TOKEN);
  if (tokens <= MAX_TOKENS) return [];
  const line = lineFinder(text)(bodyStart + MAX_TOKENS * CHARACTERS_PER_TOKEN);
  const got = `got about ${tokens} (estimated as characters / ${CHARACTERS_PER_TOKEN})`;
  return [warning(line, 'body-tokens', `expected at most ${MAX_TOKENS} tokens, ${got}; ${ADVICE}`)];
}

const ADVICE = 'move details into files of their own and link them';

const warning = (line: number, rule: Rule, message: string): Finding => ({ line, level: 'warning', rule, message });
