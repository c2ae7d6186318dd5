/** Where a reader is. It comes after `#`, so that live page and report have the same links, and back and forward work. */
export type Address = { readonly path: readonly string[]; readonly query: Readonly<Record<string, string>> };

type Query = Readonly<Record<string, string | number | null | undefined>>;

/** `#/runs/demo/tasks?filter=worse`. What cannot be decoded stays as it is. */
export function readAddress(hash: string): Address {
  const [path = '', query = ''] = split(hash.replace(/^#\/?/, ''));
  return { path: path.split('/').filter(Boolean).map(decode), query: Object.fromEntries(new URLSearchParams(query)) };
}

export function addressTo(path: readonly (string | number)[], query: Query = {}): string {
  const kept = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const words = new URLSearchParams(kept.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return `#/${path.map((part) => encodeURIComponent(part)).join('/')}${words === '' ? '' : `?${words}`}`;
}

export const runAddress = (run: string, path: readonly (string | number)[] = [], query: Query = {}) =>
  addressTo(['runs', run, ...path], query);

function split(text: string): [string, string?] {
  const at = text.indexOf('?');
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
