import { describe, expect, it } from 'vitest';
import { ModelCallError } from '../../../src/core/contracts/index.ts';
import type { UpdateItem } from '../../../src/core/document/index.ts';
import { type ScriptedReply, scripted } from '../../../src/models/index.ts';
import { createStageDeps, rankAndSelect } from '../../../src/pipeline/index.ts';

const edits: UpdateItem[] = [0, 1, 2, 3].map((index) => ({ op: 'append', target: '', content: `edit ${index}` }));
const patch = { edits, reasoning: 'merged' };

async function select(answer: () => ScriptedReply | Promise<ScriptedReply>, editBudget = 2, chosenFrom = patch) {
  const optimizer = scripted('optimizer', answer);
  const deps = createStageDeps({ target: scripted('target', () => ''), optimizer });
  const selected = await rankAndSelect({ skill: '# S', patch: chosenFrom, editBudget }, deps);
  const indices = selected.edits.map((edit) => chosenFrom.edits.indexOf(edit));
  return { selected, indices, requests: optimizer.requests };
}
const ranking = (indices: unknown) => () => JSON.stringify({ reasoning: 'these', selected_indices: indices });

describe('rankAndSelect', () => {
  it('shows the skill and the numbered edits, fenced as data', async () => {
    const rich: UpdateItem[] = [
      { op: 'replace', target: 'a\nb', content: 'c', supportCount: 3, sourceType: 'success' },
      ...edits,
    ];
    const { requests } = await select(ranking([0]), 2, { ...patch, edits: rich.slice(0, 3) });
    expect(requests[0]!.messages[1]!.content.replaceAll(/-[0-9a-f]{8}>/g, '-NONCE>')).toMatchInlineSnapshot(`
      "## Current skill
      <skill-NONCE>
      # S
      </skill-NONCE>

      ## Edits (3, keep at most 2)
      <edits-NONCE>
      [0] {"op":"replace","target":"a\\nb","content":"c","support_count":3,"source_type":"success"}
      [1] {"op":"append","target":"","content":"edit 0"}
      [2] {"op":"append","target":"","content":"edit 1"}
      </edits-NONCE>"
    `);
    expect(requests[0]).toMatchObject({ stage: 'ranking' });
  });

  it('keeps what was chosen, best first, and says why', async () => {
    const { selected, indices } = await select(ranking([2, 0]));
    expect(indices).toEqual([2, 0]);
    expect(selected).toMatchObject({
      reasoning: 'merged',
      rankingDetails: { selectedIndices: [2, 0], reasoning: 'these' },
    });
  });

  it.each([
    ['more than the budget', [3, 2, 1, 0], [3, 2]],
    ['fewer than the budget', [3], [3]],
    ['doubles and strangers', [2, 2, 9, -1, '1', 1.0, true, 0], [2, 1]],
    ['texts and truths', ['1', true, null, [3], 2.5, 3], [3]],
  ])('reads a list with %s', async (_, given, taken) => {
    expect((await select(ranking(given))).indices).toEqual(taken);
  });

  it.each([
    ['nothing chosen', ranking([])],
    ['nobody there chosen', ranking([99])],
    ['null', ranking(null)],
    ['prose', () => 'The first two, I think.'],
  ])('falls back to the order of the edits when a ranking has %s', async (_, answer) => {
    const { selected, indices } = await select(answer);
    expect(indices).toEqual([0, 1]);
    expect(selected.rankingDetails).toEqual({ fallback: 'failure first, then support' });
  });

  it('weakness 28: falls back to failures first, then support; equals keep their order', async () => {
    const rows = [
      ['success', 9],
      ['failure', 1],
      [undefined, 3],
      ['failure', 3],
      ['failure', undefined],
      ['success', 10],
    ] as const;
    const many = rows.map(([sourceType, supportCount], index): UpdateItem => {
      const origin = { ...(sourceType && { sourceType }), ...(supportCount && { supportCount }) };
      return { op: 'append', target: '', content: `edit ${index}`, ...origin };
    });
    const { indices } = await select(() => 'prose', 5, { edits: many, reasoning: '' });
    expect(indices).toEqual([2, 3, 1, 4, 5]);
  });

  it.each([4, 5])('weakness 32: asks nothing when 4 edits fit into a budget of %i', async (budget) => {
    const { selected, requests } = await select(ranking([0]), budget);
    expect(selected).toBe(patch);
    expect(requests).toEqual([]);
  });

  it.each([ranking([2, 0]), () => 'prose'])(
    'weakness 4: budget 0 applies nothing, and asks nothing',
    async (answer) => {
      const { selected, requests } = await select(answer, 0);
      expect(selected.edits).toEqual([]);
      expect(requests).toEqual([]);
    },
  );

  it('lets the empty patch through', async () => {
    expect((await select(ranking([0]), 0, { edits: [], reasoning: '' })).selected.edits).toEqual([]);
  });

  it('shows a malformed ranking its error once', async () => {
    const replies = ['Two and zero.', '{"selected_indices": [2, 0]}'];
    const { indices, requests } = await select(() => replies.shift()!);
    expect([indices, requests.length]).toEqual([[2, 0], 2]);
  });

  it('stops the run when the optimizer cannot be reached', async () => {
    const error = new ModelCallError('503', { status: 503 });
    await expect(select(() => Promise.reject(error))).rejects.toBe(error);
  });
});
