import { type AgentCliName, agentChat, agentClis } from 'skillopt/agents';
import { describe, expect, it } from 'vitest';
import { fakeCli, prints } from './fake-cli.ts';

const messages = [
  { role: 'system' as const, content: 'SYSTEM-PROMPT' },
  { role: 'user' as const, content: 'TASK-OF-A-TRANSCRIPT' },
];

/** What comes of a call to a CLI that prints these events: the text, or the words of the error; and how it was started. */
async function called(cli: AgentCliName, events: readonly object[]) {
  using fake = fakeCli(agentClis[cli].binary, prints(...events));
  const reply = await agentChat({ cli, env: fake.env })
    .complete({ messages })
    .then(
      ({ text }) => ({ text }),
      ({ name, message }: Error) => ({ name, message }),
    );
  return { reply, ...fake.given() };
}

const tokens = { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } };
const text = (value: string, sessionID = 's') => ({ type: 'text', sessionID, part: { text: value } });
const finish = { type: 'step_finish', sessionID: 's', part: { reason: 'stop', tokens } };
const tool = { type: 'tool_use', sessionID: 's', part: { tool: 'bash', state: { status: 'error' } } };
const failure = (words: string) => ({ name: 'ModelCallError', message: expect.stringContaining(words) });

describe('fact 56: the stream of opencode', () => {
  it.each([
    ['without an end is no answer', [text('four')], failure('cut off')],
    ['of two sessions is no answer', [text('four'), text('five', 'other'), finish], failure('got 2 mixed')],
    ['with a tool and then no text is no answer', [tool, finish], failure('')],
    ['differs: a start is not needed, the end says that all is there', [text('four'), finish], { text: 'four' }],
    [
      'differs: a tool that was refused is no failure; the text after it counts',
      [tool, text('four'), finish],
      { text: 'four' },
    ],
  ])('%s', async (_, events, expected) => {
    expect((await called('opencode-cli', events)).reply).toEqual(expected);
  });
});

describe('fact 57: the stream of copilot', () => {
  const said = (content: unknown) => ({ type: 'assistant.message', data: { content } });

  it('skips data that is no object, and joins texts by a new line', async () => {
    const events = [{ type: 'assistant.message', data: 'no object' }, said('one'), said(''), said('two')];
    expect((await called('copilot-cli', events)).reply).toEqual({ text: 'one\ntwo' });
  });
});

describe('fact 58: the result of cursor', () => {
  it('differs: one with is_error is an error in its own words, not an empty answer', async () => {
    const { reply } = await called('cursor-cli', [{ type: 'result', is_error: true, result: 'usage limit reached' }]);
    expect(reply).toEqual(failure('usage limit reached'));
  });
});

describe('row 26: replay grants a shell with the credentials of its user to tasks from transcripts', () => {
  /** How each CLI is told that it has no tools. */
  const without: readonly [AgentCliName, (args: readonly string[], texts: readonly string[]) => boolean][] = [
    ['claude-cli', (args) => args[args.indexOf('--tools') + 1] === ''],
    ['codex-cli', (args, texts) => args.includes('read-only') && texts.join().includes('shell_tool = false')],
    ['copilot-cli', (args) => args[args.indexOf('--available-tools') + 1] === 'none'],
    ['cursor-cli', (args) => args[args.indexOf('--mode') + 1] === 'ask'],
    ['gemini-cli', (_, texts) => texts.join().includes('"tools":{"core":[]}')],
    ['opencode-cli', (_, texts) => texts.join().includes('"permission":{"*":"deny"}')],
    ['pi-cli', (args) => args.includes('--no-tools')],
    ['qwen-cli', (args) => args[args.indexOf('--exclude-tools') + 1]!.includes('run_shell_command')],
  ];

  it.each(without)('%s: has no shell, and no other process sees its prompt', async (cli, hasNone) => {
    const { args, texts } = await called(cli, []);
    expect(hasNone(args, texts)).toBe(true);
    expect(args.join(' ')).not.toMatch(/dangerously|yolo|allow-all/i);
    // Cursor takes its prompt as an argument.
    if (cli !== 'cursor-cli') expect(args.join('\n')).not.toMatch(/TASK-OF-A-TRANSCRIPT|SYSTEM-PROMPT/);
  });
});
