import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { captureIo } from '../../support/capture-io.ts';
import { EVERY_PIECE, leftovers } from '../../support/hostile-text.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const NAME = EVERY_PIECE.replaceAll('\0', '').replaceAll('/', '').replaceAll('\ud800', '');

type Files = Readonly<Record<string, string>>;

/** What a command prints on a terminal, and on a pipe, that is neither ours nor plain text. */
async function leftoversOf(folder: string, argv: readonly string[]) {
  const rows = [true, false].map(async (isTTY) => {
    const io = captureIo({ isTTY, cwd: folder, env: { FAR_KEY: 'dummy-key' } });
    const code = await runCli(argv, io);
    return { code, left: leftovers(io.out() + io.err(), { isColored: isTTY }), printed: io.out() + io.err() };
  });
  const [onTerminal, inPipe] = await Promise.all(rows);
  return { code: onTerminal!.code, left: [...onTerminal!.left, ...inPipe!.left], printed: inPipe!.printed };
}

describe('text of others on the terminal', () => {
  it.each<[string, string[], Files]>([
    ['a config key', ['estimate'], { 'skillopt.config.json': JSON.stringify({ [EVERY_PIECE]: 1 }) }],
    ['a config value', ['estimate'], { 'skillopt.config.json': JSON.stringify({ target: EVERY_PIECE, tasks: 'x' }) }],
    ['a config that is none', ['estimate'], { 'skillopt.config.json': EVERY_PIECE }],
    ['YAML that is none', ['estimate'], { 'skillopt.config.yaml': `a: [${EVERY_PIECE}\nb: {` }],
    ['a task that is none', ['estimate', '--tasks', 't.jsonl'], { 't.jsonl': JSON.stringify({ id: [EVERY_PIECE] }) }],
    ['a file name', ['skill', 'lint', '.'], { [`${NAME}/SKILL.md`]: `---\nname: ${NAME}\n---\n[x](${NAME})\n` }],
    ['the name of a run', ['runs'], { [`runs/${NAME}/events.jsonl`]: 'not json\n' }],
    ['an argument', ['show', NAME], {}],
    ['an option', [`--${NAME}`], {}],
  ])('%s', async (_, argv, files) => {
    using folder = tempFolder(files);
    const { left } = await leftoversOf(folder.path, argv);
    expect(left).toEqual([]);
  });

  it.each([
    ['of a refused call', { status: 400, content: EVERY_PIECE }],
    ['that is no reply', { body: EVERY_PIECE }],
    ['as an answer', { content: EVERY_PIECE }],
  ])('what a server says %s', async (_, answer) => {
    await using server = await startFakeLLM(() => answer);
    const id = `${EVERY_PIECE}1`;
    using folder = tempFolder({
      'tasks.jsonl': JSON.stringify({ id, question: 'q', answers: ['a'], taskType: EVERY_PIECE, split: 'test' }),
      'SKILL.md': EVERY_PIECE,
    });
    const target = { provider: 'compatible', model: 'm', baseURL: server.baseURL, apiKeyEnv: 'FAR_KEY' };
    const config = { tasks: 'tasks.jsonl', maxRetries: 0, target };
    writeFileSync(join(folder.path, 'skillopt.config.json'), JSON.stringify(config));
    mkdirSync(join(folder.path, 'runs'));
    for (const argv of [['eval', '--skill', 'SKILL.md'], ['calibrate', '--split', 'test'], ['doctor']]) {
      expect((await leftoversOf(folder.path, argv)).left, argv[0]).toEqual([]);
    }
  });
});
