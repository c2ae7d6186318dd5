import { posix } from 'node:path';
import { count } from '../../core/text/index.ts';
import type { DataFiles } from '../data/data-files.ts';
import { readDocument } from './documents.ts';
import type { OfficeQaDocument } from './item.ts';
import { LineSearch, linesOf, type Match, MOST_PATTERN } from './search-lines.ts';
import type { ReadCall, ToolCall } from './tool-calls.ts';

const MOST_PATHS = 50;
const MOST_LINES = 80;
const MOST_CHARS = 4_000;
const MOST_MATCHES = 20;

/** The documents by the names that models see: the base name, or all of it where two share one. */
export function shownNames(documents: readonly OfficeQaDocument[]): Map<string, OfficeQaDocument> {
  const bases = documents.map(({ name }) => posix.basename(name));
  const isShared = (base: string) => bases.indexOf(base) !== bases.lastIndexOf(base);
  return new Map(documents.map((each, index) => [isShared(bases[index]!) ? each.name : bases[index]!, each]));
}

/**
 * Carries out calls on the documents of one item. A path is one of their names and nothing else: no other file can be reached,
 * whatever a call says. Mistakes of the model are answered in words.
 */
export class DocumentTools {
  readonly #documents: ReadonlyMap<string, OfficeQaDocument>;
  readonly #files: DataFiles;

  constructor(documents: readonly OfficeQaDocument[], files: DataFiles) {
    this.#documents = shownNames(documents);
    this.#files = files;
  }

  async run(read: ReadCall): Promise<string> {
    if ('problem' in read) return `Error: this call cannot be read: ${read.problem}.`;
    const { call } = read;
    if (call.name === 'glob') return this.#glob(call.pattern);
    const names = call.path === undefined ? [...this.#documents.keys()] : [call.path];
    const odd = names.find((name) => !this.#documents.has(name));
    if (odd !== undefined)
      return `Error: there is no document ${JSON.stringify(odd.slice(0, 200))}. ${this.#glob('*')}`;
    return call.name === 'read' ? this.#read(call) : this.#grep(call.pattern, names);
  }

  #glob(pattern: string): string {
    const found = [...this.#documents.keys()].filter((name) => matchesGlob(name, pattern));
    if (found.length === 0) return 'No document has such a name.';
    const rest = found.length - MOST_PATHS;
    return ['Documents:', ...found.slice(0, MOST_PATHS), ...(rest > 0 ? [`… and ${rest} more`] : [])].join('\n');
  }

  async #read({ path, start, limit = MOST_LINES }: Extract<ToolCall, { name: 'read' }>): Promise<string> {
    const text = await this.#textOf(path);
    const { lines, total } = window(text, start, Math.min(limit, MOST_LINES));
    if (lines.length === 0) return `Error: ${path} has ${count(total)} lines.`;
    return `${path}, lines ${start} to ${start + lines.length - 1} of ${total}:\n${lines.join('\n')}`;
  }

  async #grep(pattern: string, names: readonly string[]): Promise<string> {
    if (pattern === '' || pattern.length > MOST_PATTERN)
      return `Error: a pattern has 1 to ${MOST_PATTERN} characters, and this one has ${pattern.length}.`;
    const search = new LineSearch(pattern);
    const found: (Match & { readonly name: string })[] = [];
    for (const name of names) {
      if (found.length > MOST_MATCHES) break;
      const matches = search.find(await this.#textOf(name), MOST_MATCHES + 1 - found.length);
      found.push(...matches.map((match) => ({ ...match, name })));
    }
    const shown = found.slice(0, MOST_MATCHES).map(({ name, line, excerpt }) => `${name}:${line}: ${excerpt}`);
    const more = found.length > MOST_MATCHES ? [`There are more matches than ${MOST_MATCHES}: search for less.`] : [];
    const cut = search.isCut ? ['Not all was searched for the regular expression: search for plain text.'] : [];
    return [...(shown.length === 0 ? ['No line matches.'] : shown), ...more, ...cut].join('\n');
  }

  /** A document that is gone or has changed is no mistake of the model: this throws. */
  #textOf(name: string): Promise<string> {
    return readDocument(this.#documents.get(name)!, this.#files);
  }
}

/** As many lines as fit, and how many there are. A first line that does not fit is cut. */
function window(text: string, start: number, limit: number) {
  const lines: string[] = [];
  let [total, room] = [0, MOST_CHARS];
  for (const line of linesOf(text)) {
    total++;
    const isWanted = total === start + lines.length && lines.length < limit;
    if (!isWanted || (line.length > room && lines.length > 0)) continue;
    lines.push(line.length > room ? `${line.slice(0, room).toWellFormed()} … (the line is cut)` : line);
    room -= line.length + 1;
  }
  return { lines, total };
}

/** `*` stands for any text, `?` for one character. Goes back only to the last `*`: the time is at most the length of the name times that of the pattern. */
export function matchesGlob(name: string, pattern: string): boolean {
  let [at, place, star, retry] = [0, 0, -1, 0];
  while (at < name.length) {
    if (pattern[place] === '*') [star, retry] = [place++, at];
    else if (pattern[place] === '?' || pattern[place] === name[at]) [at, place] = [at + 1, place + 1];
    else if (star < 0) return false;
    else [at, place] = [++retry, star + 1];
  }
  return /^\**$/.test(pattern.slice(place));
}
