import { posix } from 'node:path';
import { NotCarried } from '../left-out.ts';

/** What a Dockerfile does that can be done without docker. */
export type Dockerfile = {
  readonly image: string;
  /** Where the agent works. */
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly copies: readonly Copy[];
  /** Settings without a meaning here. */
  readonly unused: readonly string[];
};

export type Copy = {
  /** From the folder of the Dockerfile. */
  readonly sources: readonly string[];
  /** Absolute. */
  readonly to: string;
  /** Whether `to` is a folder, whatever the sources are. */
  readonly isInto: boolean;
};

/** Where tasks work that do not say it. */
const USUAL = '/app';

/** Throws `NotCarried` for one that does more than copy files onto an image. */
export function readDockerfile(text: string): Dockerfile {
  let [image, workdir]: (string | undefined)[] = [];
  const env: Record<string, string> = {};
  const copies: Copy[] = [];
  const unused: string[] = [];
  for (const { line, number } of instructions(text)) {
    const [, word = '', rest = ''] = /^(\w+)\s+([\s\S]*)$/.exec(line) ?? [undefined, line];
    const name = word.toUpperCase();
    if (name === 'FROM' && image === undefined) image = rest.trim();
    else if (name === 'WORKDIR') workdir = posix.resolve(workdir ?? '/', plainWord(rest, number));
    else if (name === 'ENV') Object.assign(env, readEnv(rest, number));
    else if (name === 'COPY') copies.push(readCopy(rest, { workdir, number, unused }));
    else throw new NotCarried(`environment/Dockerfile:${number}: ${name} needs docker: ${ONLY}`);
  }
  if (image === undefined) throw new NotCarried('environment/Dockerfile has no FROM');
  return { image, workdir: workdir ?? USUAL, env, copies, unused };
}

const ONLY = 'without it only one FROM, and COPY, WORKDIR and ENV are carried';

/** Lines that end in a backslash go on in the next one, comments between them or not. */
function* instructions(text: string): Generator<{ readonly line: string; readonly number: number }> {
  let [whole, first] = ['', 0];
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    if (/^\s*(?:#.*)?$/.test(raw)) continue;
    if (whole === '') first = index + 1;
    whole += raw.replace(/\\\s*$/, ' ');
    if (/\\\s*$/.test(raw)) continue;
    yield { line: whole.trim(), number: first };
    whole = '';
  }
  if (whole !== '') yield { line: whole.trim(), number: first };
}

function plainWord(written: string, number: number): string {
  const word = written.trim().replace(/^(["'])(.*)\1$/, '$2');
  if (/[$]/.test(word)) throw new NotCarried(`environment/Dockerfile:${number}: ${word} depends on a variable`);
  return word;
}

function readEnv(rest: string, number: number): Record<string, string> {
  const [, name, value] = /^(\w+)\s+([^=][\s\S]*)$/.exec(rest) ?? [];
  if (name !== undefined && value !== undefined) return { [name]: plainWord(value, number) };
  const pairs = [...rest.matchAll(/(\w+)=("(?:[^"\\]|\\.)*"|'[^']*'|\S*)/g)];
  if (pairs.length === 0) throw new NotCarried(`environment/Dockerfile:${number}: ENV without a value`);
  return Object.fromEntries(pairs.map(([, key, written]) => [key!, plainWord(written!, number)]));
}

type CopyPlace = { readonly workdir: string | undefined; readonly number: number; readonly unused: string[] };

function readCopy(rest: string, { workdir = '/', number, unused }: CopyPlace): Copy {
  const refuse = (why: string) => {
    throw new NotCarried(`environment/Dockerfile:${number}: ${why}`);
  };
  const flags = rest.match(/^(?:--\S+\s+)+/)?.[0] ?? '';
  if (/--from\b/.test(flags)) refuse('COPY from another image is not carried');
  unused.push(...flags.trim().split(/\s+/).filter(Boolean));
  const words = wordsOf(rest.slice(flags.length).trim()).map((word) => plainWord(word, number));
  if (words.length < 2) refuse('COPY needs a source and a place');
  if (words.some((word) => /^<<|[*?[]|^\w+:\/\//.test(word)))
    refuse('COPY of patterns, of texts in the file or from elsewhere is not carried');
  const to = words.at(-1)!;
  const isInto = words.length > 2 || /(?:^|\/)\.?$/.test(to);
  return { sources: words.slice(0, -1), to: posix.resolve(workdir, to), isInto };
}

/** Words with spaces between them, or a list in JSON. */
function wordsOf(text: string): string[] {
  if (!text.startsWith('[')) return text.split(/\s+/);
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.map(String) : [];
  } catch {
    return [];
  }
}
