/**
 * Functions of doors that take text and are not called with what is made up for them, with the reason. The names are those of
 * `findTextFunctions`; a test fails when one is missing here, or is not there any more.
 */
export const NOT_CALLED: Readonly<Record<string, string>> = {
  'app: findJobProblems': 'reads the jobs of this machine',
  'core/contracts: asBegun': 'takes the settings of a journal, which parseConfig has read',
  'core/run: editSupport': 'takes the index of an edit that is there',
  'envs: BaseDataLoader().getItems': 'calls what a subclass writes',
  'envs: EnvAdapter().buildEnvFromBatch': 'calls what a subclass writes',
  'envs: SimpleQAEnv().getItems': 'needs tasks with answers',
  'envs: SimpleQAEnv().rolloutOne': 'needs tasks with answers; scoreAnswer reads the reply',
  'imports: parseRows': 'takes a schema',
  'imports: requireOwnRows': 'takes rows that are objects; readJson and readJsonl make them',
  'pipeline: mergeByGroup': 'takes a function; mergePatches gives it the same texts',
  'mcp: serveMcp': 'takes streams; its tests send malformed and hostile messages',
  'models: anthropicChat().complete': 'asks a server',
  'models: azureChat().complete': 'asks a server',
  'models: googleChat().complete': 'asks a server',
  'models: minimaxChat().complete': 'asks a server',
  'models: openaiChat().complete': 'asks a server',
  'models: openaiCompatible().complete': 'asks a server',
  'models: qwenChat().complete': 'asks a server',
  'models: linkedSignal().abort': 'takes signals',
  'models: withBudget().complete': 'needs a price',
  'pipeline: runMinibatchReflect': 'takes the replies of a model; extractJson and repairJson read them',
  'report: compareLines': 'takes figures with intervals; layout is measured by textWidth and clip',
  'report: compareMarkdown': 'takes figures with intervals; inMarkdown reads its texts',
  'report: compareValue': 'takes figures with intervals, and reads no text',
  'report: compareWords': 'takes figures with intervals; oneLine reads its texts',
  'runners: qaInWorkspace().rolloutOne': 'runs an agent',
  'server: writeComparison': 'takes figures with intervals, and writes a file',
  'sleep: findWork': 'opens a sandbox and an agent',
  'sleep: updateIndex': 'reads transcripts of this machine; sources are measured by the row harvest',
  'stores: readStatement': 'takes an open database',
  'stores: readVersion': 'takes an open database',
  'tasks: draftTasks': 'takes the replies of a model; extractJson reads them',
  'transcripts: findSource().list': 'a source has a fixed name',
  'transcripts: findSource().read': 'a source has a fixed name',
  'transcripts: findSource().roots': 'a source has a fixed name',
  'workspaces: openSandbox().run': 'starts a process',
  'workspaces: projectFiles': 'asks git',
  'workspaces: sandboxes.container().run': 'starts a process',
};

/** Systems allow no longer path. */
const PATH = 4_096;

/** Functions that take paths: they walk up the folders, one by one. */
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
  'project: cautionsFor': PATH,
  'project: discover': PATH,
  'project: namedProgram': PATH,
  'project: pinnedProgram': PATH,
  'project: readPins': PATH,
  'sleep: findMemory': PATH,
  'sleep: scopeTest': PATH,
  'transcripts: foundSources': PATH,
};
