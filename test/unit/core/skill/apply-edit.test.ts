import { describe, expect, it } from 'vitest';
import { applyEdit, applyPatch, applyPatchWithReport } from '../../../../src/core/document/index.ts';

const doc = '# S\n\n## Rules\n- a\n- b\n- a\n';
const slow = '<!-- SLOW_UPDATE_START -->\nslow text\n<!-- SLOW_UPDATE_END -->\n';
const guarded = `# S\n- a\n\n${slow}`;

function apply(skill: string, edit: unknown) {
  const { skill: text, report } = applyPatchWithReport(skill, { edits: [edit] });
  return { text, status: report[0]!.status };
}

describe('append', () => {
  it('adds a paragraph at the end', () => {
    expect(apply(doc, { op: 'append', content: '- new' })).toEqual({
      text: `${doc}\n- new\n`,
      status: 'applied_append',
    });
  });

  it('trims the content and the end of the document', () => {
    expect(applyEdit('# S  \n\n\n', { op: 'append', content: '\n  - new \n' })).toBe('# S\n\n- new\n');
  });

  it('goes before the first marked block, so that those stay last', () => {
    expect(apply(guarded, { op: 'append', content: '- new' })).toEqual({
      text: `# S\n- a\n\n- new\n\n${slow}`,
      status: 'applied_append_before_protected_region',
    });
  });

  it('starts the document when a marked block is all there is', () => {
    expect(applyEdit(slow, { op: 'append', content: '- new' })).toBe(`- new\n\n${slow}`);
  });

  it.each([
    ['no content', { op: 'append' }],
    ['empty content', { op: 'append', content: '' }],
    ['blank content', { op: 'append', content: ' \n\t' }],
    ['an insertion of nothing', { op: 'insert_after', target: '- a', content: '' }],
    ['an insertion of nothing after nothing', { op: 'insert_after', target: 'missing', content: ' ' }],
  ])('with %s changes nothing and says so', (_, edit) => {
    expect(apply(doc, edit)).toEqual({ text: doc, status: 'skipped_empty_content' });
  });
});

describe('insert_after', () => {
  const inserted = '# S\n\n## Rules\n- a\n\n- ins\n- b\n- a\n';

  it('goes after the line in which the target ends', () => {
    const edit = { op: 'insert_after', target: '- a', content: '- ins' };
    expect(apply(doc, edit)).toEqual({ text: inserted, status: 'applied_insert_after' });
  });

  it.each([
    ['- a\n', doc, inserted],
    ['- a\r\n', '- a\r\n- b\r\n', '- a\r\n\n- ins\n- b\r\n'],
    ['- a\n\n', '- a\n\n- b\n', '- a\n\n- ins\n\n- b\n'],
    ['\n', 'a\nb\n', 'a\n\n- ins\nb\n'],
  ])('weakness 9: a target that ends in a newline does not land late (%j)', (target, skill, text) => {
    expect(applyEdit(skill, { op: 'insert_after', target, content: '- ins' })).toBe(text);
  });

  it('finishes the line when the target ends in the middle of it', () => {
    expect(applyEdit('one two\nthree\n', { op: 'insert_after', target: 'one', content: 'x' })).toBe(
      'one two\n\nx\nthree\n',
    );
  });

  it('goes to the end when the target is in a last line without newline', () => {
    expect(applyEdit('one\ntwo', { op: 'insert_after', target: 'two', content: 'x' })).toBe('one\ntwo\nx\n');
  });

  it.each(['missing', ''])('appends, and says so, when the target is %j', (target) => {
    const edit = { op: 'insert_after', target, content: '- ins' };
    expect(apply(doc, edit)).toEqual({ text: `${doc}\n- ins\n`, status: 'applied_insert_after_fallback_append' });
    expect(apply(guarded, edit)).toEqual({
      text: `# S\n- a\n\n- ins\n\n${slow}`,
      status: 'applied_insert_after_fallback_before_protected_region',
    });
  });

  it('is skipped when the line of the target ends inside a protected region', () => {
    const skill = 'text <!-- SLOW_UPDATE_START -->\nslow\n<!-- SLOW_UPDATE_END -->\n';
    const edit = { op: 'insert_after', target: 'text', content: 'x' };
    expect(apply(skill, edit)).toEqual({ text: skill, status: 'skipped_protected_region' });
  });

  it('may go between the line before a protected region and the region', () => {
    const edit = { op: 'insert_after', target: '- a\n', content: 'x' };
    expect(applyEdit(`- a\n${slow}`, edit)).toBe(`- a\n\nx\n${slow}`);
  });
});

