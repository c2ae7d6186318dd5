import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { writeReport } from 'skillopt/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import type { AttemptPage, ReportData, RunPage, StepPage, TasksPage } from '../../../src/core/page/index.ts';
import { captureIo } from '../../support/capture-io.ts';
import { buildPage } from '../../support/page/built-page.ts';
import { copyHostile, PAYLOADS } from '../../support/page/hostile-run.ts';
import { openPages, runsFolder, trainSimulated } from '../../support/page/served-runs.ts';

let folder: ReturnType<typeof runsFolder>;
let pages: ReturnType<typeof openPages>;
beforeAll(async () => {
  await buildPage();
  folder = runsFolder();
  await trainSimulated(join(folder.root, 'demo'));
  pages = openPages({ root: folder.root });
});
afterAll(() => folder[Symbol.dispose]());

const DATA = /<script type="application\/json" id="skillopt-data"( data-encoding="gzip")?>(.*?)<\/script>/s;

function dataIn(path: string): ReportData {
  const [, isZipped, text = ''] = DATA.exec(readFileSync(path, 'utf8'))!;
  return JSON.parse(isZipped ? gunzipSync(Buffer.from(text, 'base64')).toString() : text);
}

describe('a report', () => {
  it('holds what the server answers', async () => {
    const out = join(folder.root, 'report.html');
    await writeReport(join(folder.root, 'demo'), { out, attempts: 'all' });
    const data = dataIn(out);
    expect(data.leftOut).toEqual([]);
    expect(data.pages.demo).toEqual(await pages.json<RunPage>('/api/runs/demo'));
    expect(data.tasks.demo).toEqual(await pages.json<TasksPage>('/api/runs/demo/tasks'));
    expect(data.steps.demo![0]).toEqual(await pages.json<StepPage>('/api/runs/demo/steps/1'));
    const { row } = data.attempts.demo![0]!;
    const asked = `/api/runs/demo/attempts/${encodeURIComponent(row.file)}/${row.place}`;
    expect(data.attempts.demo![0]).toEqual(await pages.json<AttemptPage>(asked));
    expect(data.skills.demo!.length).toBe(data.pages.demo!.figures.versions.length);
    expect(data.events.demo!.total).toBe(data.pages.demo!.lines);
  });

  it('names no other file and no address: everything is in it, under a policy of its own', async () => {
    const out = join(folder.root, 'alone.html');
    const { bytes } = await writeReport(join(folder.root, 'demo'), { out });
    const html = readFileSync(out, 'utf8');
    expect(bytes).toBeLessThan(600_000);
    expect(html.replace(DATA, '').replaceAll(/<(style|script)\b.*?<\/\1>/gs, '')).not.toMatch(
      /\s(src|href)="(?!data:)/,
    );
    expect(html).toMatch(/http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-/);
    expect(html).not.toContain('unsafe');
  });

  it('holds failed attempts, as many as fit, and says how many are left out', async () => {
    const out = join(folder.root, 'small.html');
    const run = join(folder.root, 'demo');
    await writeReport(run, { out });
    const failed = dataIn(out).attempts.demo!;
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.every(({ row }) => row.hard < 1 || row.errored)).toBe(true);
    const { leftOut } = await writeReport(run, { out, maxMb: 0.06 });
    const kept = dataIn(out).attempts.demo!.length;
    expect(kept).toBeLessThan(failed.length);
    expect(leftOut).toContain(
      `${failed.length - kept} attempts of ${failed.length} are left out: the report would be too large.`,
    );
    await writeReport(run, { out, attempts: 'none' });
    expect(dataIn(out).attempts.demo).toEqual([]);
  });

  it('holds no secret, and no path of this machine', async () => {
    const file = join(folder.root, 'demo/steps/step_0001/rollout_results.json');
    const before = readFileSync(file, 'utf8');
    const secret = 'sk-proj-Q7f2kLm9XcVb3NzR8tYw5HjD1sGpA4uE6iOo0BnMqWeRtYuI';
    writeFileSync(file, before.replaceAll('"question": "', `"question": "${secret} in ${folder.root}/x `));
    const out = join(folder.root, 'clean.html');
    await writeReport(join(folder.root, 'demo'), { out, attempts: 'all' });
    writeFileSync(file, before);
    const html = readFileSync(out, 'utf8');
    expect(html).not.toContain(secret);
    expect(html).not.toContain(folder.root);
    expect(html).toContain('[secret] in …/x');
  });

  it('keeps hostile texts as data, whatever they say', async () => {
    expect(new Set(PAYLOADS).size).toBeGreaterThanOrEqual(100);
    const out = join(folder.root, 'hostile.html');
    await copyHostile(join(folder.root, 'demo'), join(folder.root, 'hostile'));
    await writeReport(join(folder.root, 'hostile'), { out, attempts: 'all' });
    const text = DATA.exec(readFileSync(out, 'utf8'))![2]!;
    expect(text).not.toMatch(/[<\u2028\u2029]/);
    const held = JSON.stringify(dataIn(out));
    expect(PAYLOADS.filter((payload) => held.includes(JSON.stringify(payload).slice(1, -1))).length).toBeGreaterThan(
      30,
    );
    for (const path of ['', '/tasks', '/steps/1', '/attempts', '/events']) {
      const answer = await pages.get(`/api/runs/hostile${path}`, { accept: 'text/html' });
      expect([path, answer.status]).toEqual([path, 200]);
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    }
    for (const payload of PAYLOADS) {
      const answer = await pages.get(`/api/runs/${encodeURIComponent(payload)}`, { accept: 'text/html' });
      expect(answer.headers.get('content-type')).not.toContain('html');
    }
  });
});

describe('skillopt report', () => {
  it('writes the file and says how large it is; a run that is not there is named', async () => {
    const io = captureIo({ cwd: folder.root });
    expect(await runCli(['report', 'demo', '--root', '.', '--out', 'by-name.html', '--json'], io)).toBe(0);
    expect(JSON.parse(io.out())).toMatchObject({ run: 'demo', out: 'by-name.html', leftOut: [] });
    expect(dataIn(join(folder.root, 'by-name.html')).pages.demo!.name).toBe('demo');
    const missing = captureIo({ cwd: folder.root });
    expect(await runCli(['report', 'dmeo', '--root', '.'], missing)).toBe(2);
    expect(missing.err()).toContain('demo');
  });

  it('overwrites an earlier report and an empty file, and no other file unless it is forced', async () => {
    const [out, own] = [join(folder.root, 'SKILL.md'), join(folder.root, 'again.html')];
    const report = async (...flags: string[]) => {
      const io = captureIo({ cwd: folder.root });
      return { code: await runCli(['report', 'demo', '--root', '.', ...flags], io), err: io.err() };
    };
    writeFileSync(out, '# My skill\n');
    const refused = await report('--out', 'SKILL.md');
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('SKILL.md is there already, and is no report of skillopt');
    expect(refused.err).toContain('Name another file, or overwrite it: --force');
    expect(readFileSync(out, 'utf8')).toBe('# My skill\n');
    expect((await report('--out', 'SKILL.md', '--force')).code).toBe(0);
    writeFileSync(own, '');
    for (let count = 0; count < 2; count += 1) expect((await report('--out', 'again.html')).code).toBe(0);
    expect(dataIn(own).pages.demo!.name).toBe('demo');
  });
});
