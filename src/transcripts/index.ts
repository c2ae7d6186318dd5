export { keptPath, type Redact } from './kept-text.ts';
export { homePath } from './read/list-files.ts';
export { type RedactorPlace, redactor } from './redact/redactor.ts';
export { type LeftOut, SessionDigest } from './session-digest.ts';
export { chooseSources, findSource, foundSources, transcriptSources } from './sources.ts';
export type { Place, ReadOptions, ReadSoFar, TranscriptFile, TranscriptSource, Trouble } from './transcript-source.ts';