describe('replace', () => {
  it('changes the first occurrence alone', () => {
    const edit = { op: 'replace', target: '- a', content: '- A!' };
    expect(apply(doc, edit)).toEqual({ text: '# S\n\n## Rules\n- A!\n- b\n- a\n', status: 'applied_replace' });
  });

  it('takes the content literally', () => {
    const content = '$& $1 \\1 $$';
    expect(applyEdit('x', { op: 'replace', target: 'x', content })).toBe(content);
  });

  it('takes the target as it is, untrimmed', () => {
    expect(applyEdit('ab a b', { op: 'replace', target: 'a ', content: 'x' })).toBe('ab xb');
  });

  it('without content takes the target away', () => {
    expect(apply('ab', { op: 'replace', target: 'a' })).toEqual({ text: 'b', status: 'applied_replace' });
  });

  it('needs a target that is there', () => {
    expect(apply(doc, { op: 'replace', content: 'x' }).status).toBe('skipped_replace_missing_target');
    expect(apply(doc, { op: 'replace', target: 'no', content: 'x' })).toEqual({
      text: doc,
      status: 'skipped_replace_target_not_found',
    });
  });
});

describe('delete', () => {
  it('takes the first occurrence away and leaves its empty line', () => {
    const edit = { op: 'delete', target: '- a' };
    expect(apply(doc, edit)).toEqual({ text: '# S\n\n## Rules\n\n- b\n- a\n', status: 'applied_delete' });
  });

  it('needs a target that is there', () => {
    expect(apply(doc, { op: 'delete' }).status).toBe('skipped_delete_missing_target');
    expect(apply(doc, { op: 'delete', target: 'no' })).toEqual({
      text: doc,
      status: 'skipped_delete_target_not_found',
    });
  });
});

describe('protected regions', () => {
  it.each(['append', 'insert_after', 'replace', 'delete'])('%s with a target in one is skipped', (op) => {
    const edit = { op, target: 'slow text', content: '- new' };
    expect(apply(guarded, edit)).toEqual({ text: guarded, status: 'skipped_protected_region' });
  });

  it('weakness 8: an edit whose target starts before a region and reaches into it is skipped whole', () => {
    const edit = { op: 'replace', target: '- a\n\n<!-- SLOW_UPDATE_START -->', content: '- a' };
    expect(apply(guarded, edit)).toEqual({ text: guarded, status: 'skipped_protected_region' });
    const tail = { op: 'delete', target: '<!-- SLOW_UPDATE_END -->\nafter' };
    expect(apply(`${guarded}after\n`, tail).status).toBe('skipped_protected_region');
  });

  it('weakness 8: the second pair of a marker is protected like the first', () => {
    const skill = `${slow}between\n${slow.replace('slow text', 'second')}`;
    expect(apply(skill, { op: 'delete', target: 'second' }).status).toBe('skipped_protected_region');
    expect(apply(skill, { op: 'delete', target: 'between' }).status).toBe('applied_delete');
  });

  it('an edit that would put two halves of a marker together is skipped', () => {
    const skill = '<!-- SLOW_UPDATE_x\nSTART -->\n';
    expect(apply(skill, { op: 'delete', target: 'x\n' })).toEqual({ text: skill, status: 'skipped_protected_region' });
  });

  it('a block that is never closed protects the rest of the document', () => {
    const skill = 'a\n<!-- APPENDIX_START -->\nb\n';
    expect(apply(skill, { op: 'delete', target: 'b' }).status).toBe('skipped_protected_region');
    expect(applyEdit(skill, { op: 'append', content: 'c' })).toBe('a\n\nc\n\n<!-- APPENDIX_START -->\nb\n');
  });

  const frontmatter = '---\nname: s\ndescription: d\n---\n';

  it('frontmatter is one', () => {
    const skill = `${frontmatter}\n# S\n`;
    expect(apply(skill, { op: 'replace', target: 'name: s', content: 'name: t' }).status).toBe(
      'skipped_protected_region',
    );
    expect(applyEdit(skill, { op: 'delete', target: '# S' })).toBe(`${frontmatter}\n\n`);
  });

  it.each(['---\nname: s\n---', '---\nname: s\n---\n', '---\nname: s\n---  ', '---\r\nname: s\r\n---\r\n'])(
    'a document of frontmatter alone can grow (%j)',
    (skill) => {
      expect(apply(skill, { op: 'append', content: 'x' })).toEqual({
        text: `${skill.trimEnd()}\n\nx\n`,
        status: 'applied_append',
      });
    },
  );
});

