import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

/** The house: a room may import rooms on lower floors, and itself. Rooms on one floor do not know each other. */
const floors = [
  ['core'],
  ['pipeline', 'models', 'agents', 'envs', 'judges', 'skills', 'stores', 'transcripts', 'sim'],
  ['train', 'workers'],
  ['sleep'],
  ['server', 'mcp'],
  ['cli', 'web', 'testing'],
];

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
  it.each(rooms)('%s imports only floors below', (path) => {
    const room = roomOf(path);
    expect(floorOf(room), `room ${room} is on no floor`).toBeGreaterThanOrEqual(0);
    const upward = importsOf(path).filter((to) => roomOf(to) !== room && floorOf(roomOf(to)) >= floorOf(room));
    expect(upward).toEqual([]);
  });

  it.each(rooms.filter((path) => roomOf(path) === 'core'))('%s needs no clock, dice, disk or Node', (path) => {
    expect(textOf(path)).not.toMatch(
      /'node:|process\.\w|Date\.now|new Date|Math\.random|performance\.|\bBuffer\b|console\./,
    );
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
    // Agents are called with flags of theirs; the help of the tool lists every setting.
    const others = sources.filter((path) => !/^(cli|agents)\//.test(path));
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
});
