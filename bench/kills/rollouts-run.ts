// Removes what an earlier process left behind, says so, then does rollouts, several at a time, until it is killed.
import { openSandbox, openTemplate, openWorkspace, removeStale } from '../../src/public/workspaces.ts';

const [root = '', kind = 'none', mark = '', many = '0'] = process.argv.slice(2);
await removeStale(root);
console.log('clean');

/** Processes that leave their group and their parent, and one that stays. */
const script = `setsid sleep ${mark} & (setsid sh -c 'sleep ${mark} & sleep ${mark}' &) ; echo begun > out; sleep 0.$((RANDOM_DIGIT))`;
const limits = { processes: 64, memoryMb: 512, diskMb: 64 };

async function doRollouts(lane: number): Promise<void> {
  const sandbox = openSandbox(kind, { root });
  const template = await openTemplate({ root, sandbox, files: { 'a.txt': 'a\n', 'b/c.txt': 'c\n' } });
  for (let turn = 0; turn < Number(many); turn++) {
    await using workspace = await openWorkspace({ root, sandbox, template });
    const command = ['/bin/sh', '-c', script.replace('$((RANDOM_DIGIT))', String((lane * 3 + turn) % 10))];
    const timeoutMs = turn % 3 === 2 ? 50 : 10_000;
    await sandbox.run({ command, workspace: workspace.view, timeoutMs, limits });
    await workspace.diff();
    console.log('rollout');
  }
}

await Promise.all([0, 1, 2, 3].map(doRollouts));
