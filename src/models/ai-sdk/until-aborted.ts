import { onAbort } from '../on-abort.ts';

/** What `promise` becomes, or a rejection with the signal's reason as soon as it aborts, whatever `promise` does then. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, reject);
    // Not `finally`: two promises more for each call.
    promise.then(
      (value) => {
        stopListening();
        resolve(value);
      },
      (error) => {
        stopListening();
        reject(error);
      },
    );
  });
}
