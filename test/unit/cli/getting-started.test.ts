import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCli } from '../../../src/cli/main.ts';
import { captureIo } from '../../support/capture-io.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** The commands of the page in their order, each block with the lines that are shown below it. */
function blocksOf(page: string): { commands: string[]; shown: string[] }[] {
  const fenced = [...page.matchAll(/```(sh|text)\n(.*?)```/gs)].map(
    ([, kind, text]) => [kind, text!.trim().split('\n')] as const,
  );
  return fenced.flatMap(([kind, commands], at) => {
    const [nextKind, next = []] = fenced[at + 1] ?? [];
    return kind === 'sh' ? [{ commands: [...commands], shown: nextKind === 'text' ? [...next] : [] }] : [];
  });
}

it('docs/getting-started.md: every command works, and prints what the page shows', async () => {
  using folder = tempFolder();
  const blocks = blocksOf(readFileSync('docs/getting-started.md', 'utf8'));
  let cwd = folder.path;
  for (const { commands, shown } of blocks) {
    let printed = '';
    for (const command of commands) {
      const [program, ...args] = command.split(' ');
      if (program === 'cd') cwd = join(cwd, args[0]!);
      else {
        expect([program, args.shift()]).toEqual(['npx', 'skillopt']);
        const io = captureIo({ cwd, env: { HOME: folder.path } });
        expect([command, await runCli(args, io), io.err()]).toEqual([command, 0, expect.any(String)]);
        printed += io.out();
      }
    }
    for (const line of shown) expect(printed).toContain(line);
  }
  expect(blocks.flatMap(({ commands }) => commands).length).toBeGreaterThan(7);
});
