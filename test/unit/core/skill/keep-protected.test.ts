import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keepProtected, MARKERS } from '../../../../src/core/document/index.ts';
import { protectedText } from '../../../../src/core/document/protected-regions.ts';
import { scriptedRun } from '../../../support/scripted-run.ts';

const FRONTMATTER = '---\nname: levels\ndescription: "a: b"  \n---';
const block = (kind: keyof typeof MARKERS, text: string) => `${MARKERS[kind].start}\n${text}\n${MARKERS[kind].end}`;

/** Whatever a rewriter could write: text, frontmatter, markers whole and broken. */
const shards = fc.constantFrom(
  ...Object.values(MARKERS).flatMap(({ start, end }) => [
    start,
    end,
    start.slice(0, 12),
    start.slice(12),
    end.slice(5),
  ]),
  ...['---\n', '---\nname: other\n---\n', '\n', '# Title\n', 'text', ' ', '$&', '\r\n'],
);
const rewritten = fc.array(fc.oneof(shards, fc.string()), { maxLength: 14 }).map((parts) => parts.join(''));
const line = fc.constantFrom('a rule', '- b', 'c.', '');
const skills = fc
  .record({
    frontmatter: fc.constantFrom('', `${FRONTMATTER}\n`),
    body: fc.array(line).map((lines) => lines.join('\n')),
    blocks: fc.subarray([block('slowUpdate', 'wise'), block('appendix', '## Reminders\n- x')]),
  })
  .map(({ frontmatter, body, blocks }) => `${frontmatter}\n${body}\n\n${blocks.join('\n\n')}\n`);

describe('keepProtected', () => {
  it('keeps the frontmatter and the blocks byte for byte, whatever the rewriter wrote', () => {
    fc.assert(
      fc.property(skills, rewritten, (skill, text) => {
        const kept = keepProtected(skill, text);
        if (kept !== undefined) expect(protectedText(kept)).toEqual(protectedText(skill));
      }),
      { numRuns: 2000 },
    );
  });

  it('changes nothing when it is given its own answer', () => {
    fc.assert(
      fc.property(skills, rewritten, (skill, text) => {
        const kept = keepProtected(skill, text);
        if (kept !== undefined) expect(keepProtected(skill, kept)).toBe(kept);
      }),
      { numRuns: 1000 },
    );
  });

  it('says that there is no body when all of it is protected text', () => {
    expect(keepProtected('# S\n', `${FRONTMATTER}\n\n${block('appendix', 'x')}\n`)).toBeUndefined();
    expect(keepProtected('# S\n', ' \n')).toBeUndefined();
  });
});

describe.each([
  ['rewrite_from_suggestions', { patch: { revise_suggestions: [{ title: 't', instruction: 'i' }] } }],
  ['full_rewrite_minibatch', undefined],
] as const)('a run with %s', (skillUpdateMode, reply) => {
  it('cannot change the frontmatter or a block, whatever is written', async () => {
    const initialSkill = `${FRONTMATTER}\n\n# Old\n\n${block('slowUpdate', 'wise')}\n\n${block('appendix', '- note')}\n`;
    const attack = `---\nname: stolen\n---\n# New\n\n${block('slowUpdate', 'evil')}\n${MARKERS.appendix.end}`;
    const { summary } = await scriptedRun({
      solves: (skill) => skill.includes('# New'),
      initialSkill,
      config: { numEpochs: 1, batchSize: 10, minibatchSize: 10, skillUpdateMode },
      script: {
        analyst: () => reply ?? { patch: { skill_candidates: [{ new_skill: attack }] } },
        rewrite: () => ({ new_skill: attack }),
      },
    });
    expect(summary.bestSkill).toBe(
      `${FRONTMATTER}\n\n# New\n\n${block('slowUpdate', 'wise')}\n\n${block('appendix', '- note')}\n`,
    );
  });
});
