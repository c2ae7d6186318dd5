import { it } from 'vitest';
import { meetsExpectation, untrueInputs } from '../../support/imports/untrue-inputs.ts';

it.each(untrueInputs)('input %s', meetsExpectation);
