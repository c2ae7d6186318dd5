/** Names that leave the choice to the CLI. */
const ANY = ['auto', 'best', 'default', 'opusplan'];

/**
 * Whether a CLI that was started with one name asks for that model by another: without the provider before it, with the date of
 * a snapshot behind it, or in full for a short name such as `sonnet`.
 */
export function isSameModel(asked: string, configured: string): boolean {
  const name = configured.replace(/\[\w+\]$/, ''); // claude: with a longer context
  if (ANY.includes(name)) return true;
  return (
    [name, name.slice(name.indexOf('/') + 1)].some((one) => asked === one || isSnapshot(asked, one)) ||
    isShortFor(asked, name)
  );
}

const isSnapshot = (asked: string, name: string) =>
  asked.startsWith(`${name}-`) && /^(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/.test(asked.slice(name.length + 1));

/** Short names have no version in them. */
const isShortFor = (asked: string, name: string) => /^[a-z]+$/.test(name) && asked.split(/[-.]/).includes(name);
