export interface TextMemo {
  get(text: string): number | undefined;
  set(text: string, value: number): void;
}

/** A number for each text. Forgets what was longest not asked for when the texts become too many characters. */
export function createTextMemo({ maxCharacters }: { readonly maxCharacters: number }): TextMemo {
  const values = new Map<string, number>();
  let characters = 0;
  return {
    get(text) {
      const value = values.get(text);
      if (value !== undefined) {
        values.delete(text);
        values.set(text, value);
      }
      return value;
    },
    set(text, value) {
      if (text.length > maxCharacters || values.has(text)) return;
      values.set(text, value);
      characters += text.length;
      for (const oldest of values.keys()) {
        if (characters <= maxCharacters) return;
        values.delete(oldest);
        characters -= oldest.length;
      }
    },
  };
}
