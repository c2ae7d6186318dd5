/*
 * The JavaScript that people write into checks, `output.length > 300 && output.includes('x')`: expressions over the answer, constants in
 * front of them, and nothing else. It is read and walked through here, and never given to an engine. What is not known is refused
 * when it is read, so that no check means something else here than there.
 */
import { memoize } from '../../text/index.ts';
import { Threw, TooMuch } from './nodes.ts';
import { readJavaScript } from './read-javascript.ts';

type JavaScriptCheck = { readonly value: string; readonly vars?: Readonly<Record<string, unknown>> | undefined };

/** About a second. */
const MAX_STEPS = 20_000_000;

const read = memoize(readJavaScript, { maxEntries: 500 });

/** Throws for code that is more than an expression, or whose value is not always true or false. */
export const checkJavaScript = (source: string): void => void read(source);

/** Whether code says yes to an answer. `undefined`: that takes too long to know. */
export function holdsJavaScript(
  { value, vars = {} }: JavaScriptCheck,
  answer: string,
  not: boolean,
): boolean | undefined {
  const { statements, result } = read(value);
  const values = new Map<string, unknown>([
    ['output', answer],
    ['context', { vars }],
  ]);
  let left = MAX_STEPS;
  const spend = (steps: number) => {
    left -= steps + 1;
    if (left < 0) throw new TooMuch();
  };
  try {
    const scope = { values, spend };
    for (const { name, value: made } of statements) values.set(name, made.run(scope));
    return result.run(scope) === true;
  } catch (error) {
    if (error instanceof Threw) return not;
    if (error instanceof TooMuch) return undefined;
    throw error;
  }
}
