import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../../../../src/core/contracts/index.ts';
import { scripted } from '../../../../src/models/index.ts';
import { consolidate } from '../../../../src/sleep/index.ts';
import { doneTasks, obedient, proposing, RULE, USELESS } from './night-world.ts';

const SAID = '- Answers are in English.';
const NO_TEXT = { skill: '', memory: '' };

describe('a rule that rides along', () => {
  it('is not proposed: a useless one beside a useful one', async () => {
    const models = { target: obedient(), optimizer: proposing(RULE, USELESS) };
    const { newSkill, accepted } = await consolidate(models, doneTasks(), NO_TEXT, { evolveMemory: false });
    expect([accepted, newSkill.includes(RULE), newSkill.includes(USELESS)]).toEqual([true, true, false]);
  });

  it('is not proposed: what the skill says already, again for the memory', async () => {
    const inBoth = ({ messages }: ChatRequest) => messages[0]!.content.split('Answers are in English').length > 2;
    const rules = ({ messages }: ChatRequest) => messages[0]!.content.includes(RULE.slice(2));
    // Said twice it seems to help a little, as a rule that rides along may by luck.
    const target = scripted('agent', (request) =>
      rules(request) && (inBoth(request) || !request.messages[1]!.content.includes('val-0')) ? 'DONE' : 'no',
    );
    const models = { target, optimizer: proposing(RULE, SAID) };
    const documents = { skill: `# S\n\n${SAID.toUpperCase()}\n${SAID}\n`, memory: '' };
    const night = await consolidate(models, doneTasks(), documents, { evolveSkill: false });
    expect([night.accepted, night.newMemory.includes(RULE), night.newMemory.includes(SAID)]).toEqual([
      true,
      true,
      false,
    ]);
  });
});
