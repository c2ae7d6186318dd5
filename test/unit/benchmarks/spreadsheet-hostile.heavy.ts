import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answerWith, DOUBLING, doublingFolder, fenced, open } from '../../support/benchmarks/spreadsheet-env.ts';
import { lacksPython, succeeds } from '../../support/benchmarks/system-python.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { lacksBubblewrap } from '../workspaces/kinds.ts';

const inPython = (code: string) => fenced('python', code);

describe.skipIf(lacksBubblewrap || lacksPython)('Python code in bubblewrap (runs where both are installed)', () => {
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
