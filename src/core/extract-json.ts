const FENCE = /```(?:json)?([\s\S]+?)```/i;

/**
 * The JSON object in a model's reply: the whole text, else the first fenced block, else from the first `{` to
 * the last `}`. `undefined` when none of them is an object.
 */
export function extractJson(text: string): Record<string, unknown> | undefined {
  for (const candidate of jsonCandidates(text)) {
    const value = parse(candidate);
    if (value !== undefined) return isObject(value) ? value : undefined;
  }
  return undefined;
}

/** The pieces of a reply that may be its JSON, most likely first. */
export function jsonCandidates(text: string): string[] {
  const trimmed = text.trim();
  const fenced = trimmed.match(FENCE)?.[1]?.trim();
  const [first, last] = [trimmed.indexOf('{'), trimmed.lastIndexOf('}')];
  const braced = first !== -1 && last > first ? trimmed.slice(first, last + 1) : undefined;
  return [trimmed, fenced, braced].filter((candidate) => candidate !== undefined && candidate !== '') as string[];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
