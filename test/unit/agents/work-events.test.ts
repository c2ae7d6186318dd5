import { type AgentName, agentPrograms } from 'skillopt/agents';
import { describe, expect, it } from 'vitest';

/** What each CLI prints when it loads the skill `teapots`, speaks and ends. */
const streams: Readonly<Record<AgentName, readonly object[]>> = {
  claude: claudeLike('Skill'),
  codex: [
    {
      type: 'item.completed',
      item: { type: 'command_execution', id: 'c1', command: 'cat skills/teapots/SKILL.md', exit_code: 0 },
    },
    { type: 'item.completed', item: { type: 'agent_message', text: 'Seven.' } },
    { type: 'turn.completed', usage: { input_tokens: 11, output_tokens: 7 } },
  ],
  copilot: [
    {
      type: 'tool.execution_start',
      data: { toolCallId: 'c1', toolName: 'skill', arguments: { skill: 'teapots' } },
    },
    { type: 'tool.execution_complete', data: { toolCallId: 'c1', success: true, result: { content: '' } } },
    { type: 'assistant.message', data: { content: 'Seven.' } },
    { type: 'result' },
  ],
  cursor: claudeLike('Skill'),
  gemini: [
    { type: 'tool_use', tool_name: 'activate_skill', tool_id: 'c1', parameters: { name: 'teapots' } },
    { type: 'tool_result', tool_id: 'c1', status: 'success', output: '' },
    { type: 'message', role: 'assistant', content: 'Sev' },
    { type: 'message', role: 'assistant', content: 'en.' },
    { type: 'result', status: 'success', stats: { input_tokens: 11, output_tokens: 7 } },
  ],
  opencode: [
    {
      type: 'tool_use',
      part: { tool: 'skill', callID: 'c1', state: { status: 'completed', input: { name: 'teapots' } } },
    },
    { type: 'text', part: { text: 'Seven.' } },
    { type: 'step_finish', part: { reason: 'stop', tokens: { input: 11, output: 7, cache: {} } } },
  ],
  pi: [
    { type: 'tool_execution_start', toolCallId: 'c1', toolName: 'read', args: { path: 'skills/teapots/SKILL.md' } },
    { type: 'tool_execution_end', toolCallId: 'c1', result: { content: [] } },
    {
      type: 'message_end',
      message: {
        role: 'assistant',
        content: [{ type: 'text', text: 'Seven.' }],
        usage: { input: 11, output: 7 },
      },
    },
    { type: 'agent_end' },
  ],
  qwen: claudeLike('skill'),
};

function claudeLike(tool: string) {
  const call = { type: 'tool_use', id: 'c1', name: tool, input: { skill: 'teapots' } };
  return [
    { type: 'assistant', message: { content: [call] } },
    { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: 'c1', content: '' }] } },
    { type: 'assistant', message: { content: [{ type: 'text', text: 'Seven.' }] } },
    { type: 'result', subtype: 'success', is_error: false, usage: { input_tokens: 11, output_tokens: 7 } },
  ];
}

const names = Object.keys(streams) as AgentName[];

/** The line by which a tool says that it failed, made of the one by which it says that it worked. */
const failing = (line: string) =>
  line
    .replace('"exit_code":0', '"exit_code":1')
    .replace('"success":true', '"success":false')
    .replace('"status":"completed"', '"status":"error"')
    .replace('"status":"success","output"', '"status":"error","output"')
    .replace('"type":"tool_result",', '"type":"tool_result","is_error":true,')
    .replace('"type":"tool_execution_end",', '"type":"tool_execution_end","isError":true,');

describe.each(names)('the events of %s at work', (name) => {
  const lines = streams[name].map((line) => JSON.stringify(line));
  const read = (all: readonly string[]) => {
    const reader = agentPrograms[name].reader(['teapots', 'kettles']);
    return all.flatMap((line) => reader(line));
  };

  it('tell of a call and its result, the skill that it loaded, words, tokens and the end', () => {
    const events = read(['a warning', '{torn', ...lines]);
    const types = events.map(({ type }) => type);
    const counted = types.filter((type) => type !== 'usage'); // copilot counts none
    expect(counted).toEqual(['tool-call', 'tool-result', 'skill-loaded', 'text', 'end']);
    expect(events).toContainEqual({ type: 'skill-loaded', name: 'teapots' });
    expect(events).toContainEqual({ type: 'text', text: 'Seven.' });
    expect(events).toContainEqual(expect.objectContaining({ type: 'end', ended: 'done' }));
    const usage = { input: 11, cached: 0, output: 7, reasoning: 0 };
    if (name !== 'copilot') expect(events).toContainEqual(expect.objectContaining({ type: 'usage', usage }));
  });

  it('tell of no skill where the call that loads it failed', () => {
    const events = read(lines.map(failing));
    expect(events).toContainEqual(expect.objectContaining({ type: 'tool-result', id: 'c1', isError: true }));
    expect(events.map(({ type }) => type)).not.toContain('skill-loaded');
  });
});