describe('what a reader would not see', () => {
  const HIDING: readonly (readonly [string, string, string])[] = [
    ['a marker', 'x <!-- SLOW_UPDATE_START --> y <!-- APPENDIX_END -->', 'skipped_marker'],
    ['a marker in a code fence', '```\n<!-- APPENDIX_END -->\n```', 'skipped_marker'],
    ['a marker round another', 'x<!-- SLOW_<!-- APPENDIX_END -->UPDATE_START -->', 'skipped_marker'],
    ['a comment', 'x <!-- do as I say --> y', 'skipped_html_comment'],
    ['a comment over lines', 'x <!--\ndo as I say\n-->', 'skipped_html_comment'],
    ['a comment that is never closed', 'x <!-- do as I say', 'skipped_html_comment'],
    ['a comment in a code span', '`<!-- x -->`', 'skipped_html_comment'],
    ['a comment after a code fence', '```\na\n```\n<!-- x -->', 'skipped_html_comment'],
    ['an escape sequence', 'x \u001b[2J', 'skipped_hidden_character'],
    ['a NUL', 'x\u0000y', 'skipped_hidden_character'],
    ['a line that is written over', 'x\ry', 'skipped_hidden_character'],
    ['text in the other direction', 'x \u202eyas I sa od', 'skipped_hidden_character'],
    ['an isolate', '\u2066x\u2069', 'skipped_hidden_character'],
    ['a zero-width space', 'x\u200by', 'skipped_hidden_character'],
    ['a word joiner', 'x\u2060y', 'skipped_hidden_character'],
    ['a joiner between plain letters', 'x\u200dy', 'skipped_hidden_character'],
    ['two selectors after an emoji', '❤\ufe0f\ufe0f', 'skipped_hidden_character'],
    ['tags', 'x\u{e0064}\u{e006f}', 'skipped_hidden_character'],
    ['half a character', 'x \ud83d y', 'skipped_hidden_character'],
  ];

  it.each(HIDING)('%s is refused in whatever an edit writes', (_, content, status) => {
    for (const op of ['append', 'insert_after', 'replace']) {
      expect(apply(doc, { op, target: '- b', content })).toEqual({ text: doc, status });
    }
    expect(apply(doc, { op: 'delete', target: '- b', content }).status).toBe('applied_delete');
  });

  it.each([
    ['emoji', '👩‍💻 ❤️‍🔥 👩🏽‍🚀 🏳️‍🌈 1️⃣ ©️'],
    ['text from right to left', 'שלום עולם, مرحبا بالعالم'],
    ['words that are spelled with a joiner', 'می‌خواهم, क्‍ष, ශ්‍රී'],
    ['a comment in a code fence', '```html\n<!-- x -->\n```'],
    ['an open one in a fence of tildes', '~~~\n<!-- x\n~~~'],
    ['an arrow', 'a --> b'],
    ['tabs and line ends of Windows', 'a\tb\r\nc'],
  ])('%s can be written', (_, content) => {
    expect(apply(doc, { op: 'append', content })).toEqual({ text: `${doc}\n${content}\n`, status: 'applied_append' });
  });

  it.each([
    ['halves that make a comment', 'a <!X b\n', { op: 'replace', target: 'X', content: '-- c' }],
    ['a fence whose loss uncovers one', '```\n<!-- x -->\n```\n', { op: 'delete', target: '```\n' }],
    ['a fence that closes another', '```\nopen\n', { op: 'append', content: '```\n<!-- x -->\n```' }],
    ['a text inside one', 'a <!-- b --> c\n', { op: 'replace', target: 'b', content: 'do as I say' }],
    ['the end of one', 'a <!-- b\nc\n', { op: 'append', content: 'd --> e' }],
  ])('%s is refused by what it would make of the document', (_, skill, edit) => {
    expect(apply(skill, edit)).toEqual({ text: skill, status: 'skipped_html_comment' });
  });

  it('stands where its author put it, and may be moved or taken away', () => {
    const skill = '<!-- licence -->\n# S\u00ad\n- a\n';
    expect(applyEdit(skill, { op: 'append', content: '- b' })).toBe(`${skill}\n- b\n`);
    expect(applyEdit(skill, { op: 'delete', target: '<!-- licence -->\n' })).toBe('# S\u00ad\n- a\n');
    expect(applyEdit(skill, { op: 'replace', target: '# S\u00ad', content: '# T\u00ad' })).toContain('# T\u00ad');
  });
});

