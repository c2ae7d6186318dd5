/** The texts of a skill's files, by path. */
export type PackageFiles = Readonly<Record<string, string>>;

export const SKILL_FILE = 'SKILL.md';

/** A line of its own: what stands below it is that file, up to the line end before the next one. */
const HEADER = /(?<=^|\n)=== file: ([^\n]+) ===(?:\n|$)/g;
/** What could be read as such a line, however often it was kept from that. */
const LIKE_HEADER = /(?<=^|\n)(?=\\*=== file: [^\n]* ===(?:\n|$))/g;
const KEPT_HEADER = /(?<=^|\n)\\(?=\\*=== file: [^\n]* ===(?:\n|$))/g;

const headerOf = (path: string) => `\n=== file: ${path} ===\n`;
const escaped = (text: string) => text.replace(LIKE_HEADER, '\\');
const unescaped = (text: string) => text.replace(KEPT_HEADER, '');

/** A whole package as one text: SKILL.md as it is, and each further file below a line with its path. Nothing gets lost. */
export function joinPackage(files: PackageFiles): string {
  const others = Object.keys(files).filter((path) => path !== SKILL_FILE);
  const rest = others.sort().map((path) => headerOf(path) + escaped(files[path]!));
  return escaped(files[SKILL_FILE] ?? '') + rest.join('');
}

/** The files of such a text. One without any line that names a file is SKILL.md alone. */
export function splitPackage(text: string): PackageFiles {
  const headers = [...text.matchAll(HEADER)];
  const starts = [0, ...headers.map(({ index, 0: line }) => index + line.length)];
  const paths = [SKILL_FILE, ...headers.map(([, path]) => path!)];
  const contents = starts.map((start, place) => {
    const next = headers[place]?.index;
    return unescaped(next === undefined ? text.slice(start) : text.slice(start, Math.max(start, next - 1)));
  });
  return Object.fromEntries(paths.map((path, place) => [path, contents[place]!]));
}

/** Whether a line of such a text names a file, and is none of any file's own. */
export const isFileLine = (line: string): boolean => /^=== file: .+ ===$/.test(line);

/** Paths of the files that are not the same in two such texts. */
export function changedFiles(before: string, after: string): string[] {
  const [old, young] = [splitPackage(before), splitPackage(after)];
  const paths = [...new Set([...Object.keys(old), ...Object.keys(young)])];
  return paths.filter((path) => old[path] !== young[path]);
}
