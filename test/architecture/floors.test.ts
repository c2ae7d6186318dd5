import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { floors } from './floors.ts';

/** A longer file holds two acts. Cut it where a reader would. */
const LONGEST_FILE = 300;

/** A folder that cannot be seen at a glance wants folders of its own. */
const MOST_FILES = 25;

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/.test(path));
const textOf = (path: string) => readFileSync(join('src', path), 'utf8');
const roomOf = (path: string) => {
  const [first, second] = path.split('/');
  if (first === 'core') return `core/${second}`;
  return first === 'index.ts' ? 'public' : first!;
};
const floorOf = (room: string) => floors.findIndex((rooms) => room in rooms);
const importsOf = (path: string) =>
  [...textOf(path).matchAll(/(?:from |import\()'(\.[^']+)'/g)].map(([, specifier]) =>
    relative('src', resolve('src', dirname(path), specifier!)),
  );
/** Without what is loaded later, by `import()`, and without types. */
const staticImportsOf = (path: string) =>
  [...textOf(path).matchAll(/^(?:import|export)(?! type\b)(?:[^;'"]*? from)? '([^']+)';/gm)].map(([, specifier]) =>
    specifier!.startsWith('.') ? relative('src', resolve('src', dirname(path), specifier!)) : specifier!,
  );
const imports = sources.flatMap((path) => importsOf(path).map((to) => ({ path, to })));
const acrossRooms = imports.filter(({ path, to }) => roomOf(path) !== roomOf(to));

describe('floors', () => {
  it('name every room there is, and no other', () => {
    const rooms = new Set(sources.map(roomOf));
    expect([...rooms].sort()).toEqual(floors.flatMap((floor) => Object.keys(floor)).sort());
  });

  it('import only what lies below them', () => {
    const upward = acrossRooms.filter(({ path, to }) => floorOf(roomOf(to)) >= floorOf(roomOf(path)));
    // The package exports its doubles, and they use what it exports.
    const others = upward.filter(({ path, to }) => !(path === 'public/testing.ts' && roomOf(to) === 'testing'));
    expect(others.map(({ path, to }) => `${path} → ${to}`)).toEqual([]);
  });

  it('enter a room by its door', () => {
    const past = acrossRooms.filter(({ to }) => to !== `${roomOf(to)}/index.ts`);
    expect(past.map(({ path, to }) => `${path} → ${to}`)).toEqual([]);
  });

  it('use no door from inside', () => {
    const within = imports.filter(({ path, to }) => roomOf(path) === roomOf(to) && to === `${roomOf(to)}/index.ts`);
    expect(within.map(({ path }) => path)).toEqual([]);
  });

  it('core needs no clock, dice, disk or Node', () => {
    const needs = /'node:|process\.\w|Date\.now|new Date|Math\.random|performance\.|\bBuffer\b|console\./;
    expect(sources.filter((path) => path.startsWith('core/') && needs.test(textOf(path)))).toEqual([]);
  });

  it('core depends on zod and @noble/hashes alone', () => {
    const packages = sources
      .filter((path) => path.startsWith('core/'))
      .flatMap((path) => [...textOf(path).matchAll(/from '([^.][^']*)'/g)].map(([, name]) => name!));
    expect([...new Set(packages)].sort()).toEqual(['@noble/hashes/sha2.js', '@noble/hashes/utils.js', 'zod']);
  });

  it('leave the page by itself: it imports core alone, and nothing imports it', () => {
    const breaches = acrossRooms.filter(
      ({ path, to }) => roomOf(to) === 'web' || (roomOf(path) === 'web' && !roomOf(to).startsWith('core/')),
    );
    expect(breaches.map(({ path, to }) => `${path} → ${to}`)).toEqual([]);
  });

  it('have a server for agents that loads no engine at its start, nor with its list of tools', () => {
    const reached = (...begin: readonly string[]) => {
      const loaded = new Set(begin);
      for (const path of loaded) if (sources.includes(path)) for (const next of staticImportsOf(path)) loaded.add(next);
      const own = [...loaded].filter((path) => sources.includes(path));
      const packages = [...loaded].filter((name) => !own.includes(name) && !name.startsWith('node:'));
      return { rooms: [...new Set(own.map(roomOf))].sort(), packages };
    };
    const untilFirstAnswer = reached('mcp/index.ts', 'mcp/serve.ts');
    expect(untilFirstAnswer.rooms).toEqual(['core/text', 'mcp']);
    expect(untilFirstAnswer.packages.filter((name) => !name.startsWith('@noble/hashes/'))).toEqual([]);
    const { rooms } = reached('cli/commands/mcp.ts', 'mcp/serve.ts', 'mcp/server.ts', 'mcp/tools.ts');
    expect(rooms.filter((room) => !/^(cli|core\/\w+|mcp|report)$/.test(room))).toEqual([]);
    expect(reached('mcp/nights.ts').rooms).toContain('app'); // what is kept out by being loaded later
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
    // Agents, interpreters, git and sandboxes are called with flags of theirs; a nightly job is a command with flags; a project is read for the person who typed the overrides;
    // a report tells a person which command to type next, and so do what is staged and the MCP server; CSS names its variables like flags.
    const others = sources.filter(
      (path) =>
        !/^(cli|mcp|web|agents|plugins|runners|workspaces|project|report|app\/schedule)\/|\/(proposal-commands|baseline)\.ts$/.test(
          path,
        ),
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
        .filter((entry) => entry.isFile() && !entry.parentPath.includes('untrue-inputs')) // files of users
        .map((entry) => entry.parentPath),
    );
    const count = (folder: string) => folders.filter((one) => one === folder).length;
    const crowded = [...new Set(folders)].filter((folder) => count(folder) > MOST_FILES);
    expect(crowded.map((folder) => `${folder}: ${count(folder)}`)).toEqual([]);
  });

  it(`have no file of more than ${LONGEST_FILE} lines`, () => {
    const linesOf = (path: string) => textOf(path).trimEnd().split('\n').length;
    expect(sources.filter((path) => linesOf(path) > LONGEST_FILE)).toEqual([]);
  });
});
