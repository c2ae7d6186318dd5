/** Where commands run apart from the rest of the machine. */
export type { Sandbox, SandboxRequest, SandboxResult } from '../core/sandbox.ts';
export type { BubblewrapProbe } from './bubblewrap.ts';
export { openSandbox, probeSandbox, type SandboxProbe, sandboxes } from './sandboxes.ts';
