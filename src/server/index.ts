// The public names of this room. Adding a line is adding API.

export { type AppOptions, createApp } from './app.ts';
export type { ReportedAttempts } from './report-data.ts';
export { type RunServer, type ServeOptions, serveRuns } from './serve-runs.ts';
export { type ReportOptions, type WrittenReport, writeComparison, writeReport } from './write-report.ts';
