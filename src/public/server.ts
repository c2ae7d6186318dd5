/** Runs as pages: an app that answers requests, and a server for it. Adding a line here is adding public API. */

export { type AppOptions, createApp, type RunServer, type ServeOptions, serveRuns } from '../server/index.ts';
