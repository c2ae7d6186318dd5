import { isObject, parseJson } from '../core/text/index.ts';

const TEXT = String.raw`"(?:[^"\\]|\\.)*"`;
const MEMBER = String.raw`\s*"(?:jsonrpc|id|method)"\s*:\s*(?:${TEXT}|-?\d+)\s*`;
const AT_BEGIN = new RegExp(String.raw`^\s*\{((?:${MEMBER},)*)(\s*"method"\s*:\s*")?`);
const AT_END = new RegExp(String.raw`((?:,${MEMBER})+)\}\s*$`);

/**
 * The id of a request that is too long to be read; `null` where its two ends do not tell. Only keys before the first value that is
 * not short count, and those after the last: no text or object inside of it can look like these. An answer has no method, and its id
 * is one of ours.
 */
export function idOfLong(begin: string, end: string): string | number | null {
  const [, first = '', methodBegins] = AT_BEGIN.exec(begin) ?? [];
  const [, last = ''] = AT_END.exec(end) ?? [];
  const { id, method = methodBegins } = { ...members(first.replace(/,$/, '')), ...members(last.slice(1)) };
  const isId = typeof id === 'string' || Number.isSafeInteger(id);
  return isId && typeof method === 'string' ? (id as string | number) : null;
}

function members(text: string): Readonly<Record<string, unknown>> {
  const value = parseJson(`{${text}}`);
  return isObject(value) ? value : {};
}
