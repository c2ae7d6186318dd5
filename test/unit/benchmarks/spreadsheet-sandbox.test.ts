import { describe, expect, it } from 'vitest';
import { answerWith, DOUBLING, doublingFolder, fenced, open } from '../../support/benchmarks/spreadsheet-env.ts';
import { lacksPython, PYTHON } from '../../support/benchmarks/system-python.ts';
import { lacksBubblewrap } from '../workspaces/kinds.ts';

const inPython = (code: string) => fenced('python', code);

describe.skipIf(lacksBubblewrap || lacksPython)('Python code in bubblewrap (runs where both are installed)', () => {
  it('reads and writes workbooks, after an error too', async () => {
    using folder = doublingFolder({ extras: { python: PYTHON } });
    const env = await open(folder.path);
    await env.setup!({} as never);
    expect(env.warnings!.join()).not.toMatch(/sandbox|compare/);
    const broken = DOUBLING.python.replace('book.active["A1"]', 'book["Sheet9"]["A1"]');
    const { requests, ...result } = await answerWith(folder.path, inPython(broken), inPython(DOUBLING.python));
    expect(result).toMatchObject({ hard: 1, soft: 1, nTurns: 2 });
    const said = requests[1]!.messages.at(-1)!.content;
    expect(said).toMatch(/File "solution.py", line 4, in <module>.*KeyError: 'Worksheet Sheet9 does not exist.'/s);
  });

  it('is told that formulas without values read as empty', async () => {
    using folder = doublingFolder({ extras: { mode: 'single' } });
    const code = DOUBLING.python.replace('book.active["A1"].value * 2', '"=A1*2"');
    const { failReason } = await answerWith(folder.path, inPython(code));
    expect(failReason).toContain('expected 42, got nothing (1 formula without a value: read as empty)');
  });
});

describe.skipIf(lacksPython)('Python code without a sandbox (runs where openpyxl is installed)', () => {
  it('runs, since somebody wrote so', async () => {
    using folder = doublingFolder({ sandbox: 'none', extras: { python: PYTHON } });
    expect(await answerWith(folder.path, inPython(DOUBLING.python))).toMatchObject({ hard: 1, soft: 1 });
  });
});

it('a sandbox that cannot start is no score', async () => {
  using folder = doublingFolder({ extras: { language: 'javascript' } });
  const path = process.env.PATH;
  process.env.PATH = folder.path; // where bubblewrap is not
  try {
    const answer = answerWith(folder.path, fenced('javascript', DOUBLING.javascript));
    await expect(answer).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
  } finally {
    process.env.PATH = path;
  }
});
