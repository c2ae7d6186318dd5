import { join, resolve } from 'node:path';
import { findSource, type Place } from '../../src/transcripts/index.ts';
import type { ReadOutcome } from '../../src/transcripts/transcript-source.ts';

/** The person whose transcripts the fixtures are. */
export const ana: Place = { env: {}, home: '/home/ana', platform: 'linux' };

/** The folder in which an agent of this name would find its own. */
export const fixtureHome = (source: string) => resolve('test/fixtures/transcripts', source);

/** The files that a source finds in a home. */
export async function filesIn(source: string, home = fixtureHome(source), env: Place['env'] = {}) {
  const { roots, list } = findSource(source);
  const lists = await Promise.all(roots({ ...ana, env, home }).map((root) => list(root)));
  return lists.flat();
}

/** Reads the one file of a source whose name has this in it. */
export async function readFixture(source: string, name: string, place = ana): Promise<ReadOutcome> {
  const files = await filesIn(source);
  const file = files.find(({ path }) => path.slice(fixtureHome(source).length).includes(name));
  if (file === undefined) throw new Error(`no ${name} in ${files.map(({ path }) => path).join(', ')}`);
  return await findSource(source).read(file, { place });
}

/** The same file in another home, to be changed there. */
export const inHome = (path: string, source: string, home: string) =>
  join(home, path.slice(fixtureHome(source).length));
