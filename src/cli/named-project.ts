import { shellWord } from '../core/text/index.ts';

/** The project file that the arguments name. Help is about no project. */
export function configIn(argv: readonly string[]): string | undefined {
  if (argv[0] === 'help' || argv.some((word) => word === '--help' || word === '-h')) return undefined;
  const at = argv.findIndex((word) => word === '--config' || word.startsWith('--config='));
  return at === -1 ? undefined : (argv[at]!.split(/=(.*)/s)[1] ?? argv[at + 1]);
}

/** Commands of ours that read a project file. */
const ABOUT_PROJECT =
  /(?<![\w/.@-])(skillopt (?:train|eval|estimate|doctor|calibrate|compare|tasks (?:draft|check|review)))(?![\w-])(?!.*--config)/g;

/**
 * A text whose commands name the project file that is meant: the one that was typed, or with which a run was begun. Without one
 * they find it by themselves.
 */
export const nameProject = (text: string, file: string | undefined): string =>
  file ? text.replace(ABOUT_PROJECT, (command) => `${command} --config ${shellWord(file)}`) : text;
