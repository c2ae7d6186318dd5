import { describe, expect, it } from 'vitest';
import { SimpleQAEnv } from '../../../src/public/envs.ts';
import { qaInWorkspace } from '../../../src/public/runners.ts';
import { probeSandbox, sandboxes } from '../../../src/public/workspaces.ts';
import { shellAgent } from '../../support/shell-agent.ts';

const sandbox = (await probeSandbox()).bubblewrap.isAvailable ? sandboxes.bubblewrap() : sandboxes.none();
const target = { id: 'none', complete: () => Promise.reject(new Error('not asked')) };
const long = `${'Filler. '.repeat(1_000)}The capital is Oslo.`;
const items = [
  { id: 'short', question: 'Which city?', answers: ['Oslo'], context: 'The capital is Oslo.', taskType: 'cities' },
  { id: 'long', question: 'Which city?', answers: ['Oslo'], context: long },
  {
    id: 'judged',
    question: 'Say hello.',
    judge: { kind: 'checks' as const, checks: [{ type: 'contains' as const, value: 'hello' }] },
  },
];
const questions = new SimpleQAEnv({ trainItems: items, valItems: [], testItems: [] });
const env = qaInWorkspace({ questions, sandbox });

async function ask(id: string, agent: ReturnType<typeof shellAgent>, skill = 'Answer in one word.') {
  const item = (await env.getItems('train')).find((one) => one.id === id)!;
  const { signal } = new AbortController();
  return env.rolloutOne({ item, skill, target, agent, extras: {}, signal });
}

describe('questions that are put to an agent', () => {
  it('are scored by its last words, as in a chat', async () => {
    const agent = shellAgent(sandbox, () => ({ script: 'true', text: 'I think <answer>Oslo</answer>' }));
    expect(await ask('short', agent)).toMatchObject({
      hard: 1,
      predictedAnswer: 'Oslo',
      question: 'Which city?',
      taskType: 'cities',
      nTurns: 2,
      extras: {
        skillsLoaded: ['skillopt-target'],
        trajectory: { session_id: 'short', agent: { name: 'shell agent' } },
      },
    });
    expect(agent.prompts).toEqual([
      expect.stringMatching(/^Context:\nThe capital is Oslo\.\n\nQuestion: Which city\?\n\nEnd your reply with/),
    ]);
    const wrong = shellAgent(sandbox, () => ({ script: 'true', text: '<answer>Bergen</answer>' }));
    expect(await ask('short', wrong)).toMatchObject({ hard: 0, failReason: 'expected "Oslo", got "Bergen"' });
  });

  it('have a long context in a file of the workspace', async () => {
    const agent = shellAgent(sandbox, () => ({
      script: 'tail -c 21 context.md; test -f context.md',
      text: '<answer>Oslo</answer>',
    }));
    const { hard, conversation } = await ask('long', agent);
    expect(hard).toBe(1);
    expect(agent.prompts[0]).toMatch(/^The context is in the file context\.md\.\n\nQuestion: Which city\?/);
    expect(agent.prompts[0]!.length).toBeLessThan(1_000);
    expect(conversation).toContainEqual({ role: 'result', content: ' The capital is Oslo.' });
  });

  it('are judged as the task says, and an unread skill is told', async () => {
    const agent = shellAgent(sandbox, () => ({ script: 'true', text: 'hello', loads: false }));
    const named = '---\nname: greetings\ndescription: Greets.\n---\n\nSay hello.\n';
    const result = await ask('judged', agent, named);
    expect(result).toMatchObject({ hard: 1, skillUnread: true, extras: { skillsOffered: [{ name: 'greetings' }] } });
  });

  it('have the files that they are about in the workspace, beside a long context', async () => {
    const about = qaInWorkspace({
      questions,
      sandbox,
      workspaceFiles: async ({ id }) => ({ 'documents/a.txt': `about ${id}` }),
    });
    const agent = shellAgent(sandbox, () => ({
      script: 'cat documents/a.txt; test -f context.md',
      text: '<answer>Oslo</answer>',
    }));
    const item = items[1] as (typeof items)[number] & { answers: string[] };
    const { signal } = new AbortController();
    const result = await about.rolloutOne({ item, skill: 'Look.', target, agent, extras: {}, signal });
    expect(result).toMatchObject({ hard: 1 });
    expect(result.conversation).toContainEqual({ role: 'result', content: 'about long' });
  });

  it('keep what the environment says of itself, and are closed with it', async () => {
    let isClosed = false;
    const card = { benchmark: 'quiz', rule: 'exact', promptSha256: 'p', dataSha256: 'd' };
    const known = {
      name: 'quiz',
      card,
      getItems: () => [{ id: 'a' }],
      rolloutOne: () => Promise.reject(new Error('not asked')),
      tryScoring: () => ({ detail: 'tried' }),
      close: () => {
        isClosed = true;
      },
    };
    const wrapped = qaInWorkspace({ questions: known, sandbox });
    expect(wrapped.card).toBe(card);
    expect(await wrapped.tryScoring!()).toEqual({ detail: 'tried' });
    await wrapped.close!();
    expect(isClosed).toBe(true);
  });
});
