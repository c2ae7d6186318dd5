const FENCE = /```(?:json)?([\s\S]+?)```/i;

/** Deeper nesting is never meant, and code that walks through it would run out of stack. */
const MAX_DEPTH = 100;

/**
 * The JSON object in a model's reply: the whole text, else the first fenced block, else from the first `{` to
 * the last `}`. `undefined` when none of them is an object, or when its brackets are nested beyond reason.
 */
export function extractJson(text: string | null | undefined): Record<string, unknown> | undefined {
  for (const candidate of jsonCandidates(text)) {
    const value = parseJson(candidate);
    if (value !== undefined) return isObject(value) ? value : undefined;
  }
  return undefined;
}

/** The pieces of a reply that may be its JSON, most likely first. */
export function jsonCandidates(text: string | null | undefined): string[] {
  if (typeof text !== 'string') return [];
  const trimmed = text.trim();
  const fenced = trimmed.match(FENCE)?.[1]?.trim();
  const [first, last] = [trimmed.indexOf('{'), trimmed.lastIndexOf('}')];
  const braced = first !== -1 && last > first ? trimmed.slice(first, last + 1) : undefined;
  return [trimmed, fenced, braced].filter((candidate) => candidate !== undefined && candidate !== '') as string[];
}

/** What a text is as JSON; `undefined` when it is none, or nested beyond reason. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isShallow(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Level by level, since a function that calls itself is what must be spared. */
function isShallow(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return false;
    level = level.flatMap((inner) => (typeof inner === 'object' && inner !== null ? Object.values(inner) : []));
  }
  return true;
}
