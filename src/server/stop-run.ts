import { type RunListing, runOwner } from '../stores/index.ts';
import { Refusal } from './failure.ts';

/** Stops runs as Ctrl-C does. A second Ctrl-C would end a process at once, so each one is asked once. */
export function runStopper() {
  const asked = new Set<string>();
  return async ({ name, path }: RunListing): Promise<{ message: string }> => {
    const owner = await runOwner(path);
    if (!owner) {
      const hint = 'If it runs on another machine, stop it there.';
      throw new Refusal(409, `no process of this machine works on ${name}`, hint);
    }
    const { pid, startedAt } = owner;
    if (asked.has(`${pid} ${startedAt}`))
      throw new Refusal(409, `${name} was asked to stop already`, 'It ends after the calls in flight.');
    asked.add(`${pid} ${startedAt}`);
    process.kill(pid, 'SIGINT');
    return { message: `${name} stops after the calls in flight` };
  };
}
