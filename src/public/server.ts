/** Runs as pages: an app that answers requests, a server for it, and reports in one file. Adding a line here is adding public API. */

export {
  type AppOptions,
  createApp,
  type ReportOptions,
  type RunServer,
  type ServeOptions,
  serveRuns,
  type WrittenReport,
  writeReport,
} from '../server/index.ts';
