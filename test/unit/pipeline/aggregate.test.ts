import { setImmediate as tick } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type ChatRequest, ModelCallError } from '../../../src/core/contracts/index.ts';
import type { RawPatch, SourceType, UpdateItem } from '../../../src/core/document/index.ts';
import { type ScriptedReply, scripted } from '../../../src/models/index.ts';
import { createStageDeps, mergePatches } from '../../../src/pipeline/index.ts';

type Reply = (request: ChatRequest) => ScriptedReply | Promise<ScriptedReply>;

const edit = (content: string, sourceType: SourceType = 'failure', supportCount = 2): UpdateItem => {
  return { op: 'append', target: '', content, sourceType, supportCount };
};
const patchOf = (...edits: UpdateItem[]): RawPatch => {
  const [{ content, sourceType, supportCount }] = edits as [UpdateItem];
  return { patch: { reasoning: `for ${content}`, edits }, sourceType: sourceType!, batchSize: supportCount! };
};
const failures = (...contents: string[]) => contents.map((content) => patchOf(edit(content)));
const successes = (...contents: string[]) => contents.map((content) => patchOf(edit(content, 'success')));

const userOf = (request: ChatRequest) => request.messages[1]!.content;
const promptOf = (request: ChatRequest) => {
  const [system] = request.messages;
  if (system!.content.includes('two patches')) return 'final';
  return system!.content.includes('failed attempts') ? 'failure' : 'success';
};
const reply = (edits: readonly object[], reasoning = 'merged') => JSON.stringify({ reasoning, edits });
/** Merges faithfully: every edit that it is shown, word for word. */
const faithful: Reply = (request) => {
  const blocks = [...userOf(request).matchAll(/<patches-\w+>\n([\s\S]*?)\n<\/patches/g)];
  return reply(blocks.flatMap(([, json]) => JSON.parse(json!)).flatMap((patch: { edits: object[] }) => patch.edits));
};

async function merge(patches: readonly RawPatch[], answer: Reply, { mergeBatchSize = 2, workers = 8 } = {}) {
  const optimizer = scripted('optimizer', answer);
  const deps = createStageDeps({ target: scripted('target', () => ''), optimizer, workers });
  const patch = await mergePatches({ skill: '# S', patches, mergeBatchSize }, deps);
  return { patch, requests: optimizer.requests };
}
const levels = (edits: readonly UpdateItem[]) => edits.map(({ content, mergeLevel }) => [content, mergeLevel]);

