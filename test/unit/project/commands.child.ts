// Runs commands one after the other in a process without the loader of the tests. argv: a JSON list of { cwd, args }.
import { runCli } from '../../../src/cli/index.ts';
import { captureIo } from '../../support/capture-io.ts';

const commands = JSON.parse(process.argv[2] ?? '[]') as { readonly cwd: string; readonly args: string[] }[];
const results = [];
for (const { cwd, args } of commands) {
  const io = captureIo({ cwd, env: { PATH: process.env.PATH, HOME: cwd, NO_COLOR: '1' } });
  results.push({ code: await runCli(args, io), stdout: io.out(), stderr: io.err() });
}
process.stdout.write(JSON.stringify(results));
