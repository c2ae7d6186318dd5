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
  return events.flatMap((event) => {
    const parsed = schema.safeParse(event);
    return parsed.success ? [parsed.data] : [];
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
