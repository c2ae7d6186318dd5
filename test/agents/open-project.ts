import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toFact } from 'skillopt';
import { runCli } from '../../src/cli/index.ts';
import { readJournal } from '../../src/stores/run/journal.ts';
import { captureIo } from '../support/capture-io.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** A project folder whose run is `runs/run`, with a home of its own and a key that nothing accepts. `using` removes it. */
export function openProject(files: Readonly<Record<string, string>>) {
  const folder = tempFolder(files);
  const at = (name: string) => join(folder.path, name);
  const env = { PATH: process.env.PATH, HOME: at('home'), FAR_KEY: 'dummy-key', SKILLOPT_HOME: at('.state') };
  return {
    ...folder,
    read: (name: string) => readFileSync(at(name), 'utf8'),
    async run(...argv: string[]) {
      const io = captureIo({ cwd: folder.path, env });
      const code = await runCli(argv, io);
      return { code, out: io.out(), err: io.err() };
    },
    facts: async () => (await readJournal(at('runs/run/events.jsonl'))).map(toFact),
  };
}
