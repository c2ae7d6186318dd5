import { newPiecesOf, readBlock } from '../../core/document/index.ts';
import type { TaskDelta } from '../../report/index.ts';
import type { Tasks } from '../task-record.ts';
import type { LiveDocument } from './live-document.ts';
import { isBelow } from './skills.ts';

type Found = {
  readonly baseBlock: string;
  readonly block: string;
  readonly proof?: { readonly tasks: readonly TaskDelta[] } | undefined;
};

/**
 * Where a proven block goes, and how it looks there: rules that help tasks of two projects to all projects of the user, any other
 * block into the document that was trained. So does one that takes something away: it was proven there.
 */
export function placeOf(document: LiveDocument, { baseBlock, block, proof }: Found, tasks: Tasks) {
  const { userWide } = document;
  const known = userWide ? readBlock(userWide.text, 'learned').trim() : '';
  const added = newPiecesOf(`${known}\n${baseBlock}`, block);
  const isOnlyMore = added.length > 0 && newPiecesOf(block, baseBlock).length === 0;
  if (!userWide || !isOnlyMore || projectsHelped(tasks, proof?.tasks ?? []).length < 2) return { document, block };
  return { document: userWide, block: [known, ...added].filter((part) => part !== '').join('\n') };
}

/** One task that did better may be luck. */
const LEAST_HELPED = 2;

/** The projects whose held-out tasks did better, on average and at least two of them. */
function projectsHelped(tasks: Tasks, deltas: readonly TaskDelta[]): string[] {
  const projects = projectsOf(tasks);
  const gains = new Map(deltas.map(({ id, before, after }) => [id, after - before]));
  return projects.filter((project) => {
    const isOf = (folder: string) => folder === project || isBelow(folder, project);
    const own = tasks.filter((task) => isOf(task.project)).flatMap(({ id }) => gains.get(id) ?? []);
    return own.reduce((sum, gain) => sum + gain, 0) > 0 && own.filter((gain) => gain > 0).length >= LEAST_HELPED;
  });
}

/** The projects that tasks come from. A folder below another one belongs to it. */
function projectsOf(tasks: Tasks): string[] {
  const folders = [...new Set(tasks.map(({ project }) => project))].filter((folder) => folder !== '');
  return folders.filter((folder) => !folders.some((above) => isBelow(folder, above)));
}
