import type { z } from 'zod';
import { isObject, parseJson } from '../core/text/index.ts';
import type { AgentEvent, EventReader } from './agent-cli.ts';

/** The JSON values in a CLI's output: one document, a list, or one event a line. Lines that are no JSON are left out. */
export function jsonEvents(output: string): readonly unknown[] {
  const whole = parseJson(output);
  if (whole !== undefined) return Array.isArray(whole) ? whole : [whole];
  const lines = output.split('\n').filter((line) => /^\s*[[{]/.test(line)); // most are no JSON, and an error is slow
  return lines.map(parseJson).filter((event) => event !== undefined);
}

/** The last event in a CLI's output that fits `schema`. */
export const lastEvent = <T>(output: string, schema: z.ZodType<T>): T | undefined =>
  eventsLike(jsonEvents(output), schema).at(-1);

/** The events that fit `schema`, in order. */
export function eventsLike<T>(events: readonly unknown[], schema: z.ZodType<T>): readonly T[] {
  const required = requiredKeys(schema);
  const likely = events.filter((event) => isObject(event) && required.every((key) => key in event));
  return likely.flatMap((event) => schema.safeParse(event).data ?? []);
}

/** Checked first: a schema takes long to report what is wrong with thousands of other events. */
function requiredKeys(schema: z.ZodType): readonly string[] {
  const shape = 'shape' in schema ? (schema.shape as Readonly<Record<string, z.ZodType>>) : {};
  return Object.keys(shape).filter((key) => !shape[key]!.safeParse(undefined).success);
}

/** Reads the lines that are objects of this schema, and skips others. */
export function lineReader<T>(schema: z.ZodType<T>, read: (line: T) => readonly AgentEvent[]): EventReader {
  return (text) => {
    const line = text.trimStart().startsWith('{') ? schema.safeParse(parseJson(text)) : undefined;
    return line?.success ? read(line.data) : [];
  };
}

/** Calls of tools and their results. A skill counts as loaded once the call that loads it has succeeded. */
export function toolEvents() {
  const loading = new Map<string, readonly string[]>();
  return {
    called(call: { id: string; tool: string; input: unknown }, skills: readonly string[]): AgentEvent[] {
      loading.set(call.id, skills);
      return [{ type: 'tool-call', ...call }];
    },
    returned({ id, output, isError }: { id: string; output: unknown; isError: boolean }): AgentEvent[] {
      const loaded = isError ? [] : (loading.get(id) ?? []);
      return [
        { type: 'tool-result', id, output: textOf(output), isError },
        ...loaded.map((name) => ({ type: 'skill-loaded', name }) as const),
      ];
    },
  };
}

/** The skill that a tool is asked to load: the text under a key of its input. */
export function skillNamedIn(input: unknown, key: 'name' | 'skill'): readonly string[] {
  const name = isObject(input) ? input[key] : undefined;
  return typeof name === 'string' ? [name] : [];
}

/** The skills of these names whose SKILL.md a text names by a path that ends in it. CLIs shorten such paths in several ways. */
export function skillsReadIn(text: string, names: readonly string[]): readonly string[] {
  const found = [...text.matchAll(/(?<![\w.-])([a-z0-9][a-z0-9-]{0,63})[\\/]SKILL\.md(?![\w.-])/gi)];
  const read = new Set(found.map(([, name]) => name));
  return names.filter((name) => read.has(name));
}

/** What stands under `content`, or the value itself. */
export const contentOf = (value: unknown): unknown => (isObject(value) && 'content' in value ? value.content : value);

/** The text of a result: a text, a list of parts that have one, or anything else as JSON. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (content === undefined || content === null) return '';
  if (Array.isArray(content)) return content.map(textOf).join('\n');
  return isObject(content) && typeof content.text === 'string' ? content.text : JSON.stringify(content);
}
