import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { openSandbox, openTemplate, openWorkspace, type Sandbox } from '../src/public/workspaces.ts';
import { tempFolder } from '../test/support/temp-folder.ts';
import { type BenchRow, median } from './row.ts';

const FILES = 2_000;
const TIMES = 21;
const MOST_MS = { overlay: 50, copy: 500 } as const;

/** What a rollout pays for a folder and a sandbox of its own: from nothing to the end of a command that does nothing. */
export const workspaces = (way: 'overlay' | 'copy'): BenchRow => ({
  name: 'workspaces',
  what: `fresh workspace of ${FILES} files (${way}), bubblewrap started and ended`,
  goal: `median ≤ ${MOST_MS[way]} ms`,
  async run() {
    using root = tempFolder();
    const sandbox = sandboxOf(way, root.path);
    const template = await openTemplate({ sandbox, root: root.path, files: manyFiles() });
    const times: number[] = [];
    for (let time = 0; time < TIMES; time++) {
      await removed(root.path);
      const begin = performance.now();
      await using workspace = await openWorkspace({ template, sandbox, root: root.path });
      const { exitCode } = await sandbox.run({ command: ['true'], workspace: workspace.view, timeoutMs: 60_000 });
      if (exitCode !== 0 || (workspace.view.overlay !== undefined) !== (way === 'overlay'))
        throw new Error(`no ${way}`);
      times.push(performance.now() - begin);
    }
    const [middle, least] = [median(times), Math.min(...times)];
    const measured = `median ${middle.toFixed(0)} ms, least ${least.toFixed(0)} ms of ${TIMES}`;
    return { measured, holds: middle <= MOST_MS[way], figures: { median: middle, least, times } };
  },
});

/** The one before is removed beside the next one, which is not what is measured. */
async function removed(root: string): Promise<void> {
  while (readdirSync(root).some((name) => name !== 'templates')) await delay(20);
}

function sandboxOf(way: 'overlay' | 'copy', root: string): Sandbox {
  const sandbox = openSandbox('bubblewrap', { root });
  return way === 'overlay' ? sandbox : { ...sandbox, takesOverlays: async () => false };
}

const manyFiles = () =>
  Object.fromEntries(
    Array.from({ length: FILES }, (_, at) => [
      `src/part${at % 40}/file${at}.txt`,
      `line ${at}\n`.repeat(100 + (at % 300)),
    ]),
  );
