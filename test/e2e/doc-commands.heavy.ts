import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { loadTasks } from 'skillopt/envs';
import { loadWorkspaceTasks } from 'skillopt/runners';
import { probeSandbox } from 'skillopt/workspaces';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadProject } from '../../src/project/index.ts';
import { PACKAGE } from '../support/compiled.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { typeErrors } from './doc-commands/check-types.ts';
import {
  type BlockMark,
  blocksOf,
  DOC_PAGES,
  type DocBlock,
  MARKERS,
  markOf,
  placeOf,
} from './doc-commands/doc-blocks.ts';
import { commandsOf, type DocFolder, openDocFolder, withPlayedModels } from './doc-commands/doc-folder.ts';
import { type FarSide, startFarSide } from './doc-commands/far-side.ts';

/**
 * README and docs promise that what they show works. A comment above each block says how that is checked (`MARKERS`): commands
 * and programs run offline in a folder and home of their own, with the models played on this machine.
 */
const sandbox = await probeSandbox();
const blocks = DOC_PAGES.flatMap(blocksOf);

let far: FarSide;
beforeAll(async () => {
  far = await startFarSide();
});
afterAll(() => far[Symbol.asyncDispose]());

it('every block says how it is checked', () => {
  const unknown = blocks.filter((block) => markOf(block) === undefined);
  expect(
    unknown.map((block) => `${placeOf(block)} (${block.marker ?? 'no marker'})`),
    MARKERS,
  ).toEqual([]);
});

it('programs fit the public names', () => {
  const programs = blocks.filter(({ language, marker }) => language === 'ts' && !marker?.startsWith('shown'));
  expect(programs.length).toBeGreaterThan(2);
  expect(typeErrors(Object.fromEntries(programs.map((block) => [placeOf(block), block.text])))).toEqual([]);
});

const lacksSandbox = (page: string) => page === 'docs/agents.md' && sandbox.auto === undefined;

it.for(DOC_PAGES.filter((page) => blocksOf(page).length > 0))('%s: what it shows works', async (page, { skip }) => {
  skip(lacksSandbox(page), 'install bubblewrap to run what this page shows');
  let folder: DocFolder | undefined;
  let printed = '';
  const openFolder = async (fixture: string | undefined) => {
    if (fixture !== undefined) {
      folder?.[Symbol.dispose]();
      folder = await openDocFolder(fixture, far);
    }
    return folder ?? expect.fail(`${page}: the first block that is run names a fixture`);
  };
  const checks: { readonly [Kind in BlockMark['kind']]?: (block: DocBlock, mark: never) => Promise<void> } = {
    async run(block, { fixture, exitCode }: BlockMark & { kind: 'run' }) {
      const here = await openFolder(fixture);
      printed = block.language === 'ts' ? await runProgram(block, here) : await runCommands(block, here, exitCode);
    },
    async file({ text }, { name, fixture }: BlockMark & { kind: 'file' }) {
      const here = await openFolder(fixture);
      if (name.endsWith('.yaml')) await loadSettings(text);
      here.write(name, name.endsWith('.yaml') ? withPlayedModels(text, far, here.env.HOME) : reachable(text));
    },
    settings: ({ text }) => loadSettings(text),
    tasks: ({ text }, { of }: BlockMark & { kind: 'tasks' }) => loadRows(text, of),
    async printed({ text }) {
      for (const line of text.split('\n').filter((shown) => shown !== '…')) expect(printed).toContain(line);
    },
  };
  try {
    for (const block of blocksOf(page)) {
      const mark = markOf(block)!;
      await checks[mark.kind]?.(block, mark as never).catch((error: Error) => {
        error.message = `${placeOf(block)}: ${error.message}`;
        throw error;
      });
    }
  } finally {
    folder?.[Symbol.dispose]();
  }
});

/** All succeed; the last one ends as the page says. */
async function runCommands({ text }: DocBlock, folder: DocFolder, exitCode: number): Promise<string> {
  const commands = commandsOf(text);
  let all = '';
  for (const [at, command] of commands.entries()) {
    const { code, printed } = await folder.type(command);
    const expected = at === commands.length - 1 ? exitCode : 0;
    expect(code, `${command}\n${printed}`).toBe(expected);
    all += printed;
  }
  return all;
}

/** As a user's program, it finds the package in `node_modules`. */
async function runProgram({ text, line }: DocBlock, folder: DocFolder): Promise<string> {
  const program = join(folder.path, `program-${line}.mts`);
  const modules = join(folder.path, 'node_modules');
  folder.write(`program-${line}.mts`, reachable(text));
  mkdirSync(modules);
  symlinkSync(PACKAGE, join(modules, 'skillopt'));
  const loader = pathToFileURL(resolve('node_modules/tsx/dist/loader.mjs')).href;
  const args = ['--import', loader, program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder.path, env: folder.env });
  rmSync(modules, { recursive: true });
  return stdout;
}

/** A program whose far side is on this machine. */
const reachable = (text: string) =>
  text
    .replaceAll('https://api.openai.com/v1', far.models)
    .replaceAll("'gpt-4o-mini'", "'sim-target'")
    .replaceAll("'gpt-4o'", "'sim-optimizer'")
    .replaceAll('http://127.0.0.1:4000/', far.agent);

/** A project file, or a part of one, that is accepted. */
async function loadSettings(text: string): Promise<void> {
  using folder = tempFolder({ 'skillopt.config.yaml': text });
  await loadProject({ flags: {}, cwd: folder.path });
}

async function loadRows(text: string, of: 'qa' | 'workspace' | 'judge'): Promise<void> {
  const row = of === 'judge' ? JSON.stringify({ question: 'Why?', ...parse(text) }) : text;
  using folder = tempFolder({ 'tasks.jsonl': row });
  const path = join(folder.path, 'tasks.jsonl');
  const { rows } = of === 'workspace' ? await loadWorkspaceTasks(path) : await loadTasks(path);
  expect(rows).toHaveLength(row.split('\n').length);
}
