type Limits = { readonly maxDepth?: number; readonly maxValues?: number };

/**
 * What is wrong with a value that is too deep or too large to be walked through, or `undefined`. One that holds itself is
 * too deep; one that is small on paper, because its parts are used many times, is as large as what it stands for.
 */
export function whyTooMuch(value: unknown, { maxDepth = 100, maxValues = 100_000 }: Limits = {}): string | undefined {
  const rest: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }];
  let count = 0;
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (next.depth > maxDepth) return `nested more than ${maxDepth} levels deep, or in a circle`;
    if (++count > maxValues) return `more than ${maxValues.toLocaleString('en-US')} values`;
    if (typeof next.value !== 'object' || next.value === null) continue;
    for (const part of Object.values(next.value)) rest.push({ value: part, depth: next.depth + 1 });
  }
  return undefined;
}
