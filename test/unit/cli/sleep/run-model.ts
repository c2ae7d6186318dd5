import type { FakeRequest } from 'skillopt/testing';
import { appends } from '../../../support/scripted-run.ts';
import { RULE } from '../../sleep/night/night-world.ts';

/** One model in all roles: as the agent it does what its documents say, as the analyst it proposes the rule. */
export function answerAsBoth({ messages }: FakeRequest): string {
  const system = messages[0]!.content;
  if (!system.startsWith('You are a coding agent at work'))
    return JSON.stringify({ ...appends(RULE), ...appends(RULE).patch });
  return system.includes(RULE) ? 'As asked. DONE' : 'As asked.';
}
