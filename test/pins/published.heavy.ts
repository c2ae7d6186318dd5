import { resolve } from 'node:path';
import { publint } from 'publint';
import { expect, it } from 'vitest';

// Needs the types, which only the whole package has.
it('the published package satisfies publint', async () => {
  const { messages } = await publint({ pkgDir: resolve('.cache/package'), strict: true });
  expect(messages).toEqual([]);
});
