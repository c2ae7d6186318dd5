import { fromJsPattern, NotCarried } from '../../envs/index.ts';
import { Assertion } from '../workspace/assertion.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The parameters that each type has, in their words. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  output_contains: ['value'],
  output_not_contains: ['value'],
  output_matches: ['pattern'],
  output_not_matches: ['pattern'],
  file_exists: ['path'],
  file_not_exists: ['path'],
  file_contains: ['path', 'value'],
  file_not_contains: ['path', 'value'],
  exit_success: [],
};

/** An assertion of dotnet's skill-validator as ours, and the keys of it that say nothing here. Throws `NotCarried`. */
export function fromDotnet(written: unknown): { readonly assertion: Assertion; readonly unused: readonly string[] } {
  const { type, ...given } = (written ?? {}) as Fields;
  const parameters = typeof type === 'string' && Object.hasOwn(PARAMETERS, type) ? PARAMETERS[type]! : undefined;
  if (parameters === undefined)
    throw new NotCarried(
      type === 'run_command_and_assert' ? 'write it as verify of the task' : 'there is no such type',
    );
  const missing = parameters.find((name) => typeof given[name] !== 'string' || given[name] === '');
  if (missing !== undefined) throw new NotCarried(`it needs ${missing}, a text`);
  const unused = Object.keys(given).filter((name) => !parameters.includes(name));
  return { assertion: toAssertion(String(type), given as Record<string, string>), unused };
}

/** There, any last words are a success, also of an agent that a limit ended. */
const SAID_SOMETHING = { type: 'output_matches', value: '\\S' } as const;

function toAssertion(type: string, { value, pattern, path }: Record<string, string>): Assertion {
  if (type === 'exit_success') return SAID_SOMETHING;
  const isPattern = type === 'output_matches' || type === 'output_not_matches';
  const made = {
    type,
    ...(path === undefined ? {} : { path }),
    ...(isPattern ? { value: fromJsPattern(pattern!) } : value === undefined ? {} : { value }),
  };
  const read = Assertion.safeParse(made);
  if (read.success) return read.data;
  throw new NotCarried(read.error.issues[0]!.message);
}
