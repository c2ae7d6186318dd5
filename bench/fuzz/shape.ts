/** What a parameter takes, as far as a value for it can be made up. Plain data, since another process makes the values. */
export type Shape =
  | { readonly kind: 'text' | 'nothing' }
  | { readonly kind: 'value'; readonly value: string | number | boolean | null }
  | { readonly kind: 'list' | 'set' | 'map' | 'promise' | 'function'; readonly of: Shape }
  | { readonly kind: 'tuple'; readonly parts: readonly Shape[] }
  | { readonly kind: 'object'; readonly fields: Readonly<Record<string, Shape>> }
  | { readonly kind: 'date' | 'pattern' | 'signal' | 'bytes' };

/** How many texts a value of this shape is made of. */
export function textsIn(shape: Shape): number {
  if (shape.kind === 'text' || shape.kind === 'bytes') return 1;
  if ('of' in shape) return shape.kind === 'function' ? 0 : textsIn(shape.of);
  const parts = 'parts' in shape ? shape.parts : 'fields' in shape ? Object.values(shape.fields) : [];
  return parts.reduce((sum, part) => sum + textsIn(part), 0);
}

/** A value of this shape. Each text in it is asked for. */
export function make(shape: Shape, text: () => string): unknown {
  switch (shape.kind) {
    case 'text':
      return text();
    case 'bytes':
      return Buffer.from(text());
    case 'nothing':
      return undefined;
    case 'value':
      return shape.value;
    case 'list':
      return [make(shape.of, text)];
    case 'tuple':
      return shape.parts.map((part) => make(part, text));
    case 'set':
      return new Set([make(shape.of, text)]);
    case 'map':
      return new Map([['key', make(shape.of, text)]]);
    case 'promise':
      return Promise.resolve(make(shape.of, text));
    case 'function':
      return () => make(shape.of, () => 'a plain text');
    case 'object':
      return Object.fromEntries(Object.entries(shape.fields).map(([name, field]) => [name, make(field, text)]));
    case 'date':
      return new Date(0);
    case 'pattern':
      return /a+/;
    case 'signal':
      return new AbortController().signal;
  }
}
