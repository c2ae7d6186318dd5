import type { Endpoint } from './endpoint.ts';

/** Whose call failed. */
export type FailedCall = { readonly model: string; readonly endpoint: Endpoint };

/** How messages name the far side. */
export function describeCall({ model, endpoint }: FailedCall): string {
  return `${model} at ${endpoint.name}`;
}

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
