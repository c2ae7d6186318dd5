/**
 * Functions of doors that take text and are not called with what is made up for them, with the reason. The names are those of
 * `findTextFunctions`; a test fails when one is missing here, or is not there any more.
 */
export const NOT_CALLED: Readonly<Record<string, string>> = {};

/** Functions for texts that cannot be long, with the bytes that they may have. */
const PATH = 4_096;
export const SHORTER: Readonly<Record<string, number>> = {
  'agents: detectAgents': PATH,
  'agents: findAgents': PATH,
  'agents: isForeign': PATH,
  'agents: locate': PATH,
  'agents: projectFolders': PATH,
  'agents: requireInstalled': PATH,
  'app: findRun': PATH,
  'app: listNightRuns': PATH,
  'app: nightPath': PATH,
  'app: runPath': PATH,
};
