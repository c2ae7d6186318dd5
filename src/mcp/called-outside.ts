/** A quoted word of a command, a quoted name, or a path as far as it has no space. */
const KEPT = [
  String.raw`(?<!\w)'(?:[^']|'\\'')*'(?!\w)`,
  String.raw`"(?:[^"\\]|\\.)*"`,
  String.raw`(?<!\w)[~.]{0,2}/\S*`,
];

/** A text with its commands as the person types them, and its paths as they are: the name of a folder may look like a command. */
export function calledOutside(
  paths: readonly (string | undefined)[],
  text: string,
  called: (text: string) => string,
): string {
  const known = paths.filter((path) => path !== undefined && path !== '').sort((a, b) => b!.length - a!.length);
  const kept = new RegExp([...known.map((path) => String.raw`${escaped(path!)}\S*`), ...KEPT].join('|'), 'g');
  let [said, end] = ['', 0];
  for (const { 0: word, index } of text.matchAll(kept)) {
    said += called(text.slice(end, index)) + word;
    end = index + word.length;
  }
  return said + called(text.slice(end));
}

const escaped = (path: string) => path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
