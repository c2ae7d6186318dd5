import { isObject, memoizeWeakly, parseJson } from '../../core/text/index.ts';
import type { Row } from '../../imports/index.ts';
import type { RowReader } from '../benchmark.ts';
import type { DataFiles } from '../data/data-files.ts';
import { taskTypeOf } from './actions.ts';

const GAME_FILE = 'game.tw-pddl';

/** Folders of the published games, and the splits that SkillOpt makes of them: seen rooms to select with, unseen ones to test with. */
const SPLITS = new Map([
  ['train', 'train'],
  ['valid_seen', 'val'],
  ['valid_unseen', 'test'],
]);

/** The games that ALFWorld can play: it leaves out those with movable receptacles or slices, and those that cannot be won. */
export async function findGameRows({ files }: RowReader): Promise<readonly Row[]> {
  const names = (await namesOf(files)).filter((name) => !/movable|Sliced/.test(name));
  const rows: Row[] = [];
  for (const name of names) {
    const split = name
      .split('/')
      .flatMap((folder) => SPLITS.get(folder) ?? [])
      .at(-1);
    if (split === undefined || (await isUnsolvable(name, files))) continue;
    rows.push({ value: { game: name }, where: name, split });
  }
  return rows;
}

/** A game that cannot be read is not left out here: `readGameRow` reports it. */
const isUnsolvable = (name: string, files: DataFiles) =>
  readGame(name, files).then(
    (game) => game.isUnsolvable,
    () => false,
  );

/** The games below all folders, listed once: each row whose path does not exist asks for them. */
const namesOf = memoizeWeakly(async (files: DataFiles) => {
  const isGame = (name: string) => name === GAME_FILE || name.endsWith(`/${GAME_FILE}`);
  return (await files.names()).filter(isGame);
});

/** A row of `findGameRows`, of SkillOpt's splits (`gamefile`, `task_type`), or an item of ours. */
export async function readGameRow(row: unknown, files: DataFiles): Promise<unknown> {
  if (!isObject(row)) return row;
  const named = row.game ?? row.gamefile;
  if (typeof named !== 'string' || named === '')
    throw new Error(`names no game: expected "gamefile", the path of a ${GAME_FILE}`);
  const game = await findGame(named, files);
  const gameSha256 = await files.sha256(game);
  if (row.gameSha256 !== undefined && row.gameSha256 !== gameSha256)
    throw new Error(`the game ${game} has changed: its SHA-256 is ${gameSha256}, expected ${row.gameSha256}`);
  const { walkthrough, isUnsolvable } = await readGame(game, files);
  if (isUnsolvable) throw new Error(`the game ${game} cannot be solved, as its file says`);
  return { id: row.id ?? game, game, gameSha256, taskType: typeOf(row, named), ...withWalkthrough(row, walkthrough) };
}

function typeOf(row: Record<string, unknown>, path: string) {
  const named = taskTypeOf(String(row.taskType ?? row.task_type ?? ''));
  return named === 'other' ? taskTypeOf(path) : named;
}

function withWalkthrough(row: Record<string, unknown>, walkthrough: unknown) {
  const known = row.walkthrough ?? walkthrough;
  return known === undefined ? {} : { walkthrough: known };
}

async function readGame(name: string, files: DataFiles) {
  const game = parseJson(await files.text(name));
  if (!isObject(game)) throw new Error(`the game ${name} is no JSON object`);
  const { walkthrough, solvable } = game;
  const isPlan = Array.isArray(walkthrough) && walkthrough.length > 0;
  return { isUnsolvable: solvable === false, walkthrough: isPlan ? walkthrough : undefined };
}

/** The end of its path identifies a game: task, trial, file. The folders above differ from machine to machine. */
const IDENTIFYING_PARTS = 3;

/** The name that the data folders give the game: the longest end of its path that leads to a file. */
async function findGame(path: string, files: DataFiles): Promise<string> {
  const ends = endsOf(path);
  for (const end of ends) if (await files.has(end)) return end;
  const names = await namesOf(files).catch(() => []); // too many files to look through
  for (const end of ends) {
    const [name, other] = names.filter((one) => one.endsWith(`/${end}`));
    if (other !== undefined) throw new Error(`the game ${end} is there more than once: ${name}, ${other}`);
    if (name !== undefined) return name;
  }
  throw new Error(
    `the game ${path} is not in ${files.roots.join(', ')}. If it is elsewhere, name that folder: extras.dataRoot`,
  );
}

function endsOf(path: string): string[] {
  const parts = path.split(/[\\/]/).filter((part) => part !== '' && part !== '.');
  const shorter = Math.max(0, parts.length - IDENTIFYING_PARTS);
  return Array.from({ length: shorter + 1 }, (_, from) => parts.slice(from).join('/'));
}
