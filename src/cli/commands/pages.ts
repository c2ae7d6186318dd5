import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { InvalidArgumentError, Option } from 'commander';
import { noRun, onlyRun, runPath } from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { resolvePath } from '../../project/index.ts';
import { byteSize } from '../../report/index.ts';
import {
  type ReportedAttempts,
  type RunServer,
  type ServeOptions,
  serveRuns,
  writeReport,
} from '../../server/index.ts';
import { shownPath } from '../../stores/index.ts';
import { interruptible } from '../errors.ts';
import { jsonOption, positiveNumber, rootOption } from '../flags/flags.ts';
import { placeOfNights, runPlace } from '../night-runs.ts';
import { type DefineCommand, examples } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

type UiFlags = {
  readonly root?: string;
  readonly port?: number;
  readonly host: string;
  readonly open: boolean;
  readonly control?: boolean;
};

const USUAL_PORT = 4317;

export const defineUi: DefineCommand = (command, terminal) => {
  command
    .argument('[run]', 'name of a run or a night to begin with')
    .option('--root <dir>', 'folder of runs (default: runs, and the nights of this project)')
    .option('--port <n>', `port; 0 takes any free one (default: ${USUAL_PORT}, or the next that is free)`, readPort)
    .option('--host <address>', 'address; another than 127.0.0.1 lets others in who have the token', '127.0.0.1')
    .option('--no-open', 'open no browser')
    .option('--control', 'let the page stop runs and adopt proposals')
    .addOption(jsonOption())
    .addHelpText('after', UI_EXAMPLES)
    .action((run: string | undefined, flags: UiFlags) => showPages(run, flags, terminal));
};

const UI_EXAMPLES = examples([
  ['skillopt ui', 'the runs of this folder, in your browser, until Ctrl-C'],
  ['skillopt ui demo', 'begin with the run runs/demo'],
  ['skillopt ui --control', 'with buttons that stop a run and adopt a proposal'],
]);

function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('Expected a port, from 0 to 65535.');
}

async function showPages(run: string | undefined, flags: UiFlags, terminal: Terminal): Promise<void> {
  const { root = 'runs', host, control } = flags;
  const cwd = terminal.io.cwd();
  if (run !== undefined && runPath(...runPlace(run, root, terminal)) === undefined)
    throw await noRun(run, { cwd, root });
  const folder = resolvePath(cwd, root);
  if (flags.root !== undefined) requireFolder(folder, root);
  const nights = flags.root === undefined ? placeOfNights(terminal) : undefined;
  const server = await serveOnFreePort({ root: folder, host, control, nights }, flags.port);
  const urls = server.urls.map((url) => (run === undefined ? url : addressOf(url, run)));
  const [url] = urls as [string];
  if (!isLocal(host))
    terminal.warn(
      `every machine that reaches ${host === '0.0.0.0' || host === '::' ? 'this one' : host} over a network can open this page, unencrypted: who has its address sees all runs${control ? ', stops them and adopts proposals' : ''}`,
    );
  await interruptible({ io: terminal.io, onStop: () => {} }, async (signal) => {
    terminal.answer({ url, urls }, urls);
    terminal.say(`open ${urls.length === 1 ? 'this address' : 'one of these addresses'} in a browser; Ctrl-C ends it`);
    if (flags.open && terminal.canAsk) openBrowser(url);
    await once(signal, 'abort');
  });
  await server.close();
}

/** A typing error would show an empty list. The usual folder may be missing: the first run makes it. */
function requireFolder(path: string, shown: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  const hint = 'Name the folder that holds your runs, or leave --root out to see those in runs.';
  throw new SkillError('USAGE', `there is no folder ${shown}`, { hint });
}

type PagedRun = { readonly root: string; readonly run: string };

/** Serves the page of a run while it is worked on, and afterwards until Ctrl-C. */
export async function withPage({ root, run }: PagedRun, terminal: Terminal, work: () => Promise<void>): Promise<void> {
  await using server = await serveOnFreePort({ root, host: '127.0.0.1' }, undefined);
  terminal.say(`in a browser: ${addressOf(server.url, run)}`);
  await work();
  await interruptible({ io: terminal.io, onStop: () => {} }, async (signal) => {
    terminal.say('the page stays there; Ctrl-C ends it');
    await once(signal, 'abort');
  });
}

const addressOf = (url: string, run: string) => `${url}#/runs/${encodeURIComponent(run)}`;

/** Puts the report of a run beside it. It is not needed: where it cannot be written, a note says why. */
export async function writePage(path: string, terminal: Terminal): Promise<void> {
  const out = join(path, 'report.html');
  const written = writeReport(path, { out, attempts: 'failed', maxMb: 20 });
  await written.then(
    () => terminal.say(`in a browser: ${shownPath(out, terminal.io.cwd())}`),
    (error) => terminal.note(`there is no report.html: ${error.message}`),
  );
}

const isLocal = (host: string) => ['127.0.0.1', 'localhost', '::1'].includes(host);

const MOST_PORTS = 20;

/** A port that was named must be free; without one the next free one is taken. */
async function serveOnFreePort(options: ServeOptions, named: number | undefined): Promise<RunServer> {
  if (named !== undefined) return serveRuns({ ...options, port: named });
  for (let port = USUAL_PORT; ; port += 1) {
    try {
      return await serveRuns({ ...options, port });
    } catch (error) {
      const isTaken = error instanceof SkillError && (error.cause as { code?: string })?.code === 'EADDRINUSE';
      if (!isTaken || port >= USUAL_PORT + MOST_PORTS) throw error;
    }
  }
}

const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** Where there is none, the person opens the address that was printed. */
function openBrowser(address: string): void {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program!, [...args, address], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}

type ReportFlags = {
  readonly root: string;
  readonly out: string;
  readonly attempts: ReportedAttempts;
  readonly maxMb: number;
  readonly open?: boolean;
  readonly force?: boolean;
};

export const defineReport: DefineCommand = (command, terminal) => {
  const attempts = new Option('--attempts <which>', 'attempts that it holds').choices(['none', 'failed', 'all']);
  command
    .argument('[run]', 'name of a run or a night, or its path (default: the only run)')
    .addOption(rootOption())
    .option('--out <file>', 'file to write', 'report.html')
    .addOption(attempts.default('failed'))
    .option('--max-mb <n>', 'megabytes of data that it holds at most', positiveNumber, 20)
    .option('--open', 'open it in a browser')
    .option('--force', 'overwrite a file that is no report')
    .addOption(jsonOption())
    .addHelpText('after', REPORT_EXAMPLES)
    .action((run: string | undefined, flags: ReportFlags) => report(run, flags, terminal));
};

const REPORT_EXAMPLES = examples([
  ['skillopt report demo', 'write report.html: opens from disk, from a mail, as an artifact'],
  ['skillopt report demo --attempts none --out demo.html', 'without what was answered'],
]);

async function report(given: string | undefined, { root, out, open, ...limits }: ReportFlags, terminal: Terminal) {
  const cwd = terminal.io.cwd();
  const name = given ?? (await onlyRun({ cwd, root }));
  const path = runPath(...runPlace(name, root, terminal));
  if (path === undefined) throw await noRun(name, { cwd, root });
  const file = resolvePath(cwd, out);
  const { bytes, leftOut } = await writeReport(path, { out: file, ...limits });
  for (const note of leftOut) terminal.note(note);
  const shown = shownPath(file, cwd);
  terminal.answer({ run: name, out: shown, bytes, leftOut }, [`${shown}, ${byteSize(bytes)}`]);
  if (open) openBrowser(pathToFileURL(file).href);
}
