import type { Endpoint } from '../http/endpoint.ts';

/** Whose call failed, as far as messages and hints speak of it. */
export type FailedCall = {
  /** How messages name the far side. */
  readonly who: string;
  /** Must not appear in any message. */
  readonly secrets: readonly string[];
  /** Where the call went. Not known of a model that came ready made. */
  readonly endpoint?: Endpoint | undefined;
  /** What is added to the base URL of `endpoint`. */
  readonly path?: string | undefined;
  /** The variable that the key came from. */
  readonly apiKeyVariable?: string | undefined;
};

/** The parts of the SDK's errors that are looked at. The request, with the whole prompt in it, is not one of them. */
export type SdkError = {
  readonly name?: string;
  readonly message?: string;
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly statusCode?: number;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly responseBody?: string;
  readonly isRetryable?: boolean;
};
