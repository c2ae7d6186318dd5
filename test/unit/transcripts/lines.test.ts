import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasString, type JsonObject } from '../../../src/transcripts/read/json.ts';
import { type LineFile, readRecords } from '../../../src/transcripts/read/lines.ts';
import { tempFolder } from '../../support/temp-folder.ts';

async function read(content: string | Buffer, options: Partial<LineFile> = {}, name = 'a.jsonl') {
  using folder = tempFolder();
  const path = join(folder.path, name);
  writeFileSync(path, content);
  const records: JsonObject[] = [];
  const outcome = await readRecords({ path, ...options }, (record) => records.push(record));
  return { ...outcome, records };
}

describe('lines', () => {
  it('gives every object of a file, in order', async () => {
    expect(await read('{"a":1}\n{"a":2}\n')).toEqual({ records: [{ a: 1 }, { a: 2 }], position: 16, trouble: {} });
  });

  it('passes over blank lines, carriage returns and a byte order mark', async () => {
    const { records, trouble } = await read('\uFEFF{"a":1}\r\n\r\n  \n{"a":2}\r\n');
    expect({ records, trouble }).toEqual({ records: [{ a: 1 }, { a: 2 }], trouble: {} });
  });

  it('12: one invalid byte does not end the night', async () => {
    const content = Buffer.concat([Buffer.from('{"a":"x'), Buffer.from([0xff]), Buffer.from('"}\n{"a":2}\n')]);
    const { records, trouble } = await read(content);
    expect(records).toEqual([{ a: 'x\uFFFD' }, { a: 2 }]);
    expect(trouble).toEqual({ 'invalid-utf8': 1 });
  });

  it('12: a line that is no object does not end the night', async () => {
    const { records, trouble } = await read('[1]\n"text"\n5\nnull\n{"a"\n{"a":1}\n');
    expect(records).toEqual([{ a: 1 }]);
    expect(trouble).toEqual({ malformed: 5 });
  });

  it('finds a record behind the zeros of a crash', async () => {
    const { records, trouble } = await read('\0\0\0\0{"a":1}\n\0\0\n{"a":2}\n');
    expect(records).toEqual([{ a: 1 }, { a: 2 }]);
    expect(trouble).toEqual({ malformed: 2 });
  });

  it('stays before a torn last line, and reads it when it is whole', async () => {
    using folder = tempFolder({ 'a.jsonl': '{"a":1}\n{"a":' });
    const path = join(folder.path, 'a.jsonl');
    const records: JsonObject[] = [];
    const first = await readRecords({ path }, (record) => records.push(record));
    expect(first).toEqual({ position: 8, trouble: { torn: 1 } });
    appendFileSync(path, '2}\n');
    const second = await readRecords({ path, from: first.position }, (record) => records.push(record));
    expect(second).toEqual({ position: 16, trouble: {} });
    expect(records).toEqual([{ a: 1 }, { a: 2 }]);
  });

  it('takes a last line without an end when it is a whole object', async () => {
    expect(await read('{"a":1}\n{"a":2}')).toMatchObject({ records: [{ a: 1 }, { a: 2 }], position: 15, trouble: {} });
  });

  it('drops a line over the limit, also one over many chunks, and reads the next', async () => {
    const huge = `{"a":"${'x'.repeat(3_000_000)}"}`;
    const { records, trouble } = await read(`{"a":1}\n${huge}\n{"a":2}\n`, { maxLineBytes: 1_000_000 });
    expect(records).toEqual([{ a: 1 }, { a: 2 }]);
    expect(trouble).toEqual({ 'too-long': 1 });
  });

  it('stays before a last line that is over the limit', async () => {
    const outcome = await read(`{"a":1}\n${'x'.repeat(100)}`, { maxLineBytes: 50 });
    expect(outcome).toMatchObject({ position: 8, trouble: { 'too-long': 1 } });
  });

  it('puts a line together that lies in several chunks', async () => {
    const record = { a: 'ü'.repeat(700_000) };
    expect((await read(`${JSON.stringify(record)}\n{"a":2}\n`)).records).toEqual([record, { a: 2 }]);
  });

  it('does not parse what is not wanted', async () => {
    const wanted = hasString('user');
    const content = '{"type":"user"}\n{"type":"tool", broken\n{"type":"tool","text":"say \\"user\\""}\n';
    expect(await read(content, { wanted })).toMatchObject({ records: [{ type: 'user' }], trouble: {} });
  });

  it('counts a file that is not there as unreadable', async () => {
    const outcome = await readRecords({ path: '/nowhere/at/all.jsonl', from: 7 }, () => {});
    expect(outcome).toEqual({ position: 7, trouble: { unreadable: 1 } });
  });

  it('counts a record that its reader cannot bear', async () => {
    using folder = tempFolder({ 'a.jsonl': '{"a":1}\n{"a":2}\n' });
    const seen: unknown[] = [];
    const outcome = await readRecords({ path: join(folder.path, 'a.jsonl') }, ({ a }) => {
      if (a === 1) throw new Error('odd');
      seen.push(a);
    });
    expect({ seen, trouble: outcome.trouble }).toEqual({ seen: [2], trouble: { malformed: 1 } });
  });

  it('throws when it is aborted, and nothing else', async () => {
    await expect(read('{"a":1}\n', { signal: AbortSignal.abort(new Error('stop')) })).rejects.toThrow('stop');
  });
});

