import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { scripted } from 'skillopt/testing';
import { describe, expect, it, vi } from 'vitest';
import { alfworld } from '../../../src/benchmarks/alfworld/alfworld.ts';
import { keepTail, readLines } from '../../../src/benchmarks/alfworld/lines.ts';
import { openWorld } from '../../../src/benchmarks/alfworld/world.ts';
import { DataFiles } from '../../../src/benchmarks/data/data-files.ts';
import { openSandbox } from '../../../src/workspaces/index.ts';
import { readProcess } from '../../../src/workspaces/processes/process-tree.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const NODE = process.execPath;
/** Reads lines; `on` says what each request does. */
const world = (on: string) => `
  import { createInterface } from 'node:readline';
  import { writeFileSync } from 'node:fs';
  const say = (more = {}) => console.log(JSON.stringify({ observation: 'o', admissible: ['look'], done: false, won: false, ...more }));
  let steps = 0;
  for await (const line of createInterface({ input: process.stdin })) {
    const { op, action } = JSON.parse(line);
    ${on}
  }`;

/** One that has ended may wait for its parent to ask. */
const isAlive = (pid: number) => readProcess(pid) !== undefined;

/** One attempt at a game in a world of a few lines. */
function playIn(source: string, settings: object = {}) {
  const folder = tempFolder({ 'w.mjs': source, 'game.tw-pddl': '{}' });
  const files = new DataFiles([folder.path]);
  const given = { world: [NODE, 'w.mjs', join(folder.path, 'pid')], maxSteps: 4, ...settings };
  const attempts = alfworld.open({ settings: alfworld.settings.parse(given), files, sandbox: openSandbox('none') });
  const item = { id: 'g', game: 'game.tw-pddl', gameSha256: '0'.repeat(64), taskType: 'other' } as const;
  return {
    attempts,
    item,
    pidOf: () => Number(readFileSync(join(folder.path, 'pid'), 'utf8')),
    hasPid: () => existsSync(join(folder.path, 'pid')),
    attempt: (target = scripted('t', () => '<action>look</action>'), signal = AbortSignal.any([])) =>
      attempts.attempt({ item, skill: '', target, extras: {}, signal }),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

describe('a world that fails is an outage, and no score', () => {
  const SOUND = `if (op === 'close') break; say();`;
  it.each([
    [
      'ends at the reset',
      world(`console.error('no games'); process.exit(3);`),
      'the world ended with exit code 3: no games (after 0 steps)',
    ],
    ['ends before it is asked', '', 'the world ended with exit code 0 (after 0 steps)'],
    [
      'ends in a step',
      world(`if (++steps === 3) process.exit(1); say();`),
      'the world ended with exit code 1 (after 1 step)',
    ],
    [
      'is ended by a signal',
      world(`process.kill(process.pid, 'SIGKILL'); await new Promise(() => {});`),
      'the world ended by SIGKILL (after 0 steps)',
    ],
    ['prints rubbish', world(`console.log('Welcome!');`), 'the world answered no JSON: "Welcome!" (after 0 steps)'],
    ['prints a greeting first', `console.log('Hello');${world(SOUND)}`, 'Hello'],
    [
      'answers something else',
      world(`console.log('{"observation":1}');`),
      'the world answered "{\\"observation\\":1}"',
    ],
    ['forgets who won', world(`console.log('{"observation":"","admissible":[]}');`), 'won'],
    [
      'prints a long line',
      world(`process.stdout.write('x'.repeat(10_000_000)); await new Promise(() => {});`),
      'the world printed a line of more than 1000000 bytes (after 0 steps)',
    ],
    ['says nothing', world(`console.error('thinking');`), 'the world was silent for 0.5 s'],
  ])('when it %s', async (_, source, reason) => {
    using game = playIn(source, { stepTimeout: reason.includes('silent') ? 0.5 : 60 });
    const result = await game.attempt();
    expect(result).toMatchObject({
      hard: 0,
      soft: 0,
      errored: true,
      extras: { hint: expect.stringContaining('by hand') },
    });
    expect(result.failReason).toContain(reason);
    expect(await game.attempts.probe(game.item)).toMatchObject({ right: undefined, problem: expect.any(String) });
  });

  it('when its program or its game is missing', async () => {
    using game = playIn('', { world: ['no-such-program'] });
    expect((await game.attempt()).failReason).toContain('the world cannot be started');
    const lost = { ...game.item, game: 'lost.tw-pddl' };
    const target = scripted('t', () => '');
    const result = await game.attempts.attempt({
      item: lost,
      skill: '',
      target,
      extras: {},
      signal: AbortSignal.any([]),
    });
    expect(result).toMatchObject({
      errored: true,
      failReason: expect.stringContaining('the file lost.tw-pddl is not in'),
    });
  });

  it('whose long complaint is cut to its end, the last line first', async () => {
    using game = playIn(world(`console.error('x'.repeat(9_000) + '\\nKeyError: 3'); process.exit(1);`));
    const { failReason } = await game.attempt();
    expect(failReason).toMatch(/^the world ended with exit code 1: KeyError: 3\nx+\nKeyError: 3/);
    expect(failReason!.length).toBeLessThan(2_200);
  });
});

describe('a game', () => {
  it('that ends without being won is lost', async () => {
    using game = playIn(world(`if (op === 'close') break; say({ done: ++steps === 3 });`));
    expect(await game.attempt()).toMatchObject({
      hard: 0,
      nTurns: 2,
      failReason: 'the game ended after 2 steps without being won',
    });
  });

  it('gets actions in small letters, also none at all, and cut replies are counted', async () => {
    using game = playIn(world(`if (op === 'close') break; say({ observation: String(action) });`));
    const replies = [
      '<action> Go TO desk </action>',
      '<action></action>',
      'hm',
      { text: '<action>x', finishReason: 'length' as const },
    ];
    const result = await game.attempt(scripted('t', () => replies.shift()!));
    expect(result.predictedAnswer).toBe('go to desk |  | look | look');
    expect(result.failReason).toMatch(/; 3 of 4 replies named no action; 1 of them/);
  });

  it('whose program gets no keys, one order of Python’s sets, and is asked to close', async () => {
    using game = playIn(
      world(`if (op === 'close') { writeFileSync(process.argv[2], 'closed'); break; }
             const { A_SECRET, PYTHONHASHSEED, HOME } = process.env;
             say({ won: op === 'step', observation: JSON.stringify({ A_SECRET, PYTHONHASHSEED, HOME }) });`),
    );
    vi.stubEnv('A_SECRET', 'xyz');
    const { conversation } = await game.attempt();
    vi.unstubAllEnvs();
    expect(conversation![0]).toEqual({
      role: 'user',
      content: JSON.stringify({ PYTHONHASHSEED: '0', HOME: process.env.HOME }),
    });
    expect(String(game.hasPid())).toBe('true');
  });
});

describe('the process of a world', () => {
  const CLINGING = `writeFileSync(process.argv[2], String(process.pid)); setInterval(() => {}, 1000);`;

  it('is ended with the attempt, also if it does not listen', async () => {
    using game = playIn(world(`${CLINGING} say({ won: op === 'step' });`));
    expect(await game.attempt()).toMatchObject({ hard: 1 });
    expect(isAlive(game.pidOf())).toBe(false);
  });

  it('is ended when the attempt is aborted, which is no failure', async () => {
    using game = playIn(world(CLINGING));
    const controller = new AbortController();
    const playing = game.attempt(undefined, controller.signal);
    playing.catch(() => {});
    await vi.waitUntil(game.hasPid, { timeout: 60_000 });
    controller.abort(new Error('enough'));
    await expect(playing).rejects.toThrow('enough');
    expect(isAlive(game.pidOf())).toBe(false);
  });

  it('is ended by an abort while the model is asked, and when all is closed', async () => {
    for (const how of ['abort', 'close'] as const) {
      using game = playIn(world(`${CLINGING} say();`));
      const controller = new AbortController();
      let asked = () => {};
      const begun = new Promise<void>((resolve) => {
        asked = resolve;
      });
      let answer: (text: string) => void = () => {};
      const silent = {
        id: 'm',
        complete: () => {
          asked();
          return new Promise((resolve) => {
            answer = (text) => resolve({ text, finishReason: 'stop', usage: {} });
          });
        },
      };
      const playing = game.attempt(silent as never, controller.signal);
      playing.catch(() => {});
      await begun;
      if (how === 'abort') controller.abort(new Error('enough'));
      else await game.attempts.close!();
      await vi.waitUntil(() => !isAlive(game.pidOf()), { timeout: 60_000 });
      answer('<action>look</action>');
      if (how === 'abort') await expect(playing).rejects.toThrow('enough');
      else expect(await playing).toMatchObject({ errored: true });
    }
  });

  it('is not started after an abort', async () => {
    const given = { command: [NODE, '-e', ''], answerMs: 1000, signal: AbortSignal.abort(new Error('enough')) };
    await expect(openWorld(given)).rejects.toThrow('enough');
  });

  it('ends with all that it started', async () => {
    using game = playIn(
      `import { spawn } from 'node:child_process';
       const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
       ${world(`writeFileSync(process.argv[2], String(child.pid)); say({ won: true });`)}`,
    );
    expect(await game.attempt()).toMatchObject({ hard: 1, nTurns: 0 });
    expect(isAlive(game.pidOf())).toBe(false);
  });
});

describe('lines of a stream', () => {
  const feed = (chunks: readonly Uint8Array[], maxBytes: number) => {
    const stream = new PassThrough();
    const lines: string[] = [];
    let isTooLong = false;
    readLines(stream, {
      maxBytes,
      onLine: (line) => lines.push(line),
      onTooLong: () => {
        isTooLong = true;
      },
    });
    const tail = keepTail(stream, 10);
    for (const chunk of chunks) stream.emit('data', Buffer.from(chunk));
    return { lines, isTooLong, tail: tail.text() };
  };

  it('are the same wherever its bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.array(fc.nat(40)), (texts, cuts) => {
        const whole = texts.map((text) => text.replaceAll('\n', ' '));
        const bytes = Buffer.from(whole.map((line) => `${line}\n`).join(''));
        const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
        const chunks = places.slice(1).map((to, index) => bytes.subarray(places[index]!, to));
        expect(feed(chunks, 1e6).lines).toEqual(whole);
        expect(feed(chunks, 1e6).tail).toBe(feed([bytes], 1e6).tail);
      }),
    );
  });

  it('are read up to the first that is too long', () => {
    expect(feed([Buffer.from('ab\n'.repeat(9)), Buffer.from('ab\n'.repeat(9))], 4).lines).toHaveLength(18);
    expect(feed([Buffer.from('abc\nab'), Buffer.from('cde\nx\n')], 4)).toMatchObject({
      lines: ['abc'],
      isTooLong: true,
    });
  });
});
