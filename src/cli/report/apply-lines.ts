import type { ApplyPlan } from '../../app/index.ts';
import { SKILL_FILE } from '../../core/document/index.ts';
import { oneLine, plural } from '../../core/text/index.ts';
import { wrap } from '../../report/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { coloured, filesPatch } from './patch.ts';

export type RunVerdict = { readonly isProven: boolean; readonly text: string };

type Preview = { readonly patch: string; readonly verdict: RunVerdict; readonly uncommitted: number | null };

/** The change, what the run came to, and what git knows nothing of yet. */
export function previewLines(
  { document }: ApplyPlan,
  { patch, verdict, uncommitted }: Preview,
  { io, width, colors }: Terminal,
) {
  const room = io.stdout.columns === undefined ? Number.MAX_SAFE_INTEGER : width; // a pipe gets whole lines
  const dirty = `${plural(uncommitted ?? 0, 'change')} not committed in the tree around ${document.realPath}`;
  return [
    ...coloured(patch, colors),
    '',
    ...wrap(verdict.text, room).map(verdict.isProven ? colors.green : colors.yellow),
    ...(uncommitted ? [colors.yellow(`git: ${oneLine(dirty)}; nothing will be committed`)] : []),
  ];
}

type Written = { readonly backup: string | null; readonly undo: string };

/** Where it is now, and how to undo it. */
export function writtenLines(plan: ApplyPlan, { backup, undo }: Written, { colors }: Terminal) {
  const { path, realPath } = plan.document;
  const { files = [] } = writtenFiles(plan);
  const row = (title: string, text: string) => `  ${colors.dim(title.padEnd(6))} ${oneLine(text)}`;
  return [
    `${colors.bold('applied')} ${oneLine(realPath)}`,
    ...(path === realPath ? [] : [row('link', `${path} leads to it`)]),
    row('before', backup ?? 'there was no file'),
    ...files.map(({ name, change }) => row('file', `${name} ${change}`)),
    row('undo', undo),
  ];
}

/** The change of each file, one after the other. */
export function patchOfPlan({ before, after, others }: ApplyPlan): string {
  const changed = others.filter(({ standing }) => standing === 'write');
  const table = (side: 'before' | 'after') =>
    changed.flatMap((file) => (file[side] === null ? [] : [[file.name, file[side]] as const]));
  const versions = { from: 'now', to: 'trained' };
  return filesPatch(versions, [[SKILL_FILE, before], ...table('before')], [[SKILL_FILE, after], ...table('after')]);
}

/** Beside the document itself, where there are any. */
export function writtenFiles({ others }: ApplyPlan) {
  const files = others
    .filter(({ standing }) => standing === 'write')
    .map(({ name, before, after }) => {
      return { name, change: before === null ? 'created' : after === null ? 'deleted' : 'changed' };
    });
  return files.length === 0 ? {} : { files };
}
