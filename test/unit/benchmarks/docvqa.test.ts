import { createHash } from 'node:crypto';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scripted } from 'skillopt/models';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { docvqa } from '../../../src/benchmarks/docvqa/docvqa.ts';
import type { BenchmarkEnv } from '../../../src/benchmarks/index.ts';
import { loadEnv, loadProject } from '../../../src/project/index.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const DEMO = 'examples/benchmarks/docvqa';
const YAML = 'test/fixtures/skillopt-configs/docvqa/default.yaml';
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

type Item = z.output<typeof docvqa.item>;

describe('the twelve questions of our own', () => {
  const demo = (flags = {}, config = `${DEMO}/skillopt.config.yaml`) => load({ flags, config, cwd: '.' });
  const load = async (source: Parameters<typeof loadProject>[0]) => {
    const env = (await loadEnv(await loadProject(source))) as unknown as BenchmarkEnv<Item>;
    const items = await Promise.all(['train', 'val', 'test'].map((split) => env.getItems(split)));
    return { env, items: items.flat() };
  };

  const attempt = (env: BenchmarkEnv<Item>, item: Item, reply: string) => {
    const target = scripted('test', () => reply);
    const context = { item, skill: 'Read twice.', target, extras: {}, signal: new AbortController().signal };
    return env.rolloutOne(context).then((output) => ({ output, request: target.requests[0]! }));
  };

  it('score 1 where they are answered, and 0 where they are not', async () => {
    const { env, items } = await demo();
    expect(items).toHaveLength(12);
    expect([env.needsImages, env.warnings, env.card!.rule]).toEqual([
      true,
      [],
      'ANLS of at least 0.999 (hard), ANLS (soft)',
    ]);
    expect(await env.tryScoring!()).toEqual({
      detail: 'the right answer scores 1 on 3 items',
      passesAll: false,
    });
    for (const item of items) {
      const right = await attempt(env, item, `I looked.\n<answer>${item.answers.at(-1)!.toUpperCase()}</answer>`);
      expect(right.output).toMatchObject({ hard: 1, soft: 1, question: item.question });
      expect(right.output.failReason).toBeUndefined();
      const wrong = await attempt(env, item, '<answer></answer>');
      expect(wrong.output).toMatchObject({
        hard: 0,
        soft: 0,
        failReason: expect.stringContaining('got "", ANLS 0.00'),
      });
      expect(await env.probe(item)).toEqual({ right: 1, nothing: 0 });
    }
  });

  it('are asked with their page, and analysts read of it', async () => {
    const { env, items } = await demo();
    const { request, output } = await attempt(env, items[2]!, '<answer>$13.2</answer>');
    const [system, user] = request.messages;
    expect(system!.content).toMatch(/<answer><\/answer>.*# Skill\n\nRead twice\.$/s);
    expect(user!.content).toBe('What is the total on the receipt?');
    expect(user!.images).toEqual([{ mediaType: 'image/png', base64: expect.any(String) }]);
    expect(sha256(Buffer.from(user!.images![0]!.base64, 'base64'))).toBe(items[2]!.imageSha256);
    expect(request.maxOutputTokens).toBe(16_384);
    expect(output).toMatchObject({ hard: 0, soft: 1 - 1 / 6, predictedAnswer: '$13.2' });
    expect(output.failReason).toBe('expected "$13.20" or "13.20", got "$13.2", ANLS 0.83');
    expect(output.conversation).toEqual([
      { role: 'user', content: 'What is the total on the receipt?\n\n[the page as an image: images/receipt.png]' },
      { role: 'assistant', content: '<answer>$13.2</answer>' },
    ]);
  });

  it('are read under the settings of SkillOpt, from a copy whose images must stay as they are', async () => {
    using folder = tempFolder();
    cpSync(DEMO, folder.path, { recursive: true });
    const { env, items } = await demo({ splitDir: folder.path }, YAML);
    expect(items).toHaveLength(12);
    expect(env.version).toMatch(/^1, image detail auto, output 16384, prompt /);
    const detailed = await demo({
      splitDir: folder.path,
      extras: { image_detail: ' High ', max_completion_tokens: '99', max_turns: 'x', image_dpi: [] },
    });
    const { request } = await attempt(detailed.env, items[0]!, '');
    expect(request).toMatchObject({ maxOutputTokens: 99, messages: [{}, { images: [{ detail: 'high' }] }] });
    cpSync(join(DEMO, 'images/form.png'), join(folder.path, items[0]!.image));
    await expect(attempt(env, items[0]!, '')).rejects.toThrow(
      'docvqa: item memo-sender: the image images/memo.png has changed since the items were read',
    );
    await expect(demo({ extras: { image_detail: 'huge' } })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
  });

  it('warn of documents and pages that splits share, and keep them together when they are drawn', async () => {
    using folder = tempFolder();
    cpSync(DEMO, folder.path, { recursive: true });
    const rows = (split: string) => JSON.parse(readFileSync(join(folder.path, split, 'items.json'), 'utf8')) as Item[];
    const leaking = rows('test').map((item, index) => (index === 0 ? { ...rows('train')[0]!, id: item.id } : item));
    writeFileSync(join(folder.path, 'test/items.json'), JSON.stringify(leaking));
    const { env } = await demo({ splitDir: folder.path });
    expect(env.warnings).toEqual([
      '1 of 4 test items ask what is asked in train',
      '1 of 4 test items share a document with an item in train',
      '1 of 4 test items share a page with an item in train',
    ]);
    const all = ['train', 'val', 'test'].flatMap((split) =>
      JSON.parse(readFileSync(join(DEMO, split, 'items.json'), 'utf8')),
    );
    // Where nobody says which document a page is of, its image does.
    writeFileSync(join(folder.path, 'all.json'), JSON.stringify(all.map(({ page, document, ...item }) => item)));
    const dataPath = join(folder.path, 'all.json');
    const flags = { env: 'docvqa', dataPath, splitMode: 'ratio', splitRatio: '1:1:1' };
    const drawn = await load({ flags, cwd: folder.path });
    const imagesOf = async (split: string) => new Set((await drawn.env.getItems(split)).map(({ image }) => image)).size;
    expect(await Promise.all(['train', 'val', 'test'].map(imagesOf))).toEqual([2, 2, 2]);
  });
});
