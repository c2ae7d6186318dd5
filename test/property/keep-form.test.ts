import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keepForm } from '../../src/core/document/index.ts';
import { frontmatterEnd } from '../../src/core/document/protected-regions.ts';

const line = fc.constantFrom('', '# Title', '- a rule', 'name: x', '---', ' --- ', '```');
const lines = fc.array(line, { maxLength: 8 }).map((all) => all.join('\n'));
const head = fc.constantFrom('', '---\nname: pdf\n---\n', '---\nname: pdf\ndescription: x\n---\n');
const text = fc.tuple(head, lines).map((parts) => parts.join(''));
const document = fc
  .tuple(fc.constantFrom('', '\uFEFF'), text, fc.boolean())
  .map(([mark, body, isCrlf]) => mark + (isCrlf ? body.replaceAll('\n', '\r\n') : body));

const headOf = (whole: string) => whole.replace('\uFEFF', '').slice(0, frontmatterEnd(whole.replace('\uFEFF', '')));

describe('keepForm', () => {
  it('keeps byte order mark, frontmatter and line endings of any document', () => {
    fc.assert(
      fc.property(text, document, (trained, before) => {
        const after = keepForm(trained, before);
        expect(after.startsWith('\uFEFF')).toBe(before.startsWith('\uFEFF'));
        if (headOf(before) !== '') expect(headOf(after)).toBe(headOf(before));
        if (before.includes('\r\n')) expect(after).not.toMatch(/(?<!\r)\n/);
      }),
    );
  });

  it('changes nothing of the document itself', () => {
    fc.assert(fc.property(document, (before) => keepForm(before, before) === before));
  });
});
