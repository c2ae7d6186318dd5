import { join } from 'node:path';
import { toFact } from 'skillopt';
import { runCli } from '../../src/cli/index.ts';
import { readJournal } from '../../src/stores/run/journal.ts';
import { worldFiles } from '../e2e/project.ts';
import { captureIo } from './capture-io.ts';
import { tempFolder } from './temp-folder.ts';

/** A project folder whose models are reached at `baseURL`. `using` removes it. */
export function projectOverHttp(baseURL: string, config: object = {}) {
  const model = (name: string) => ({ provider: 'compatible', model: name, baseURL, apiKeyEnv: 'FAR_KEY' });
  const models = { target: model('sim-target'), optimizer: model('sim-optimizer') };
  const folder = tempFolder(worldFiles({ numEpochs: 2, batchSize: 8, minibatchSize: 4, ...models, ...config }));
  return {
    ...folder,
    /** Runs a command here. */
    async run(...argv: string[]) {
      const { PATH, HOME } = process.env;
      const env = { PATH, HOME, FAR_KEY: 'dummy-key', SKILLOPT_HOME: join(folder.path, '.state') };
      const io = captureIo({ cwd: folder.path, env });
      const code = await runCli(argv, io);
      return { code, out: io.out(), err: io.err() };
    },
    /** What a run wrote down. */
    events: (run = 'run') => readJournal(join(folder.path, 'runs', run, 'events.jsonl')),
    /** The same without times and usage. */
    async facts(run = 'run') {
      return (await this.events(run)).map(toFact);
    },
  };
}
