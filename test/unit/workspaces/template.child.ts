// Opens a template in a process of its own: argv is what `openTemplate` takes as JSON, with the name of the sandbox.
import { openSandbox, openTemplate } from '../../../src/public/workspaces.ts';

const { sandbox, ...asked } = JSON.parse(process.argv[2]!);
await openTemplate({ ...asked, sandbox: openSandbox(sandbox) });
