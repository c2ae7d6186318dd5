import { execFileSync } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answerWith, DOUBLING, doublingFolder, fenced, loadConfig } from '../../support/benchmarks/spreadsheet-env.ts';
import { isMissing } from '../../support/machine.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { lacksBubblewrap } from '../workspaces/kinds.ts';

const PYTHON = '/usr/bin/python3';
const succeeds = (args: readonly string[]): boolean => {
  try {
    execFileSync(PYTHON, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};
const lacksPython = isMissing('openpyxl', succeeds(['-c', 'import openpyxl']));

const inPython = (code: string) => fenced('python', code);
const open = (path: string) => loadConfig(join(path, 'skillopt.config.json'));

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

  it('runs in a virtual environment', async () => {
    using folder = tempFolder();
    const venv = join(folder.path, 'venv');
    if (!succeeds(['-m', 'venv', '--without-pip', '--system-site-packages', venv])) throw new Error('no venv');
    using doubling = doublingFolder({ extras: { python: join(venv, 'bin/python') } });
    await (await open(doubling.path)).setup!({} as never);
    const code = `import sys\nassert sys.prefix == ${JSON.stringify(venv)}, sys.prefix\n${DOUBLING.python}`;
    expect(await answerWith(doubling.path, inPython(code))).toMatchObject({ hard: 1 });
  });

  it('cannot read files of the user, reach this machine, or stay', async () => {
    using secret = tempFolder({ '.ssh/id': 'a key' });
    const server = createServer((socket) => socket.end('reached')).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    using folder = doublingFolder({ extras: { mode: 'single' } });
    const failure = async (code: string) => (await answerWith(folder.path, inPython(code))).failReason;
    const reading = `${DOUBLING.python}\nprint(open(${JSON.stringify(join(secret.path, '.ssh/id'))}).read())`;
    expect(await failure(reading)).toMatch(/exit code 1: FileNotFoundError/);
    expect(await failure(`import os\nprint(os.listdir(os.path.expanduser("~/.ssh")))`)).toMatch(/FileNotFoundError/);
    const calling = `import socket\nsocket.create_connection(("127.0.0.1", ${port}), timeout=5)`;
    expect(await failure(calling)).toMatch(/ConnectionRefusedError/);
    server.close();
    const staying = `import subprocess\nsubprocess.Popen(["sleep", "1000"])\n${DOUBLING.python}`;
    expect(await failure(staying)).toBeUndefined();
  });

  it('is stopped when it writes or starts too much', async () => {
    using folder = doublingFolder({ extras: { mode: 'single' } });
    const failure = async (code: string) => (await answerWith(folder.path, inPython(code))).failReason;
    const filling = 'with open("big", "wb") as file:\n    while True:\n        file.write(bytes(1_000_000))';
    expect(await failure(filling)).toMatch(/used too much \(more than 256 MB on disk\)|File too large|No space/);
    const forking = 'import os\nwhile True:\n    os.fork()';
    expect(await failure(forking)).toMatch(/used too much \(more than 128 processes\)|BlockingIOError/);
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
