// One rollout in a process of its own: ROOT SANDBOX SCRIPT [LIMITS as JSON]. Prints lines as they come, then the result and the diff.
import { openSandbox, openTemplate, openWorkspace, probeSandbox } from '../../../src/public/workspaces.ts';

const [root = '', name = '', script = '', limits = '{}'] = process.argv.slice(2);
const sandbox = openSandbox(name, { root });
const template = await openTemplate({ root, sandbox, files: { 'kept.txt': 'kept\n', 'folder/a.txt': 'a\n' } });
await using workspace = await openWorkspace({ root, sandbox, template });
const result = await sandbox.run({
  command: ['/bin/sh', '-c', script],
  workspace: workspace.view,
  timeoutMs: 60_000,
  limits: JSON.parse(limits),
  onLine: (line) => process.stdout.write(`${line}\n`),
});
const { limiter, workspaces } = await probeSandbox({ root });
process.stdout.write(`\n${JSON.stringify({ result, diff: await workspace.diff(), limiter, workspaces })}\n`);
