import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { knowKey, maskKeys, maskKeysIn } from '../../../../src/core/guard/index.ts';

/** Keys are as long as this at OpenAI, Anthropic and GitHub. */
const KEYS = ['sk-proj-Q7/f2k+Lm9XcVb3-NzR8_tYw5HjD1s'.repeat(3), 'gh/Zq9x7+W2'.repeat(17), 'A9/+'.repeat(50)];
for (const key of KEYS) knowKey(key);

const key = fc.constantFrom(...KEYS);
/** What stands before a key in the same text, and moves its letters in base64. */
const before = fc.constantFrom('', 'k', 'ke', 'Bearer ', 'export KEY=');
const lineBreak = fc.constantFrom('\n', '\r\n', '\\n', '\\r\\n', '\\\\n', '\n    ', '\n\n', ' ', '\n\t');
const width = fc.constantFrom(60, 64, 76, 30, 1);

const lines = (text: string, every: number, by: string) =>
  (text.match(new RegExp(`.{1,${every}}`, 'g')) ?? []).join(by);

/** Pieces of the lines between the breaks: none may be left. */
const pieces = (text: string) => text.match(/[\w+/%-]{12,}/g) ?? [];

describe('a long key of this process', () => {
  it.each(['base64', 'base64url', 'hex'] as const)('is masked in %s, however that is broken into lines', (form) => {
    fc.assert(
      fc.property(key, before, width, lineBreak, fc.boolean(), (one, lead, every, by, isUpper) => {
        const encoded = Buffer.from(`${lead}${one}\n`).toString(form);
        const written = form === 'hex' && isUpper ? encoded.toUpperCase() : encoded;
        const masked = maskKeys(`it is:\n${lines(written, every, by)}\n-- and so on`);
        expect(masked).toMatch(/^it is:\n.*\[secret\].*\n-- and so on$/s);
        for (const piece of pieces(masked)) expect(written.slice(24, -24)).not.toContain(piece);
        expect(masked.replace(/\s|\\+[nrt]/g, '').length).toBeLessThan(80);
        expect(JSON.stringify(maskKeysIn({ a: [masked] }))).toBe(JSON.stringify({ a: [masked] }));
      }),
    );
  });

  it('is masked in an address with small letters and with large ones', () => {
    for (const one of KEYS) {
      const inAddress = encodeURIComponent(one);
      const small = inAddress.replace(/%../g, (code) => code.toLowerCase());
      expect([maskKeys(`?k=${inAddress}&b`), maskKeys(`?k=${small}&b`)]).toEqual(Array(2).fill('?k=[secret]&b'));
    }
  });

  it('is masked wherever it stands, each time, and the rest stays to the letter', () => {
    const rest = fc.string({ unit: fc.constantFrom(...'ab \n\t\\nr"é'), maxLength: 40 });
    fc.assert(
      fc.property(fc.array(fc.tuple(rest, key, width, lineBreak), { maxLength: 4 }), rest, (parts, end) => {
        const hex = (one: string) => Buffer.from(one).toString('hex');
        // A break beside a key may belong to either.
        const text = parts.map(([lead, one, every, by]) => `${lead}|${lines(hex(one), every, by)}|`).join('');
        expect(maskKeys(text + end)).toBe(`${parts.map(([lead]) => `${lead}|[secret]|`).join('')}${end}`);
      }),
    );
  });

  it('takes no longer to look for in a text of many breaks', () => {
    const half = lines(Buffer.from(KEYS[2]!).toString('hex').slice(0, -1), 1, '\n');
    const texts = [' \n'.repeat(5e5), '\\'.repeat(1e6), '\\n\\'.repeat(3e5), `${half}\n`.repeat(1_000)];
    for (const text of texts) expect(maskKeys(text)).toBe(text);
    const many = `${half}\n`.repeat(500) + `${lines(Buffer.from(KEYS[0]!).toString('hex'), 60, '\n')}|`.repeat(500);
    expect(maskKeys(many).endsWith('[secret]|'.repeat(500))).toBe(true);
  });
});

it('what is unlike a key stays, also where it has its first letters', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 400 }), key, (text, one) => {
      const half = Buffer.from(one).toString('base64').slice(0, 60);
      expect(maskKeys(`${text}\n${half}\n`)).toBe(`${text}\n${half}\n`);
    }),
  );
});
