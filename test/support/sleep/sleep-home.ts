import { mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runCli } from '../../../src/cli/index.ts';
import { captureIo } from '../capture-io.ts';
import { tempFolder } from '../temp-folder.ts';

const HOUR_MS = 3_600_000;

/** Such as `2026-01-31T22:10:05.000Z`. */
export const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString();

type Turn = readonly ['user' | 'assistant', string];
type Spoken = {
  readonly cwd: string;
  readonly id?: string;
  readonly branch?: string;
  readonly turns?: readonly Turn[];
  /** Which the agent loads for its first answer. */
  readonly skill?: string;
  readonly endedHoursAgo?: number;
};

export const USUAL_TURNS: readonly Turn[] = [
  ['user', 'Add a discount field to the cart and test it'],
  ['assistant', 'I have added the field.'],
  ['user', 'still broken, and write shorter commit messages'],
  ['assistant', 'Mended, with a short message.'],
];

/** A session as Claude Code writes it, ten minutes a turn. */
export function claudeSession(spoken: Spoken) {
  const { cwd, id = 's-1', branch = 'main', turns = USUAL_TURNS, skill, endedHoursAgo = 1 } = spoken;
  const loads = skill === undefined ? [] : [{ type: 'tool_use', id: 'load', name: 'Skill', input: { skill } }];
  const lines = turns.map(([type, text], at) => {
    const content = type === 'user' ? text : [...(at === 1 ? loads : []), { type: 'text', text }];
    const timestamp = hoursAgo(endedHoursAgo + (turns.length - 1 - at) / 6);
    return { type, cwd, sessionId: id, gitBranch: branch, message: { role: type, content }, timestamp };
  });
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

type RunOptions = { readonly isTTY?: boolean; readonly columns?: number; readonly cwd?: string };

/** A person's home with a project in it, and the command line run there: that of the sources, or `cli`. Gone after the test. */
export function sleepHome(cli = runCli) {
  const folder = tempFolder({ 'home/shop/.keep': '', 'home/blog/.keep': '' });
  const path = join(folder.path, 'home');
  const [shop, state] = [join(path, 'shop'), join(folder.path, 'state')];
  const env: Record<string, string> = { HOME: path, SKILLOPT_HOME: state, PATH: join(path, 'no-agent-is-here') };
  /** Written long enough ago that it counts as finished. */
  const write = (name: string, content: string | Buffer) => {
    const file = join(path, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    utimesSync(file, Date.now() / 1000 - 60, Date.now() / 1000 - 60);
    return file;
  };
  return {
    path,
    shop,
    blog: join(path, 'blog'),
    state,
    env,
    write,
    read: (name: string) => readFileSync(join(path, name), 'utf8'),
    mode: (file: string) => (statSync(file).mode & 0o777).toString(8),
    /** A session of Claude Code; its file is named by its id. */
    said: (spoken: Partial<Spoken> = {}) =>
      write(`.claude/projects/p/${spoken.id ?? 's-1'}.jsonl`, claudeSession({ cwd: shop, ...spoken })),
    async run(argv: readonly string[], { cwd = shop, ...options }: RunOptions = {}) {
      const io = captureIo({ ...options, cwd, env });
      const code = await cli(['sleep', ...argv], io);
      return { code, out: io.out(), err: io.err() };
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

export type SleepHome = ReturnType<typeof sleepHome>;

/** The one object that a command answers with. */
export async function answerOf(home: SleepHome, argv: readonly string[], options: RunOptions = {}) {
  const { code, out, err } = await home.run([...argv, '--json'], options);
  if (code !== 0) throw new Error(err);
  return JSON.parse(out);
}
