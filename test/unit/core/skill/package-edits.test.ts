import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  applyPatchWithReport,
  joinPackage,
  policyOf,
  type SkillPart,
  splitPackage,
  withinBudget,
} from '../../../../src/core/document/index.ts';

const SKILL = '---\nname: pdf\ndescription: Reads PDF files.\n---\n\n# Body\n';
const FILES = { 'SKILL.md': SKILL, 'references/a.md': 'one\n', 'scripts/run.py': 'def f():\n    return 1\n' };

function apply(edit: object, parts: readonly SkillPart[] = ['body', 'references', 'scripts']) {
  const { skill, report } = applyPatchWithReport(joinPackage(FILES), { edits: [edit] }, { isPackage: true, parts });
  return { files: splitPackage(skill), status: report[0]!.status };
}

describe('edits of files', () => {
  it('change SKILL.md unless they name another', () => {
    expect(apply({ op: 'append', content: 'more' }).files).toEqual({ ...FILES, 'SKILL.md': `${SKILL}\nmore\n` });
    expect(apply({ op: 'replace', file: 'references/a.md', target: 'one', content: 'two' }).files).toEqual({
      ...FILES,
      'references/a.md': 'two\n',
    });
  });

  it('keep the indent of code', () => {
    const edit = { op: 'replace', file: 'scripts/run.py', target: '    return 1', content: '    return 2' };
    expect(apply(edit).files['scripts/run.py']).toBe('def f():\n    return 2\n');
  });

  it('create and delete whole files', () => {
    const created = apply({ op: 'create_file', file: 'scripts/new.sh', content: '\n#!/bin/sh\necho\n\n' });
    expect(created.files['scripts/new.sh']).toBe('#!/bin/sh\necho\n');
    expect(apply({ op: 'delete_file', file: 'references/a.md' }).files).toEqual({
      'SKILL.md': SKILL,
      'scripts/run.py': FILES['scripts/run.py'],
    });
  });

  it.each([
    ['../out.md', 'skipped_path'],
    ['/etc/x.md', 'skipped_path'],
    ['references/../../x.md', 'skipped_path'],
    ['references\\x.md', 'skipped_path'],
    ['references/a\u0007.md', 'skipped_path'],
    ['.env', 'skipped_path'],
    ['skillopt.config.mjs', 'skipped_path'],
    ['tools/x.sh', 'skipped_path'],
    ['skill.md', 'skipped_path'],
    ['references/A.md', 'skipped_path'],
    ['references/a.md/b.md', 'skipped_path'],
    ['references/a.md', 'skipped_file_exists'],
    ['references/b.md', 'applied_create_file'],
    ['forms.md', 'applied_create_file'],
  ])('a new file %j is %s', (file, status) => {
    expect(apply({ op: 'create_file', file, content: 'x' }).status).toBe(status);
  });

  it('leave the parts alone that are not trained, and the frontmatter', () => {
    const script = { op: 'append', file: 'scripts/run.py', content: 'x' };
    expect(apply(script, ['body', 'references'])).toEqual({ files: FILES, status: 'skipped_part' });
    expect(apply({ op: 'append', content: 'x' }, ['scripts']).status).toBe('skipped_part');
    expect(apply({ op: 'replace', target: 'Reads PDF', content: 'x' }).status).toBe('skipped_protected_region');
    expect(apply({ op: 'delete_file', file: 'SKILL.md' }).status).toBe('skipped_protected_region');
  });

  it('need a policy: a document alone has no other files', () => {
    const { skill, report } = applyPatchWithReport(SKILL, { edits: [{ op: 'append', file: 'a.md', content: 'x' }] });
    expect([skill, report[0]!.status]).toEqual([SKILL, 'skipped_part']);
  });
});

describe('edits of the description', () => {
  const describe = (skill: string, edit: object) => {
    const { skill: after, report } = applyPatchWithReport(
      skill,
      { edits: [edit] },
      { isPackage: false, parts: ['description'] },
    );
    const header = parse(/^---\n(.*?)\n---/s.exec(after)![1]!) as { description: string };
    return { value: header.description, status: report[0]!.status, rest: after.slice(after.indexOf('\n---')) };
  };
  const rest = '\n---\n\n# Body\n';

  it.each([
    ['plain', 'description: Reads PDF files.'],
    ['quoted', 'description: "Reads PDF files."'],
    ['single quotes', "description: 'Reads PDF files.'"],
    ['folded', 'description: >-\n  Reads PDF\n  files.'],
    ['a comment', 'description: Reads PDF files. # what it does'],
  ])('read it as YAML does: %s', (_name, field) => {
    const skill = `---\nname: pdf\n${field}\n---\n\n# Body\n`;
    const edit = { op: 'replace', target: 'PDF files', content: 'PDF: "forms" & tables' };
    expect(describe(skill, edit)).toEqual({ value: 'Reads PDF: "forms" & tables.', status: 'applied_replace', rest });
  });

  it('add to it and take away from it', () => {
    expect(describe(SKILL, { op: 'append', content: 'Use for forms.' }).value).toBe('Reads PDF files. Use for forms.');
    expect(describe(SKILL, { op: 'delete', target: ' PDF' }).value).toBe('Reads files.');
  });

  it('take the place of all of it when the field is quoted with its name', () => {
    const edit = { op: 'replace', target: 'description: Reads PDF files.', content: 'description: Fills forms.' };
    expect(describe(SKILL, edit).value).toBe('Fills forms.');
  });

  it('do not reach the body', () => {
    const status = { value: 'Reads PDF files.', rest };
    expect(describe(SKILL, { op: 'replace', target: '# Body', content: 'x' })).toEqual({
      ...status,
      status: 'skipped_part',
    });
  });
});

describe('what a step may change', () => {
  it('is one document by default', () => {
    expect([policyOf({}, 1), policyOf({ parts: ['body'] }, 1)]).toEqual([undefined, undefined]);
  });

  it('is the description and the rest in turns', () => {
    const parts = [1, 2, 3].map((step) => policyOf({ parts: ['body', 'scripts', 'description'] }, step)!.parts);
    expect(parts).toEqual([['body', 'scripts'], ['description'], ['body', 'scripts']]);
  });

  it('is paid from one budget, of which scripts take three', () => {
    const files = ['SKILL.md', 'scripts/a', 'references/a', 'scripts/b', 'references/b'];
    const taken = (budget: number) =>
      withinBudget(
        files.map((file) => ({ file })),
        budget,
      ).map(({ file }) => file);
    expect(taken(4)).toEqual(['SKILL.md', 'scripts/a']);
    expect(taken(2)).toEqual(['SKILL.md', 'references/a']);
    expect(withinBudget([{ file: 'scripts/a' }], 1)).toHaveLength(1);
    expect(withinBudget([{}], 0)).toEqual([]);
  });
});