describe('compressed lines', () => {
  it('are read like others', async () => {
    expect(await read(zst([raw('{"a":1}\n{"a":2}\n')]), {}, 'a.jsonl.zst')).toMatchObject({
      records: [{ a: 1 }, { a: 2 }],
      trouble: {},
    });
  });

  it('end at the limit when they grow over it', async () => {
    const bomb = zst([raw('{"a":1}\n'), ...Array.from({ length: 3_000 }, () => zeros(128 * 1024))]);
    expect(bomb.length).toBeLessThan(20_000);
    const outcome = await read(bomb, { maxBytes: 10_000_000 }, 'a.jsonl.zst');
    expect(outcome.records).toEqual([{ a: 1 }]);
    expect(outcome.trouble).toMatchObject({ 'too-large': 1 });
  });

  it('may not ask for an enormous window, in a later frame either', async () => {
    const enormous = zst([raw('{"a":2}\n')], (20 << 3) | 0); // 2^30 bytes
    expect((await read(enormous, {}, 'a.zst')).trouble).toEqual({ 'too-large': 1 });
    const second = await read(Buffer.concat([zst([raw('{"a":1}\n')]), enormous]), {}, 'a.zst');
    expect(second).toMatchObject({ records: [{ a: 1 }], trouble: { 'too-large': 1 } });
  });

  it('are unreadable when they are cut off or something else', async () => {
    const whole = zst([raw('{"a":1}\n'), raw('{"a":2}\n')]);
    expect((await read(whole.subarray(0, -4), {}, 'a.zst')).trouble).toMatchObject({ unreadable: 1 });
    expect((await read('{"a":1}\n', {}, 'a.zst')).trouble).toEqual({ unreadable: 1 });
    expect((await read('', {}, 'a.zst')).trouble).toEqual({});
  });
});

type Block = (isLast: boolean) => Buffer;

/** A frame of RFC 8878 with a window of 1 MB. */
function zst(blocks: readonly Block[], window = 10 << 3): Buffer {
  const parts = blocks.map((block, index) => block(index === blocks.length - 1));
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, window]), ...parts]);
}

const header = (type: number, size: number, isLast: boolean) => {
  const bytes = Buffer.alloc(3);
  bytes.writeUIntLE((size << 3) | (type << 1) | Number(isLast), 0, 3);
  return bytes;
};
const raw =
  (text: string): Block =>
  (isLast) =>
    Buffer.concat([header(0, text.length, isLast), Buffer.from(text)]);
const zeros =
  (size: number): Block =>
  (isLast) =>
    Buffer.concat([header(1, size, isLast), Buffer.from([0])]);
