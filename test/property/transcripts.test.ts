import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findSource, type SessionDigest } from '../../src/transcripts/index.ts';
import { statFile } from '../../src/transcripts/read/list-files.ts';
import { SessionCollector } from '../../src/transcripts/session-collector.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { ana } from '../support/transcript-fixture.ts';

const lineSources = ['claude', 'codex', 'gemini', 'qwen', 'pi'];

/** Words that make a source look closer. */
const words = fc.constantFrom(
  ...['type', 'user', 'assistant', 'message', 'content', 'text', 'tool_use', 'tool_result', 'payload', 'parts', 'role'],
  ...[
    'session',
    'id',
    'parentId',
    'version',
    '$set',
    '$rewindTo',
    'messages',
    'gemini',
    'snapshot',
    'timestamp',
    'name',
  ],
  ...[
    'input',
    'functionCall',
    'file-history-snapshot',
    'trackedFileBackups',
    'response_item',
    'user_message',
    '__proto__',
  ],
);
const { tree: json } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    words,
    fc.constantFrom(null, true, 3, '', 'fix it, still wrong'),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(words, tie('tree'), { maxKeys: 6 }),
  ),
}));
const line = fc.oneof(
  fc.dictionary(words, json, { maxKeys: 8 }).map((record) => Buffer.from(JSON.stringify(record))),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
);
const bytesOf = (lines: readonly Buffer[]) => Buffer.concat(lines.flatMap((bytes) => [bytes, Buffer.from('\n')]));

it.each(lineSources)('%s: no bytes make it throw', async (name) => {
  using folder = tempFolder();
  const path = join(folder.path, 'a.jsonl');
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 12 }), fc.nat(20), async (lines, cut) => {
      const bytes = bytesOf(lines);
      writeFileSync(path, bytes.subarray(0, Math.max(0, bytes.length - cut)));
      const { position } = await findSource(name).read((await statFile(path))!, { place: ana });
      expect(position).toBeLessThanOrEqual(bytes.length);
    }),
    { numRuns: 60 },
  );
});

const texts = fc.constantFrom(
  'Fix it',
  'still wrong',
  'perfect',
  '/clear',
  'x'.repeat(300),
  "don't learn this",
  'works now',
);
const step = fc.record({
  kind: fc.constantFrom('user', 'assistant', 'tool', 'skill', 'file', 'about'),
  text: texts,
  second: fc.nat(59),
});

/** What a session has without its texts and names. */
const factsOf = ({ sessionId, project, startedAt, endedAt, nUserTurns, nAssistantTurns, leftOut }: SessionDigest) => ({
  ...{ sessionId, project, startedAt, endedAt, nUserTurns, nAssistantTurns, leftOut },
});

it('the facts of a session are the same with and without its texts, and when it is continued anywhere', () => {
  const play = (session: SessionCollector, steps: readonly { kind: string; text: string; second: number }[]) => {
    for (const { kind, text, second } of steps) {
      const time = `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;
      if (kind === 'user') session.userSaid(text, time);
      if (kind === 'assistant') session.assistantSaid(text, time);
      if (kind === 'tool') session.usedTool(text);
      if (kind === 'skill') session.usedSkill(text);
      if (kind === 'file') session.touchedFile(text);
      if (kind === 'about') session.about({ sessionId: text, project: `/home/ana/${text}` });
    }
    return session.digest();
  };
  const start = { source: 'x', rawPath: 'x', place: ana };
  const factsOnly = { ...start, factsOnly: true };
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), fc.nat(120), (steps, cut) => {
      const whole = play(new SessionCollector(start), steps);
      const facts = play(new SessionCollector(factsOnly), steps);
      expect(facts && factsOf(facts)).toEqual(whole && factsOf(whole));
      const first = play(new SessionCollector(factsOnly), steps.slice(0, cut));
      fc.pre(first !== undefined && first.nUserTurns > 1);
      const rest = play(new SessionCollector({ ...factsOnly, soFar: first }), steps.slice(cut));
      expect(factsOf(rest!)).toEqual(factsOf(facts!));
    }),
    { numRuns: 200 },
  );
});
