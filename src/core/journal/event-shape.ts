import type { Stamp } from '../run/event.ts';
import { anything, define, faultIn, isObject, number, optional, tableOf, text } from '../run/events/field.ts';
import { findDefinition } from '../run/events/find-definition.ts';

const { checks: STAMP } = define<Stamp>({
  at: text,
  ms: number,
  usage: tableOf({ isValid: isObject }),
  counted: optional(number),
  threw: optional(number),
  failures: optional(tableOf({ isValid: isObject })),
  answers: optional(tableOf({ isValid: isObject })),
});

/** What keeps a value from being an event that can be folded, as the end of a sentence; nothing when it is one. */
export function findFault(value: unknown): string | undefined {
  if (!isObject(value)) return UNKNOWN;
  const definition = findDefinition(value);
  const isStage = value.type === 'stage-end';
  if (!definition && !isStage) return UNKNOWN;
  const ofStage = { step: number, stage: definition ? anything : never };
  const fault = faultIn({ ...(isStage ? ofStage : definition?.checks), ...STAMP }, value);
  const inStage = isStage && definition ? faultIn(definition.checks, value) : undefined;
  const name = fault ?? inStage;
  return name && `must be a whole ${value.type}, but its "${name}" is missing or of another kind`;
}

const never = { isValid: () => false };
const UNKNOWN = 'must be a JSON object with a "type" that this version knows';
