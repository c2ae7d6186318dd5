import { basename, join } from 'node:path';
import { findRun } from '../../app/index.ts';
import { resolvePath } from '../../project/index.ts';
import { byteSize, table } from '../../report/index.ts';
import { cacheStats, clearCache, listRuns } from '../../stores/index.ts';
import { jsonOption, rootOption } from '../flags/flags.ts';
import { type DefineCommand, examples } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Flags = { readonly root: string };

export const define: DefineCommand = (command, terminal) => {
  const stats = command
    .command('stats', { isDefault: true })
    .description('entries and size of every cache below a folder of runs');
  const clear = command
    .command('clear <run>')
    .description('delete the cache of one run; what it held is paid for again');
  for (const part of [stats, clear]) {
    part.addOption(rootOption()).addOption(jsonOption());
  }
  stats.action((flags: Flags) => showStats(flags, terminal));
  clear.action((run: string, flags: Flags) => clearOne(run, flags, terminal));
  command.addHelpText('after', EXAMPLES);
};

const EXAMPLES = examples([
  ['skillopt cache stats', 'what the caches hold'],
  ['skillopt cache clear demo', 'delete the replies of runs/demo; its journal stays'],
]);

async function showStats({ root }: Flags, terminal: Terminal): Promise<void> {
  const folder = resolvePath(terminal.io.cwd(), root);
  const paths = [...(await listRuns(folder)).map(({ path }) => path), join(folder, '.eval')];
  const all = await Promise.all(paths.map(async (path) => ({ run: basename(path), ...(await cacheStats(path)) })));
  const caches = all.filter(({ bytes }) => bytes > 0);
  const columns = [
    { title: 'cache of', isElastic: true },
    ...['replies', 'rollouts', 'size'].map((title) => ({ title, align: 'right' as const })),
  ];
  const rows = caches.map(({ run, replies, rollouts, bytes, isDamaged }) => {
    const counts = isDamaged ? ['damaged', 'damaged'] : [`${replies}`, `${rollouts}`];
    return [run, ...counts, byteSize(bytes)];
  });
  const lines = table(columns, rows, { width: terminal.width, paintTitle: terminal.colors.dim });
  terminal.answer({ root, caches }, rows.length > 0 ? lines : [`no caches in ${root}`]);
}

async function clearOne(name: string, { root }: Flags, terminal: Terminal): Promise<void> {
  const run = await findRun(name, { cwd: terminal.io.cwd(), root });
  const freedBytes = await clearCache(run.path);
  terminal.answer({ run: run.name, freedBytes }, [`freed ${byteSize(freedBytes)}; the journal of ${run.name} is kept`]);
}
