import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Moment, type Receipt, type Replacement, replaceFiles } from '../../../../src/skills/index.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

export const sha = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');

type ReplaceCall = {
  readonly onMoment?: (moment: Moment) => void | Promise<void>;
  readonly roots?: readonly string[];
  readonly id?: string;
};

/** A project whose documents are replaced, and a private folder for the journal. Gone after the test. */
export function replaceWorld(files: Readonly<Record<string, string>> = { 'AGENTS.md': 'old\n' }) {
  const folder = tempFolder();
  const root = realpathSync(folder.path);
  const [project, journal] = [join(root, 'project'), join(root, 'private')];
  const at = (name: string) => join(project, name);
  const write = (name: string, text: string) => {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), text);
  };
  mkdirSync(project);
  for (const [name, text] of Object.entries(files)) write(name, text);
  /** What the change of one file by name is: from the bytes that are there now. */
  const change = (name: string, text: string | null): Replacement => ({
    path: at(name),
    expected: existsSync(at(name)) ? sha(readFileSync(at(name))) : null,
    bytes: text === null ? null : Buffer.from(text),
  });
  return {
    root,
    project,
    journal,
    at,
    write,
    change,
    read: (name: string) => readFileSync(at(name), 'utf8'),
    mode: (name: string) => (statSync(at(name)).mode & 0o777).toString(8),
    /** Every file of the project, with what is in it. */
    all: () => contentsOf(project),
    replace: (
      changes: readonly Replacement[],
      { roots = [project], id = 't1', onMoment }: ReplaceCall = {},
    ): Promise<Receipt> => replaceFiles(changes, { journalFolder: journal, roots, id, onMoment }),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

export function contentsOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(folder.length + 1), readFileSync(path, 'utf8')];
    }),
  );
}
