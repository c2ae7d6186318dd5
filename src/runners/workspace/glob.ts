/** Whether one of the patterns stands for a path: `*` and `?` within a name, `**` for any number of folders. */
export const isCovered = (path: string, globs: readonly string[]): boolean =>
  globs.some((glob) => toPattern(glob).test(path));

function toPattern(glob: string): RegExp {
  const parts = glob.split(/(\*\*\/|\*\*|\*|\?)/);
  return new RegExp(`^${parts.map((part) => WILD[part] ?? part.replace(/[\\^$.|+()[\]{}]/g, '\\$&')).join('')}$`, 'u');
}

const WILD: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };
