import { readBlock, writeBlock } from './marked-block.ts';

const HEADING = '## Reminders';

/** The reminders in the appendix of a skill. */
export function readNotes(skill: string): string[] {
  return readBlock(skill, 'appendix')
    .split('\n')
    .flatMap((line) => (line.startsWith('- ') ? [line.slice(2).trim()] : []));
}

/** The skill with these reminders and no others. */
export function writeNotes(skill: string, notes: readonly string[]): string {
  const bullets = mergeNotes([], notes).map((note) => `- ${note}`);
  return writeBlock(skill, 'appendix', bullets.length === 0 ? '' : [HEADING, ...bullets].join('\n'));
}

/** Both, in order, each said once: case, spacing and the stops at the end do not make two notes of one. */
export function mergeNotes(known: readonly string[], added: readonly string[]): string[] {
  const notes = new Map<string, string>();
  for (const note of [...known, ...added].map(collapse)) {
    const key = note.toLowerCase().replace(/(?<![ .;:,_-])[ .;:,_-]+$/, '');
    if (key !== '' && !notes.has(key)) notes.set(key, note);
  }
  return [...notes.values()];
}

const collapse = (note: string) => note.replace(/\s+/gu, ' ').trim();
