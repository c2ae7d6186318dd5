import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

/** A room may import rooms on lower floors, and itself. Rooms on one floor do not know each other. */
const floors = [
  ['core'],
  ['pipeline', 'models', 'agents', 'workspaces', 'envs', 'judges', 'stores', 'transcripts', 'sim'],
  ['skills'],
  ['runners'],
  ['train', 'project'],
  ['runs', 'tasks'],
  ['sleep', 'workers'],
  ['server', 'mcp'],
  ['cli', 'web', 'testing'],
];

/** A file that is longer holds two things; one that is shorter is seldom a thing of its own. */
const [LONG_LINES, SHORT_LINES] = [200, 20];
const [MOST_LONG, MOST_SHORT] = [2, 40];

/** A folder that cannot be seen at a glance wants folders of its own. */
const MOST_FILES = 22;

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
const rooms = sources.filter((path) => path.includes('/'));
const textOf = (path: string) => readFileSync(join('src', path), 'utf8');
const roomOf = (path: string) => path.split('/')[0]!;
const floorOf = (room: string) => floors.findIndex((names) => names.includes(room));
const importsOf = (path: string) =>
  [...textOf(path).matchAll(/(?:from |import\()'(\.[^']+)'/g)].map(([, specifier]) =>
    relative('src', resolve('src', dirname(path), specifier!)),
  );

describe('floors', () => {
  it('are all the rooms there are', () => {
    expect([...new Set(rooms.map(roomOf))].filter((room) => floorOf(room) === -1)).toEqual([]);
  });

  it('import only what lies below them', () => {
    const upward = rooms.flatMap((path) => {
      const above = importsOf(path).filter(
        (to) => roomOf(to) !== roomOf(path) && floorOf(roomOf(to)) >= floorOf(roomOf(path)),
      );
      return above.map((to) => `${path} → ${to}`);
    });
    expect(upward).toEqual([]);
  });

  it('core needs no clock, dice, disk or Node', () => {
    const needs = /'node:|process\.\w|Date\.now|new Date|Math\.random|performance\.|\bBuffer\b|console\./;
    expect(rooms.filter((path) => roomOf(path) === 'core' && needs.test(textOf(path)))).toEqual([]);
  });

  it('core depends on zod and @noble/hashes alone', () => {
    const packages = rooms
      .filter((path) => roomOf(path) === 'core')
      .flatMap((path) => [...textOf(path).matchAll(/from '([^.][^']*)'/g)].map(([, name]) => name!));
    expect([...new Set(packages)].sort()).toEqual(['@noble/hashes/sha2.js', '@noble/hashes/utils.js', 'zod']);
  });

  it('has no import cycles', () => {
    const graph = new Map(sources.map((path) => [path, importsOf(path)]));
    const visit = (path: string, trail: readonly string[]): void => {
      expect(trail, `cycle: ${[...trail, path].join(' → ')}`).not.toContain(path);
      for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
      graph.set(path, []);
    };
    for (const path of sources) visit(path, []);
  });

  it('speaks of settings, not of flags, below the command line', () => {
    // Agents, interpreters and sandboxes are called with flags of theirs; a project is read for the person who typed the overrides;
    // what is staged waits for a command of a person, and so does what a run found: the pages of both name it.
    const others = sources.filter(
      (path) => !/^(cli|agents|runners|workspaces|project)\/|\/(proposal-commands|next-step)\.ts$/.test(path),
    );
    const flags = others.flatMap((path) => {
      const texts = textOf(path).match(/(['"`])(?:\\.|(?!\1)[^\\\n])*\1/g) ?? [];
      return texts.filter((text) => /(^|[\s(`'"])--[a-z]|same command/.test(text) && !text.includes('--help'));
    });
    expect(flags).toEqual([]);
  });

  it('is silent below the command line', () => {
    const talkers = sources.filter(
      (path) => roomOf(path) !== 'cli' && /\bconsole\.|process\.std(out|err)/.test(textOf(path)),
    );
    expect(talkers).toEqual([]);
  });

  it(`have no folder of more than ${MOST_FILES} files, tests and benches neither`, () => {
    const folders = ['src', 'test', 'bench', 'examples', 'docs'].flatMap((root) =>
      readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => entry.parentPath),
    );
    const count = (folder: string) => folders.filter((one) => one === folder).length;
    const crowded = [...new Set(folders)].filter((folder) => count(folder) > MOST_FILES);
    expect(crowded.map((folder) => `${folder}: ${count(folder)}`)).toEqual([]);
  });

  it(`have at most ${MOST_LONG} files of more than ${LONG_LINES} lines and ${MOST_SHORT} of no more than ${SHORT_LINES}`, () => {
    const linesOf = (path: string) => textOf(path).trimEnd().split('\n').length;
    const long = sources.filter((path) => linesOf(path) > LONG_LINES);
    const short = sources.filter((path) => linesOf(path) <= SHORT_LINES);
    expect(long.slice(MOST_LONG)).toEqual([]);
    expect(short.slice(MOST_SHORT)).toEqual([]);
  });
});
