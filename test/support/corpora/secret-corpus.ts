import { readFileSync } from 'node:fs';

/** A snippet of transcript text and the part of it that must not survive redaction. */
type PlantedSecret = { readonly kind: string; readonly text: string; readonly secret: string };

/** A snippet that looks as if it held a secret and must be left alone. */
type LookAlike = { readonly kind: string; readonly text: string };

const FOLDER = new URL('../../fixtures/secrets/', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, FOLDER), 'utf8');

/** Secrets of every kind, each in the text in which it was planted; all are invented. */
export function plantedSecrets(): readonly PlantedSecret[] {
  const prefixes: Readonly<Record<string, string>> = JSON.parse(read('prefixes.json'));
  return readLines<PlantedSecret>('planted.jsonl').map(({ kind, text, secret }) => ({
    kind,
    text: joinPrefixes(text, prefixes),
    secret: joinPrefixes(secret, prefixes),
  }));
}

/** Hashes, ids, placeholders and talk about secrets, to be left alone byte for byte. */
export function lookAlikes(): readonly LookAlike[] {
  return readLines<LookAlike>('look-alikes.jsonl');
}

function readLines<Line>(name: string): Line[] {
  const lines = read(name).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}

/** The file holds no whole key, or services that scan repositories would refuse a push (see the fixture's README). */
function joinPrefixes(text: string, prefixes: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{([a-z-]+)\}\}/g, (placeholder, name) => {
    const prefix = prefixes[name];
    if (prefix === undefined) throw new Error(`${placeholder} is not in prefixes.json; add it there`);
    return prefix;
  });
}
