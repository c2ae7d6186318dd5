import { z } from 'zod';
import { strip } from '../../core/text/python-text.ts';

export const isFilled = (value: string) => strip(value) !== '';

const ID = 'must be non-empty text or a number';

/** A task's id as files write it: a number becomes text, so that 1 and "1" are one id. */
export const itemId = z.union([z.string().refine(isFilled, ID), z.number()], ID).transform(String);
