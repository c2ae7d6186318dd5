import type { z } from 'zod';

/** The JSON values in a CLI's output: one document, a list, or one event a line. Lines that are no JSON are left out. */
export function jsonEvents(output: string): readonly unknown[] {
  const whole = parse(output);
  if (whole !== undefined) return Array.isArray(whole) ? whole : [whole];
  return output
    .split('\n')
    .map((line) => (/^\s*[[{]/.test(line) ? parse(line) : undefined)) // most lines are no JSON, and an error is slow
    .filter((event) => event !== undefined);
}

/** The events that fit `schema`, in order. */
export function eventsLike<T>(events: readonly unknown[], schema: z.ZodType<T>): readonly T[] {
  const required = requiredKeys(schema);
  const isLikely = (event: unknown) =>
    typeof event === 'object' && event !== null && required.every((key) => key in event);
  return events.filter(isLikely).flatMap((event) => {
    const parsed = schema.safeParse(event);
    return parsed.success ? [parsed.data] : [];
  });
}

/** Looked for first: a schema takes its time to say what is wrong with thousands of other events. */
function requiredKeys(schema: z.ZodType): readonly string[] {
  const shape = 'shape' in schema ? (schema.shape as Readonly<Record<string, z.ZodType>>) : {};
  return Object.keys(shape).filter((key) => !shape[key]!.safeParse(undefined).success);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