describe('mergePatches', () => {
  it('shows the optimizer the skill and the patches, fenced as data', async () => {
    const { requests } = await merge(failures('a', 'b'), faithful);
    expect(userOf(requests[0]!).replaceAll(/-[0-9a-f]{8}>/g, '-NONCE>')).toMatchInlineSnapshot(`
      "## Current skill
      <skill-NONCE>
      # S
      </skill-NONCE>

      ## Patches to merge (2, level 1)
      <patches-NONCE>
      [
        {
          "reasoning": "for a",
          "edits": [
            {
              "op": "append",
              "target": "",
              "content": "a",
              "source_type": "failure",
              "support_count": 2
            }
          ]
        },
        {
          "reasoning": "for b",
          "edits": [
            {
              "op": "append",
              "target": "",
              "content": "b",
              "source_type": "failure",
              "support_count": 2
            }
          ]
        }
      ]
      </patches-NONCE>"
    `);
    expect(requests[0]).toMatchObject({ stage: 'merge' });
  });

  it('shows both groups to the last merge, failures first', async () => {
    const { requests } = await merge([...successes('d'), ...failures('a')], faithful);
    expect(requests.map(promptOf)).toEqual(['final']);
    expect(userOf(requests[0]!)).toMatch(
      /## Failure patch \(high priority\)\n<patches-[\s\S]*"a"[\s\S]*## Success patch\n<patches-[\s\S]*"d"/,
    );
  });

  it.each([
    ['nothing', [], []],
    ['one failure patch', failures('a'), ['a']],
    ['one success patch', successes('d'), ['d']],
    [
      'patches without edits beside one that has some',
      [...failures('a'), { ...failures('x')[0]!, patch: { edits: [], reasoning: '' } }],
      ['a'],
    ],
  ])('gives %s back untouched, without a call', async (_, patches, contents) => {
    const { patch, requests } = await merge(patches, () => 'never asked');
    expect(patch.edits.map((one) => one.content)).toEqual(contents);
    expect(patch.edits).toEqual(patches[0]?.patch.edits ?? []);
    expect(requests).toEqual([]);
  });

  it.each([
    [1, 2, 0],
    [2, 2, 1],
    [3, 2, 2],
    [4, 2, 3],
    [5, 2, 4],
    [8, 8, 1],
    [9, 8, 2],
    [17, 8, 3],
  ])('merges %i patches %i at a time in %i calls', async (count, mergeBatchSize, calls) => {
    const patches = failures(...Array.from({ length: count }, (_, index) => `rule ${index}`));
    const { patch, requests } = await merge(patches, faithful, { mergeBatchSize });
    expect(requests).toHaveLength(calls);
    expect(patch.edits).toHaveLength(count);
  });

  it('merges three patches two at a time on two levels, and says which', async () => {
    const { patch, requests } = await merge(failures('a', 'b', 'c'), faithful);
    expect(requests.map((request) => userOf(request).match(/## Patches to merge \((.*)\)/)![1])).toEqual([
      '2, level 1',
      '2, level 2',
    ]);
    expect(levels(patch.edits)).toEqual([
      ['a', 2],
      ['b', 2],
      ['c', 2],
    ]);
  });

  it.each([1, 0])('an endless merge at batch size %i is a merge of two at a time', async (mergeBatchSize) => {
    const { requests } = await merge(failures('a', 'b', 'c'), faithful, { mergeBatchSize });
    expect(requests).toHaveLength(2);
  });

  it('falls back to every edit in order, failures first, each with the level where it came in', async () => {
    const patches = [...successes('d'), ...failures('a', 'b', 'c')];
    const { patch, requests } = await merge(patches, () => 'I am not able to merge these.');
    expect(levels(patch.edits)).toEqual([
      ['a', 1],
      ['b', 1],
      ['c', 2],
      ['d', undefined],
    ]);
    expect(patch.reasoning).toContain('failures first');
    expect(requests, 'each of three merges is shown its error once').toHaveLength(6);
  });

  it('takes an empty merge for an answer: the other group remains', async () => {
    const patches = [...failures('a', 'b'), ...successes('d')];
    const { patch } = await merge(patches, () => reply([]));
    expect(patch.edits).toEqual([edit('d', 'success')]);
    const nothing = await merge(failures('a', 'b'), () => reply([]));
    expect(nothing.patch.edits).toEqual([]);
  });

  it('weakness 10: does not depend on the order in which merges come back', async () => {
    const patches = [...failures('a', 'b', 'c', 'd', 'e', 'f'), ...successes('x', 'y', 'z', 'w')];
    let turn = 5;
    const backwards: Reply = async (request) => {
      for (let wait = Math.max(turn--, 0); wait > 0; wait--) await tick();
      return faithful(request);
    };
    const quick = await merge(patches, faithful);
    expect((await merge(patches, backwards)).patch).toEqual(quick.patch);
    expect((await merge(patches, faithful, { workers: 1 })).patch).toEqual(quick.patch);
  });

  it('weakness 30: merges failures and successes side by side', async () => {
    const waiting: string[] = [];
    let release = () => {};
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    const answer: Reply = async (request) => {
      waiting.push(promptOf(request));
      if (waiting.length === 2) release();
      await both; // never comes, if one group waits for the other
      return faithful(request);
    };
    await merge([...failures('a', 'b'), ...successes('d', 'e')], answer);
    expect(waiting.slice(0, 2).sort()).toEqual(['failure', 'success']);
  });
});

describe('support', () => {
  it('weakness 28: of an edit taken over word for word is the sum of its originals, whatever the model says', async () => {
    const patches = [
      patchOf(edit('same', 'failure', 3), edit('other', 'failure', 1)),
      patchOf(edit('same', 'failure', 5)),
    ];
    const { patch } = await merge(patches, () => reply([{ ...edit('same'), support_count: 99 }]));
    expect(patch.edits).toEqual([{ ...edit('same', 'failure', 8), mergeLevel: 1 }]);
  });

  it.each([
    [undefined, 1],
    [5, 5],
    [99, 9],
    [0, 1],
    ['6', 6],
  ])('weakness 28: of a reworded edit that claims %j is %i, never more than was read', async (claim, expected) => {
    const patches = [patchOf(edit('a', 'failure', 4)), patchOf(edit('b', 'failure', 5))];
    const { patch } = await merge(patches, () => reply([{ op: 'append', content: 'a and b', support_count: claim }]));
    expect(patch.edits[0]!.supportCount).toBe(expected);
  });

  it('weakness 28: does not grow when a merge says the same twice', async () => {
    const twice: Reply = () => reply([edit('a'), edit('a')]);
    const { patch } = await merge(failures('a', 'b', 'c'), twice);
    expect(patch.edits.map((one) => one.supportCount)).toEqual([4, 4]);
  });

  it('weakness 28: of several edits from one analyst is not added up', async () => {
    const patches = [patchOf(edit('a', 'failure', 4), edit('b', 'failure', 4)), patchOf(edit('c', 'failure', 4))];
    const { patch } = await merge(patches, () => reply([{ op: 'append', content: 'all', support_count: 12 }]));
    expect(patch.edits[0]!.supportCount).toBe(8);
  });

  it('and source survive the last merge', async () => {
    const patches = [patchOf(edit('a', 'failure', 3), edit('both', 'failure', 2)), patchOf(edit('both', 'success', 4))];
    const answer = () =>
      reply([
        { op: 'append', content: 'both', source_type: 'success' },
        { op: 'append', content: 'a' },
        { op: 'append', content: 'new', source_type: 'success', support_count: 2 },
        { op: 'append', content: 'newer' },
      ]);
    const { patch } = await merge(patches, answer);
    expect(patch.edits).toEqual([
      edit('both', 'failure', 6),
      edit('a', 'failure', 3),
      edit('new', 'success', 2),
      edit('newer', 'failure', 1),
    ]);
  });

  it('does not let a merge of failures pass for successes', async () => {
    const answer = () => reply([{ op: 'append', content: 'new', source_type: 'success' }]);
    const { patch } = await merge(failures('a', 'b'), answer);
    expect(patch.edits[0]!.sourceType).toBe('failure');
  });
});

describe('an optimizer that cannot be reached', () => {
  it('stops the run', async () => {
    const error = new ModelCallError('503', { status: 503 });
    await expect(merge(failures('a', 'b'), () => Promise.reject(error))).rejects.toBe(error);
  });

  it('for one group still lets the reply for the other arrive', async () => {
    let arrived = false;
    const answer: Reply = async (request) => {
      if (promptOf(request) === 'failure') throw new ModelCallError('503', { status: 503 });
      for (let wait = 0; wait < 3; wait++) await tick();
      arrived = true;
      return faithful(request);
    };
    await expect(merge([...failures('a', 'b'), ...successes('d', 'e')], answer)).rejects.toThrow('503');
    expect(arrived).toBe(true);
  });
});
