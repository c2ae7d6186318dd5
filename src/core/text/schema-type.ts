import { z } from 'zod';

type Unwrapped = { readonly inner: z.ZodType; readonly fallback?: unknown };

/** The type below `.default()` and `.optional()`. */
export const innerType = (schema: z.ZodType): z.ZodType => unwrap(schema).inner;

/** A type and its default. */
export function unwrap(schema: z.ZodType): Unwrapped {
  if (schema instanceof z.ZodDefault) return { inner: schema.unwrap() as z.ZodType, fallback: schema.def.defaultValue };
  return { inner: schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema };
}
