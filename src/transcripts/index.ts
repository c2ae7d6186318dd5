export { homePath } from './read/list-files.ts';
export { type RedactorPlace, redactor } from './redactor.ts';
export { chooseSources, findSource, foundSources, transcriptSources } from './sources.ts';
export {
  keptPath,
  type LeftOut,
  type Place,
  type ReadOptions,
  type ReadSoFar,
  type Redact,
  SessionDigest,
  type TranscriptFile,
  type TranscriptSource,
  type Trouble,
} from './transcript-source.ts';
