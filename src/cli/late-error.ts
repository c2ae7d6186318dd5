import { SkillError } from '../core/contracts/index.ts';
import { Interrupted } from './interrupt.ts';

/** Where this program's own code is: `src` in a clone, `dist` in the package. */
const OURS = new URL('../', import.meta.url).href;

/**
 * What nobody has caught, as what it is. Code of a user that throws in a timer or an event listener reaches no rollout: then
 * the first line of the stack that is neither Node's nor a library's is not ours.
 */
export function lateError(error: unknown): unknown {
  if (error instanceof SkillError || error instanceof Interrupted) return error;
  if (!(error instanceof Error)) return thrownOutside(String(error), '', error); // we throw nothing else
  const [frame] = framesOf(error).filter(({ file }) => !isLibrary(file));
  if (!frame || frame.file.startsWith(OURS)) return error;
  return thrownOutside(error.message, ` (${frame.file.replace(/^file:\/\//, '')}:${frame.line})`, error);
}

const isLibrary = (file: string) => !file.startsWith(OURS) && file.includes('/node_modules/');

/** Those in files. */
function framesOf({ stack = '' }: Error): { file: string; line: string }[] {
  return stack.split('\n').flatMap((text) => {
    const place = /:(\d+):\d+\)?$/.exec(text);
    if (place === null || !text.trimStart().startsWith('at ')) return [];
    const path = pathIn(text.slice(0, place.index));
    return path === undefined ? [] : [{ file: path, line: place[1]! }];
  });
}

/** `at name (file:///a/b.js` or `at async /a/b.js`, as an address of a file. */
function pathIn(frame: string): string | undefined {
  const opened = frame.lastIndexOf('(');
  const path = opened === -1 ? frame.trimStart().replace(/^at (?:async )?/, '') : frame.slice(opened + 1);
  if (path.startsWith('file://')) return path;
  return path.startsWith('/') ? `file://${path}` : undefined;
}

function thrownOutside(message: string, where: string, cause: unknown): SkillError {
  const hint =
    'Catch it there: what a timer or an event listener throws reaches no rollout. Then run the same command again: it continues.';
  return new SkillError('ENV_FAILED', `the environment threw outside of rolloutOne${where}: ${message}`, {
    cause,
    hint,
  });
}
