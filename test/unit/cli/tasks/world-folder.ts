import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createWorld, worldSkillFolder } from 'skillopt/sim';
import { runCli } from '../../../../src/cli/index.ts';
import { captureIo } from '../../../support/capture-io.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

/** A folder with the skill of a simulated world, and what else a test puts there. `using` removes it. */
export function worldFolder(files: Readonly<Record<string, string>> = {}, seed = 5) {
  const folder = tempFolder(files);
  const world = createWorld({ seed, train: 24, val: 12, test: 24 });
  mkdirSync(join(folder.path, 'house-style'));
  for (const [name, text] of Object.entries(worldSkillFolder(world)))
    writeFileSync(join(folder.path, 'house-style', name), text);
  const read = (name: string) => readFileSync(join(folder.path, name), 'utf8');
  return {
    ...folder,
    world,
    read,
    write: (name: string, text: string) => writeFileSync(join(folder.path, name), text),
    rows: (name = 'tasks.jsonl'): Record<string, unknown>[] =>
      read(name)
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
    async cli(...argv: string[]) {
      const { PATH, HOME } = process.env;
      const env = { PATH, HOME, FAR_KEY: 'dummy-key', SKILLOPT_HOME: join(folder.path, '.state') };
      const io = captureIo({ cwd: folder.path, env, columns: 200 });
      const code = await runCli(argv, io);
      return { code, out: io.out(), err: io.err(), json: () => JSON.parse(io.out()) };
    },
  };
}

export const PROJECT = {
  'skillopt.config.yaml':
    'name: run\nskill: house-style\ntasks: tasks.jsonl\ntarget: simulated\noptimizer: simulated\nnumEpochs: 1\n',
};
