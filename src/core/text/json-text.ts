/** Control characters but tab and newline, marks that turn the writing direction, and all that has no shape of its own. */
export const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/** A value as JSON in which nothing can hide or move a cursor: such characters are escaped, and read back as they were. */
export const jsonText = (value: unknown): string => escaped(JSON.stringify(value, null, 2));

/** The same on one line. */
export const jsonLine = (value: unknown): string => escaped(JSON.stringify(value));

function escaped(json: string): string {
  return json.replace(HIDDEN, (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${hex(character.charCodeAt(at))}`).join(''),
  );
}

/** A code as Unicode names it. */
export const hex = (code: number) => code.toString(16).toUpperCase().padStart(4, '0');
