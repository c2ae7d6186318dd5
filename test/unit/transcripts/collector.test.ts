import { describe, expect, it } from 'vitest';
import { SessionCollector } from '../../../src/transcripts/session-collector.ts';
import { asUtc, MAX_TEXT_LENGTH, toUtc } from '../../../src/transcripts/transcript-source.ts';
import { ana } from '../../support/transcript-fixture.ts';

const start = { source: 'claude', rawPath: '/home/ana/.claude/x.jsonl', place: ana };

function digestOf(prompts: readonly string[], options: Partial<typeof start> = {}) {
  const session = new SessionCollector({ ...start, ...options });
  session.about({ sessionId: 's', project: '/home/ana/shop' });
  for (const prompt of prompts) session.userSaid(prompt);
  session.assistantSaid('Done.');
  return session.digest();
}

describe('a session', () => {
  it('fact 28: an answer without a prompt is kept with no turn, a command alone is nothing, the last five answers stay', () => {
    const session = new SessionCollector(start);
    session.userSaid('/clear');
    expect(session.digest()).toBeUndefined();
    for (let count = 1; count <= 8; count++) session.assistantSaid(`answer ${count}`);
    expect(session.digest()).toMatchObject({ nUserTurns: 0, nAssistantTurns: 8, leftOut: 'no-prompt' });
    expect(session.digest()!.assistantFinals).toEqual([4, 5, 6, 7, 8].map((count) => `answer ${count}`));
  });

  it('keeps the first twenty prompts and the last twenty', () => {
    const prompts = Array.from({ length: 100 }, (_, index) => `prompt ${index}`);
    const digest = digestOf(prompts)!;
    expect(digest.userPrompts).toEqual([...prompts.slice(0, 20), ...prompts.slice(-20)]);
    expect(digest.nUserTurns).toBe(100);
  });

  it('redacts before it shortens, so that no half of a secret stays', () => {
    const redact = (text: string) => text.replaceAll('SECRET-WORD', '…');
    const start4000 = `${'a'.repeat(MAX_TEXT_LENGTH - 5)}SECRET-WORD`;
    expect(digestOf([start4000], { redact } as object)!.userPrompts[0]).not.toContain('SECRET');
    const start40000 = `${`${'SECRET-WORD'.repeat(3_630)}${' '.repeat(70)}SECRET-WORD`.slice(0, 39_995)}SECRET-WORD`;
    expect(digestOf([start40000], { redact } as object)!.userPrompts[0]).not.toContain('SECRET');
  });

  it('never cuts a character in two', () => {
    const prompt = digestOf([`${'a'.repeat(MAX_TEXT_LENGTH - 1)}😀 and more`])!.userPrompts[0]!;
    expect(prompt).toBe(`${'a'.repeat(MAX_TEXT_LENGTH - 1)} …`);
  });

  it('fact 30: names of tools have plain characters, each name once', () => {
    const session = new SessionCollector(start);
    session.userSaid('Look at the files in this folder');
    for (const name of ['exec command!', 'mcp_tool_call', 'exec command!', '']) session.usedTool(name);
    expect(session.digest()!.toolsUsed).toEqual(['exec_command_', 'mcp_tool_call']);
  });

  it('puts names on one line and paths below ~', () => {
    const session = new SessionCollector(start);
    session.about({ project: '/home/ana/a\nb\u001b[31m/', gitBranch: 'x\r\ny\u202e' });
    session.userSaid('Look at the files in this folder');
    session.touchedFile('/home/anabel/x');
    expect(session.digest()).toMatchObject({
      project: '~/a b [31m',
      gitBranch: 'x y',
      filesTouched: ['/home/anabel/x'],
      rawPath: '~/.claude/x.jsonl',
    });
  });

  it('14: our own calls are known by their folder and by their prompts', () => {
    const own = new SessionCollector(start);
    own.about({ project: '/tmp/skillopt-agent-x7Fq2a/work' });
    own.userSaid('What is the capital of France?');
    expect(own.digest()).toMatchObject({ leftOut: 'own-call' });
    expect(digestOf(['## Task\n<task-0a1b2c3d>\nSay hi\n</task-0a1b2c3d>'])).toMatchObject({ leftOut: 'own-call' });
    expect(digestOf(['<request from="skillopt">\nSay hi\n</request>'])).toMatchObject({ leftOut: 'own-call' });
    expect(digestOf(['Explain <task-0a1b2c3d> in ## Task'])!.leftOut).toBeUndefined();
  });

  it('leaves out sessions of agents, by known openings and by SKILLOPT_SLEEP_AGENT_MARKERS', () => {
    const place = { ...ana, env: { SKILLOPT_SLEEP_AGENT_MARKERS: 'Nightly Robot, other' } };
    expect(digestOf(['You are a sub-agent. Look for bugs.'])).toMatchObject({ leftOut: 'sub-agent' });
    expect(digestOf(['This is the nightly robot speaking'], { place })).toMatchObject({ leftOut: 'sub-agent' });
    expect(digestOf(['Hello there', 'This is the nightly robot speaking'], { place })!.leftOut).toBeUndefined();
  });

  it.each([
    "Please don't learn this, it is a one-off",
    'Do not learn from this chat',
    'bitte nichts daraus lernen',
    'N’apprends pas ça',
    'no aprendas esto',
    'não aprenda isso',
    '不要学习这个',
    'これは学習しないでください',
  ])('leaves a session out when a person asks for it: %s', (prompt) => {
    expect(digestOf(['Fix the build', prompt])).toMatchObject({ leftOut: 'asked-not-to' });
  });

  it('stays left out when it grows', () => {
    const asked = new SessionCollector({ ...start, soFar: digestOf(["don't learn this"])! });
    asked.userSaid('Now fix the build');
    expect(asked.digest()!.leftOut).toBe('asked-not-to');
  });
});

describe('times', () => {
  it('13: offsets are counted, and a time without one is not guessed', () => {
    expect(toUtc('2026-01-01T00:30:00+08:00')).toBe('2025-12-31T16:30:00.000Z');
    expect(toUtc('2026-01-01T00:30:00-0330')).toBe('2026-01-01T04:00:00.000Z');
    expect(toUtc('2026-01-01 00:30:00.123456Z')).toBe('2026-01-01T00:30:00.123Z');
    expect(toUtc('2026-01-01T00:30:00')).toBe('');
    expect(toUtc(asUtc('2026-01-01 00:30:00'))).toBe('2026-01-01T00:30:00.000Z');
    expect(toUtc(1_767_225_600_000)).toBe('2026-01-01T00:00:00.000Z');
    for (const odd of ['', 'yesterday', '2026-99-99T00:00:00Z', Number.NaN, 1e300, -5, undefined])
      expect(toUtc(odd)).toBe('');
  });

  it('13: a session in another zone begins and ends when it did', () => {
    const session = new SessionCollector(start);
    session.userSaid('Fix the build', '2026-01-01T01:00:00+08:00');
    session.assistantSaid('Done', '2025-12-31T18:00:00Z');
    expect(session.digest()).toMatchObject({
      startedAt: '2025-12-31T17:00:00.000Z',
      endedAt: '2025-12-31T18:00:00.000Z',
    });
  });
});
