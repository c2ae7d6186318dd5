import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applyPatchWithReport,
  joinPackage,
  SKILL_PARTS,
  type SkillPart,
  splitPackage,
} from '../../../src/core/document/index.ts';
import { isNewPath } from '../../../src/core/document/package.ts';

/** Pieces that make lines which look like those between files likely. */
const piece = fc.oneof(
  fc.constantFrom('=== file: ', 'a.md', ' ===', '\n', '\r\n', '\\', '\\\\', '=== file: b ===\n', '\n=== file: c ==='),
  fc.constantFrom('---\n', 'name: x\n', 'description: does things\n', 'text', '\u2028', '\r'),
  fc.string({ maxLength: 4 }),
);
const soup = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
const path = fc.oneof(
  fc.constantFrom('references/a.md', 'scripts/run.sh', 'b ===', '=== file: x ===', '__proto__', '12', 'notes.md'),
  fc.string({ minLength: 1, maxLength: 8 }).filter((name) => !name.includes('\n') && name !== 'SKILL.md'),
);
const files = fc
  .tuple(soup, fc.array(fc.tuple(path, soup), { maxLength: 4 }))
  .map(([skill, others]) => Object.fromEntries([...others, ['SKILL.md', skill]]));

describe('a package as one text', () => {
  it('gives every file back byte for byte', () => {
    fc.assert(
      fc.property(files, (all) => {
        expect(splitPackage(joinPackage(all))).toEqual(all);
      }),
    );
  });

  it('begins with SKILL.md, and is nothing else where that is alone and names no file', () => {
    fc.assert(
      fc.property(soup, (skill) => {
        if (!/=== file: /.test(skill)) expect(joinPackage({ 'SKILL.md': skill })).toBe(skill);
        expect(splitPackage(joinPackage({ 'SKILL.md': skill }))).toEqual({ 'SKILL.md': skill });
      }),
    );
  });

  it('is read whatever it is, and reads the same once it was written again', () => {
    fc.assert(
      fc.property(soup, (text) => {
        expect(splitPackage(joinPackage(splitPackage(text)))).toEqual(splitPackage(text));
      }),
    );
  });
});

const somePaths = fc.oneof(
  fc.constantFrom(
    'SKILL.md',
    'references/a.md',
    'scripts/run.sh',
    'assets/logo.svg',
    'references/new.md',
    'scripts/new.sh',
  ),
  fc.constantFrom(
    '../x.md',
    '/etc/x.md',
    'references/../../x',
    'references\\x.md',
    'references/a\u0000.md',
    'skill.md',
    '',
  ),
);
const edit = fc.record({
  op: fc.constantFrom('append', 'insert_after', 'replace', 'delete', 'create_file', 'delete_file'),
  file: somePaths,
  target: fc.oneof(fc.constantFrom('one', 'echo', 'does things', 'Body'), soup),
  content: soup,
});
const BASE = {
  'SKILL.md': '---\nname: x\ndescription: does things\n---\n\n# Body\n\none\n',
  'references/a.md': '# A\n\none\n',
  'scripts/run.sh': '#!/bin/sh\necho one\n',
};
const PART_OF = (name: string): SkillPart =>
  name === 'SKILL.md' ? 'body' : name.startsWith('scripts/') ? 'scripts' : 'references';

describe('edits of a package', () => {
  it('change the parts that they may, and no others, and never lead out of it', () => {
    const parts = fc.subarray(
      SKILL_PARTS.filter((part) => part !== 'description'),
      { minLength: 1 },
    );
    fc.assert(
      fc.property(parts, fc.array(edit, { maxLength: 4 }), (allowed, edits) => {
        const { skill, report } = applyPatchWithReport(
          joinPackage(BASE),
          { edits },
          { isPackage: true, parts: allowed },
        );
        const after = splitPackage(skill);
        const names = new Set([...Object.keys(BASE), ...Object.keys(after)]);
        for (const name of names) {
          const isSame = after[name] === (BASE as Record<string, string>)[name];
          if (!isSame) expect(allowed).toContain(PART_OF(name));
          if (!(name in BASE)) expect(isNewPath(name)).toBe(true);
        }
        expect(after['SKILL.md']!.startsWith('---\nname: x\ndescription: does things\n---')).toBe(true);
        expect(
          report.map(({ status }) => status).filter((one) => !((status) => /^(applied|skipped)_/.test(status))(one)),
        ).toEqual([]);
      }),
    );
  });

  it('of the description leave everything else as it is', () => {
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 4 }), (edits) => {
        const { skill } = applyPatchWithReport(
          BASE['SKILL.md'],
          { edits },
          { isPackage: false, parts: ['description'] },
        );
        expect(skill).toMatch(/^---\nname: x\ndescription: [^\n]*\n---\n\n# Body\n\none\n$/);
      }),
    );
  });
});