describe('edits that nobody checked', () => {
  it.each(['DELETE', 'Append', ' append', 'toString', 'constructor', '__proto__', ''])('op %j is unknown', (op) => {
    expect(apply(doc, { op, target: '- a', content: 'x' })).toEqual({ text: doc, status: 'skipped_unknown_op' });
  });

  it.each([
    ['text', 'an edit must be an object, got "text"'],
    [null, 'an edit must be an object, got null'],
    [['append'], 'an edit must be an object, got ["append"]'],
    [undefined, 'an edit must be an object, got undefined'],
    [{ op: 'append', content: null }, 'content must be text, got null'],
    [{ op: 'replace', target: null, content: 'x' }, 'target must be text, got null'],
    [{ op: 7, content: 'x' }, 'op must be text, got 7'],
  ])('%j is a row, not a throw', (edit, error) => {
    expect(applyPatchWithReport(doc, { edits: [edit] })).toEqual({
      skill: doc,
      report: [{ index: 1, op: '', target: '', contentPreview: '', status: 'error', error }],
    });
  });

  it('an endless wrong value is cut in the row', () => {
    const { report } = applyPatchWithReport(doc, { edits: [{ op: 'append', content: ['x'.repeat(5_000)] }] });
    expect(report[0]!.error).toHaveLength('content must be text, got '.length + 200);
  });
});

describe('a patch', () => {
  it('is applied in order, each edit to what the one before it left', () => {
    const edits = [
      { op: 'append', content: '- c' },
      { op: 'replace', target: '- c', content: '- d' },
    ];
    expect(applyPatch(doc, { edits })).toBe(`${doc}\n- d\n`);
  });

  it('continues after an edit that does not fit, and reports each by its place', () => {
    const edits = [
      { op: 'append', content: 'one' },
      'nonsense',
      { op: 'delete', target: 'no' },
      { op: 'append', content: 'two' },
    ];
    const { skill, report } = applyPatchWithReport('# S\n', { edits });
    expect(skill).toBe('# S\n\none\n\ntwo\n');
    expect(report.map((row) => [row.index, row.status])).toEqual([
      [1, 'applied_append'],
      [2, 'error'],
      [3, 'skipped_delete_target_not_found'],
      [4, 'applied_append'],
    ]);
  });

  it('with no edits is the same text', () => {
    expect(applyPatchWithReport(doc, { edits: [] })).toEqual({ skill: doc, report: [] });
  });

  it('is reported with texts cut at 200 code points, never in the middle of one', () => {
    const long = '🙂'.repeat(300);
    const { report } = applyPatchWithReport(long, { edits: [{ op: 'replace', target: long, content: long }] });
    expect(report[0]).toMatchObject({ target: '🙂'.repeat(200), contentPreview: '🙂'.repeat(200) });
  });
});
